"""Classes of models: one name in every language, which no platform has already."""

import re

from tests.cases.class_names import missing, single_words
from tests.toolchain import dart, flutter_tester


def test_every_short_name_of_flutter_and_of_dart_is_left_to_them() -> None:
    packages = flutter_tester.flutter_tester().folder / "root/usr/share/dart/packages"
    folders = [packages / "flutter/lib/src", dart.dart().root / dart.SKY_ENGINE.lstrip("/") / "lib" / "ui"]
    text = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.dart")))
    kinds = r"^(?:abstract |base |final |sealed |interface )*(?:class|enum|mixin|typedef) (\w+)"
    names = single_words(re.findall(kinds, text, re.MULTILINE))
    assert {"Text", "Scaffold", "Picture"} <= names
    assert missing(names) == set()
