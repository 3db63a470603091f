"""Classes of models: one name in every language, which no platform has already."""

import re

from tests.cases.class_names import missing, single_words
from tests.toolchain import node


def test_every_short_name_of_browsers_and_of_react_native_is_left_to_them() -> None:
    [dom] = node.project("typescript").rglob("lib.dom.d.ts")
    native = node.project("react_native") / "node_modules" / "react-native" / "index.js"
    names = re.findall(r"^(?:interface|declare var) (\w+)", dom.read_text(encoding="utf-8"), re.MULTILINE)
    names += re.findall(r"get (\w+)\(\)", native.read_text(encoding="utf-8"))
    found = single_words(names)
    assert {"Image", "Node", "Pressable"} <= found
    assert missing(found) == set()
