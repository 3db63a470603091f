"""Contracts in TypeScript: pictures, sounds and states reach the graph as they are, and what comes out has names.

The models are small graphs that tell what they were given; ONNX Runtime runs them under Node through a package's own
JavaScript.
"""

import re
from dataclasses import fields, replace
from pathlib import Path

from packager.core.class_names import RESERVED
from packager.core.contract import LOWEST as LOWEST_SCORE
from packager.core.contract import ClassesOutput, Contract, ImageInput, TensorInput, TypedInput
from packager.files.installed import templates_folder
from packager.targets.typescript import typed, typed_view
from tests.golden.cases import CONTRACTS, REACT_NATIVE_CASES, Wrapped
from tests.toolchain import typescript

LOWEST = -float("inf")


def test_files_and_types_of_contracts_are_those_of_the_package() -> None:
    folder = templates_folder() / "typescript" / "src" / "runtime" / "typed"
    found = {}
    for path in folder.glob("*.ts"):
        exported = re.findall(r"^export (?:interface|type) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found[path.stem] = {name for name in exported if not name.endswith("Tensors")} - {
            "AndroidDecoder",
            "AppleDecoder",
            "ChatTemplate",
            "Decoders",
            "PixelTensor",
            "Plane",
            "SoundPiece",
        }
    assert found == {module: set(types) for module, types in typed.TYPES.items()}

    def places(case: Wrapped) -> set[str]:
        return {str(path) for path in case.sources().files if path.parent.name == "typed"}

    assert places(REACT_NATIVE_CASES["image_classifier"]) == set()
    case = REACT_NATIVE_CASES["contracts"]
    detector = [each for each in CONTRACTS if each.model.name == "detector"]
    one = replace(
        case, android=replace(case.android, plans=tuple(detector)), ios=replace(case.ios, plans=tuple(detector))
    )
    kinds = ("boxes", "decoding", "drawing", "options", "picture", "planes")
    endings = (("src", ".ts"), ("lib", ".js"), ("lib", ".d.ts"))
    assert places(one) == {f"{part}/runtime/typed/{kind}{end}" for kind in kinds for part, end in endings}
    stems = {Path(path).stem for path in places(case) if path.startswith("src")}
    assert stems == set(typed.TYPES) - {"lists"}  # of batches, which this case does not have
    names = {name for each in (*typed.TYPES.values(), *typed.VALUES.values()) for name in each}
    assert {name for name in names if name.lower() not in RESERVED} == set()


def test_parameters_keep_clear_of_each_other_and_of_the_code_around_them() -> None:
    contract = CONTRACTS[0].model.contract
    assert contract
    (image,) = contract.inputs
    assert isinstance(image, ImageInput)
    spec = image.orientation
    names = ("options", "optionsTensors", "picture", "pictureTensors")
    tensors = tuple(TensorInput(identifier=name, spec=spec) for name in names)
    inputs: tuple[TypedInput, ...] = (replace(image, identifier="picture"), *tensors)
    view = typed.typed_view(Contract(inputs=inputs, outputs=contract.outputs), "Net")
    assert view.arguments == "picture, options2, optionsTensors, picture2, pictureTensors2"
    assert [(each.name, each.argument) for each in view.made] == [("pictureTensors3", "picture")]


def test_calls_and_thresholds_are_javascripts() -> None:
    contract = CONTRACTS[0].model.contract
    assert contract
    view = typed.typed_view(replace(contract, inputs=()), "Net")
    assert (view.parameters, view.arguments, view.made, view.fed, view.refused) == ("", "", (), (), "")
    for threshold, shown in [
        (0.0, "0"),
        (0.25, "0.25"),
        (-2.0, "-2"),
        (LOWEST, "-Infinity"),
        (LOWEST_SCORE, str(int(LOWEST_SCORE))),
        (1e-7, "1e-07"),
    ]:
        contract = CONTRACTS[0].model.contract
        assert contract
        (output,) = contract.outputs
        assert isinstance(output, ClassesOutput)
        view = typed.typed_view(replace(contract, outputs=(replace(output, threshold=threshold),)), "Net")
        assert view.value.endswith(f", top, {shown})")


def test_labels_fill_lines_and_keep_their_order() -> None:
    contract = CONTRACTS[0].model.contract
    assert contract
    (output,) = contract.outputs
    assert isinstance(output, ClassesOutput)
    labels = tuple(f"class {number}" for number in range(1000))
    (found,) = typed.typed_view(replace(contract, outputs=(replace(output, labels=labels),)), "Net").labels
    assert tuple(label for line in found.lines for label in line) == labels
    assert max(len(", ".join(map(repr, line))) for line in found.lines) <= 110
    assert len(found.lines) < 200


NESTED = tuple(each for each in vars(typed_view).values() if isinstance(each, type) and each.__name__.endswith("View"))


def test_every_field_of_a_view_of_contracts_is_printed() -> None:
    for nested in NESTED:
        found = [path for root in typescript.ROOTS.values() for path in root.rglob("*.j2")]
        expressions = " ".join(
            expression
            for path in sorted(found)
            for expression in re.findall(r"\{[{%](.*?)[%}]\}", path.read_text(encoding="utf-8"), re.DOTALL)
        )
        assert {field.name for field in fields(nested) if not re.search(rf"\.{field.name}\b", expressions)} == set()
        assert len(NESTED) == 11
