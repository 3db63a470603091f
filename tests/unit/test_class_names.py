"""Classes of models: one name in every language, which no platform has already."""

import re

import pytest

from packager.core.class_names import BESIDE, RESERVED, clash, class_name, renamings, types_of_model
from packager.core.names import pascal_case
from tests.golden.cases import CONTRACTS, OF_PAGES
from tests.golden.stored import read

NAMES_THAT_APPS_HAVE = (
    "text image list view button color map set date data error result task object string array function promise widget "
    "container row column icon form card table page scaffold stack tab menu label picker toggle slider link path shape "
    "circle rectangle group section event node element document window response request state effect any type self "
    "encoder decoder sequence class package vision speech"
).split()

DECLARED = {
    "android": r"public class (\w+) (?:private )?(?:internal )?constructor",
    "ios": r"public (?:final class|actor) (\w+)",
    "react_native": r"export const (\w+): \w+Tensors",
    "web": r"export declare const (\w+): \w+Tensors",
    "flutter": r"^final class (\w+) extends TypedModel",
}
"""folder of a golden package -> what declares the class of a model in it"""


def test_a_name_that_apps_have_is_left_to_the_platform_and_others_stay() -> None:
    for model in NAMES_THAT_APPS_HAVE:
        own = pascal_case(model)
        assert class_name(model).removeprefix(own) in ("Model", "ModelModel")
        [line] = renamings([model])
        assert line.startswith(f"model {model}: class {class_name(model)}, since ")
    for model in ["classifier", "detector", "segmenter", "mobile-net_v2", "model", "net", "yolo11n"]:
        assert class_name(model) == pascal_case(model)
        assert renamings([model]) == []
    assert renamings(["net", "text", "vision", "tuning"]) == [
        "model text: class TextModel, since Text is a name of Compose, SwiftUI, the browser, React Native and Flutter",
        "model vision: class VisionModel, since Vision is a name of Apple's frameworks",
        "model tuning: class TuningModel, since Tuning is a name of the generated code",
    ]


def test_no_type_of_a_class_has_a_name_of_a_platform() -> None:
    # `View` gives way, and so does `ViewModel`, which Android has.
    for model in (*NAMES_THAT_APPS_HAVE, "plain"):
        assert [each for each in BESIDE if f"{class_name(model)}{each}".lower() in RESERVED] == []
    assert class_name("view") == "ViewModelModel"
    assert [name for name, (written, _) in RESERVED.items() if not re.fullmatch("[A-Za-z][A-Za-z0-9]*", written)] == []


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("text", "text-model", "TextModel"),
        ("net", "net-inputs", "NetInputs"),
        ("net-outputs", "net", "NetOutputs"),
        ("net", "Net", "Net"),
        ("net", "net2", ""),
    ],
)
def test_models_that_would_share_a_type_are_known(one: str, other: str, shared: str) -> None:
    assert clash(types_of_model(one), types_of_model(other)).lower() == shared.lower()


@pytest.mark.parametrize("target", DECLARED)
def test_a_class_has_the_same_name_in_the_packages_of_all_targets(target: str) -> None:
    texts = [
        text for path, text in read(target, "contracts").items() if path.endswith((".kt", ".swift", ".ts", ".dart"))
    ]
    declared = {name for text in texts for name in re.findall(DECLARED[target], text, re.MULTILINE)}
    models = {class_name(each.model.name) for each in (OF_PAGES if target == "web" else CONTRACTS)}
    assert target == "web" or "ReaderModel" in models
    assert models <= declared


def test_no_class_has_the_name_of_a_type_that_a_cpp_package_declares() -> None:
    found = read("cpp", "contracts")
    headers = [text for path, text in found.items() if path.endswith(("/runtime.h", "/internal.h"))]
    declared = re.findall(r"^(?:struct|class|enum class|using) (\w+)", "".join(headers), re.MULTILINE)
    assert {"Span", "SoundView", "StateSpec"} <= set(declared)
    assert [name for name in declared if class_name(name) == name] == []


@pytest.mark.parametrize("target", ["react_native", "web"])
def test_the_type_of_an_instance_is_called_like_its_class_in_typescript_too(target: str) -> None:
    constant, kind = r"^export (?:declare )?const (\w+): \w+Tensors", r"^export (?:interface|type) (\w+) "
    for case in ("contracts", "everything"):
        texts = [text for path, text in read(target, case).items() if path.endswith(".ts")]
        declared, types = (
            {name for text in texts for name in re.findall(pattern, text, re.MULTILINE)} for pattern in (constant, kind)
        )
        assert declared
        assert declared <= types
        assert {f"{name}Model" for name in declared}.isdisjoint(types)
