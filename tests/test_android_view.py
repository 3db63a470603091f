"""Android: the generated files are the reviewed ones, and models that Kotlin cannot carry are refused."""

import difflib
import os
import re
from pathlib import Path, PurePosixPath

import pytest

from packager.errors import ModelError
from packager.render import kdoc_code, kotlin_string, templates_folder
from packager.targets.android import Android, tensors
from packager.values import ElementType, Package, Report, Signature
from tests.golden.cases import CASES, GOLDEN, compiled, reshaped, specs

PACKAGE = Package(name="vision", version="1.0.0", license="")
FLOAT = specs("input", ("x", ElementType.FLOAT, (1, 2)))


def golden_difference(folder: Path, texts: dict[PurePosixPath, str]) -> str:
    """A diff from the files in `folder` to `texts`, empty when they are the same."""
    stored = {
        PurePosixPath(path.relative_to(folder).as_posix()): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    lines: list[str] = []
    for name in sorted(stored.keys() | texts.keys()):
        lines += difflib.unified_diff(
            stored.get(name, "").splitlines(),
            texts.get(name, "").splitlines(),
            f"golden/{name}",
            f"generated/{name}",
            lineterm="",
        )
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES)
def test_generated_files_are_the_reviewed_ones(case: str) -> None:
    """UPDATE_GOLDEN=1 rewrites the golden tree; review the change like source."""
    folder, texts = GOLDEN / case / "android", CASES[case].texts()
    if os.environ.get("UPDATE_GOLDEN"):
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            path.unlink()
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    difference = golden_difference(folder, texts)
    assert not difference, f"run with UPDATE_GOLDEN=1 if this is meant:\n{difference}"


def test_golden_comparison_sees_a_changed_line_a_missing_file_and_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "a.kt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "b.kt").write_text("gone\n", encoding="utf-8")
    difference = golden_difference(tmp_path, {PurePosixPath("a.kt"): "one\n2\n", PurePosixPath("c.kt"): "new\n"})
    assert {"-two", "+2", "-gone", "+new"} <= set(difference.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_no_line_of_a_generated_file_ends_in_a_blank_or_repeats_an_empty_line(case: str) -> None:
    for name, text in CASES[case].texts().items():
        assert text.endswith("\n"), name
        assert not re.search(r"[ \t]\n|\n\n\n|\{\n\n|\n\n *\}", text.replace("AutoCloseable {\n\n", "")), name


@pytest.mark.parametrize("element", [ElementType.UINT16, ElementType.UINT32, ElementType.UINT64, ElementType.OTHER])
def test_input_that_the_java_api_cannot_make_is_refused_with_a_way_out(element: ElementType) -> None:
    inputs = specs("input", ("ids", element, (1,)))
    with pytest.raises(ModelError, match="input 'ids'") as caught:
        Android().view(PACKAGE, (compiled("m", Signature(inputs=inputs, outputs=FLOAT)),), Report(parities=()))
    assert "Cast" in caught.value.hint


def test_output_of_an_unknown_type_is_refused_but_unsigned_ones_are_copied() -> None:
    with pytest.raises(ModelError, match="output 'y'"):
        tensors.refuse_unsupported((), specs("output", ("y", ElementType.OTHER, ())), model="m")
    tensors.refuse_unsupported((), specs("output", ("y", ElementType.UINT16, ())), model="m")


def test_tensor_that_no_java_buffer_can_hold_is_refused() -> None:
    with pytest.raises(ModelError, match="2 GiB"):
        tensors.refuse_unsupported(specs("input", ("x", ElementType.FLOAT, (1 << 29,))), (), model="m")


def test_more_inputs_than_a_jvm_method_takes_are_refused() -> None:
    inputs = specs("input", *((f"past_{number}", ElementType.FLOAT, (1,)) for number in range(241)))
    with pytest.raises(ModelError, match="241 inputs"):
        Android().view(PACKAGE, (compiled("m", Signature(inputs=inputs, outputs=FLOAT)),), Report(parities=()))


def test_output_with_another_shape_than_declared_is_copied_not_pinned() -> None:
    model = compiled("m", Signature(inputs=FLOAT, outputs=specs("output", ("y", ElementType.FLOAT, (1, 4)))))
    assert not Android().view(PACKAGE, (model,), Report(parities=())).models[0].copied_outputs
    assert not Android().view(PACKAGE, (model,), reshaped("m", "y")).models[0].pinned_outputs


def test_same_symbolic_size_of_two_inputs_is_one_parameter() -> None:
    inputs = specs(
        "input", ("ids", ElementType.INT64, ("batch", "seq len")), ("mask", ElementType.INT64, ("batch", "seq len"))
    )
    model = compiled("m", Signature(inputs=inputs, outputs=FLOAT))
    view = Android().view(PACKAGE, (model,), Report(parities=())).models[0]
    assert [each.identifier for each in view.dimensions] == ["batch", "seqLen"]


def test_parameter_for_a_size_never_hides_an_input() -> None:
    inputs = specs("input", ("batch", ElementType.INT64, ("batch",)))
    model = compiled("m", Signature(inputs=inputs, outputs=FLOAT))
    view = Android().view(PACKAGE, (model,), Report(parities=())).models[0]
    assert [each.identifier for each in view.dimensions] == ["batch2"]


def test_class_never_hides_a_type_that_the_generated_files_use() -> None:
    assert tensors.class_names(["options", "string", "options-model"]) == {
        "options": "OptionsModel",
        "string": "StringModel",
        "options-model": "OptionsModelModel",
    }
    words: set[str] = set()
    for path in templates_folder().glob("android/*/*.kt.j2"):
        code = re.sub(r"//.*|/?\*.*|\"[^\"]*\"|\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(encoding="utf-8"))
        words |= set(re.findall(r"(?<![A-Za-z.])[A-Z][A-Za-z]*[a-z][A-Za-z]*\b", code))
    assert words <= tensors.RESERVED_CLASSES


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"providers": ("xnpack",)}, "unknown provider 'xnpack'|did you mean 'xnnpack'?"),
        ({"providers": ("cpu",)}, "unknown provider 'cpu'|leave it out: the CPU is always tried last"),
        ({"providers": ("qnn", "qnn")}, "named twice"),
        ({"group": "com.Example"}, "not a package name"),
        ({"group": "com.new"}, "not a package name"),
        ({"group": ""}, "not a package name"),
        ({"min_sdk": 21}, "min-sdk 21 is too old"),
    ],
)
def test_impossible_values_are_refused_in_words(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Android(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "part"), [("page-orientation", "pageorientation"), ("object", "objectmodel")])
def test_kotlin_package_is_legal_for_every_package_name(name: str, part: str) -> None:
    package = Package(name=name, version="1", license="")
    model = compiled("m", Signature(inputs=FLOAT, outputs=FLOAT))
    assert Android().view(package, (model,), Report(parities=())).namespace == f"com.example.{part}"


def test_qnn_brings_the_runtime_that_has_it() -> None:
    assert "-qnn:" in Android(providers=("qnn",)).runtime()
    assert "-qnn:" not in Android().runtime()


def test_text_of_a_model_cannot_leave_a_kotlin_string_or_comment() -> None:
    assert kotlin_string('a"$b\\f\f\n') == r'"a\"\$b\\f\u000c\n"'
    assert kdoc_code("a*/b/*c*/*`d`\n") == "a* /b/ *c* / *'d' "
