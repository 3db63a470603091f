"""Text of others - files, devices, tools, the network - gives the errors of mobpack, whatever it is."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.cli import crash
from packager.contract.tokenization import patterns
from packager.core import parsing, toml, user_files
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.distribution import deltas
from packager.distribution.release import checking
from packager.files.replaced_folder import FolderKind, replaced
from packager.files.store import Step, Store
from packager.importers import ImportSource
from packager.importers.onnx import Onnx
from packager.measuring.bench import comparing
from packager.measuring.devices import device_answers
from packager.measuring.devices.device_answers import about_of, models_of, timed_of
from packager.models.load import LONGEST_NAME, load
from packager.workflows import tune_results
from packager.workflows.importing import ImportRequest
from packager.workflows.importing import steps as importing
from tests.cases.onnx_text import onnx_model, saved

ROOT = Path(__file__).parents[2]

DOTS = ".".join("a" * 50_000)


def test_json_and_toml_of_others_are_parsed_in_one_place() -> None:
    """Jobs and requests of children are mobpack's own text; their programs import nothing of it."""
    own = re.compile(
        r"sys\.argv\[1\]|request = json\.loads\(line\)|json\.loads\((?:json\.dumps|to_json)\(|with_name|PINS"
    )
    others = ("core/parsing.py", "verification/bisection/reproduce.py", "compile/operators.py", "ort_package_check.py")
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "packager").rglob("*.py"))
        if not path.as_posix().endswith(others)
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\b(?:json\.loads|tomllib\.loads?)\(", line) and not own.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        "[" * 300 + "]" * 300,
        '{"a":' * 300 + "1" + "}" * 300,
        "9" * 5000,
        b"\xff\xfe\x00",
        b"\xc3(",
        "",
        "{",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_json_of_any_form_is_a_value_error(content: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsing.json_of(content)


def test_large_checksums_and_deep_levels_are_read_in_bounds(tmp_path: Path) -> None:
    assert str(parsing.json_of("[" * parsing.DEEPEST + "]" * parsing.DEEPEST)).count("[") == parsing.DEEPEST
    long = "n" * LONGEST_NAME
    model = onnx_model(f"(float[1] {long}) => (float[1] y) {{ y = Relu({long}) }}")
    assert load(saved(tmp_path / "m.onnx", model), "m").signature.inputs[0].name == long
    assert parsing.reason_of(KeyError("a" * 500)) == f"it has no '{'a' * 79}"
    assert len(parsing.reason_of(ValueError("b" * 5000 + "\nc"))) == 1000
    assert parsing.reason_of(RecursionError()) == "RecursionError"
    (tmp_path / "sum").write_text("ab" * 32 + "\n", encoding="utf-8")
    assert checking._is_text(tmp_path / "sum", "ab" * 32)
    assert not checking._is_text(tmp_path / "sum", "cd" * 32)
    os.truncate(tmp_path / "sum", 1 << 40)
    assert not checking._is_text(tmp_path / "sum", "ab" * 32)


@pytest.mark.parametrize(
    "text",
    [
        f"{DOTS} = 1",
        f"[{DOTS}]",
        f"[[{DOTS}]]",
        "x = {" + DOTS + " = 1}",
        '"x".' * 50_000 + "x = 1",
        "'x' . " * 50_000 + "x = 1",
        "x = " + "[" * 50_000,
        "." * 100 + '"\\' * 500_000,
        "." * 100 + '"""' * 100_000,
    ],
    ids=["key", "table", "array of tables", "inline", "quoted", "spaces", "arrays", "escapes", "quotes"],
)
def test_toml_that_is_made_to_take_long_is_refused_at_once(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mobpack.toml"
    path.write_text(text, encoding="utf-8")
    begun = time.process_time()
    with pytest.raises(ConfigError, match=r"nested tables or arrays|not valid TOML|larger than"):
        toml.read(path)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("quotes", ['"', "'", '"""', "'''"])
def test_text_with_many_dots_is_no_key(quotes: str) -> None:
    text = f"x = {quotes}{DOTS}{quotes}\ny.z = 1.5 # {DOTS}\n"
    assert parsing.toml_of(text) == {"x": DOTS, "y": {"z": 1.5}}


@pytest.mark.parametrize("text", ["", "²", "٣", "1_0", "+1", " 1", "1e3", "9" * 5000, "x"])
def test_what_is_no_whole_number_is_none(text: str) -> None:
    assert parsing.whole_number(text) is None


def deep(index: Path) -> None:
    index.write_text('{"files":' * 5000, encoding="utf-8")


def to_itself(index: Path) -> None:
    index.unlink()
    index.symlink_to(index.name)


def pipe(index: Path) -> None:
    index.unlink()
    os.mkfifo(index)


def numbers(index: Path) -> None:
    index.write_text('{"files": {"a": 1e999}, "links": {}}', encoding="utf-8")


@pytest.mark.parametrize("damage", [deep, to_itself, pipe, numbers])
@pytest.mark.parametrize("name", ["index.json", "origin.json"])
def test_a_stored_result_with_a_hostile_index_is_remade(
    damage: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    said: list[str] = []
    store = Store(tmp_path / "store", warn=said.append)
    step = Step(name="thing", caller=__name__)

    def make(folder: Path) -> None:
        (folder / "a").write_text("content", encoding="utf-8")

    place = store.results(step, [1], make).parent / name
    place.touch()
    damage(place)
    assert (store.results(step, [1], make) / "a").read_text(encoding="utf-8") == "content"
    assert not place.is_symlink()


def test_a_folder_that_is_a_link_to_itself_is_named(tmp_path: Path) -> None:
    out = tmp_path / "dist"
    out.symlink_to("dist")
    kind = FolderKind(words="a release", mark="manifest.json", option="--out")
    with pytest.raises((OSError, ToolError)) as error, replaced(out, kind):
        pass
    found = error.value if isinstance(error.value, ToolError) else crash.as_error(error.value, ["mobpack"])
    assert isinstance(found, ToolError)
    assert str(out) in found.message
    assert found.hint
    with pytest.raises(OSError, match="symbolic links"):
        user_files.read(out, limit_bytes=1)


@pytest.mark.parametrize("kind", ["input", "output", "value", "weight", "dimension", "domain"])
def test_a_name_that_no_archive_can_hold_is_refused(kind: str, tmp_path: Path) -> None:
    long = "n" * 70_000
    texts = {
        "input": f"(float[1] {long}) => (float[1] y) {{ y = Relu({long}) }}",
        "output": f"(float[1] x) => (float[1] {long}) {{ {long} = Relu(x) }}",
        "value": f"(float[1] x) => (float[1] y) {{ {long} = Relu(x) y = Relu({long}) }}",
        "weight": f"(float[1] x) => (float[1] y) <float[1] {long} = {{1}}> {{ y = Add(x, {long}) }}",
        "dimension": f"(float[{long}] x) => (float[{long}] y) {{ y = Relu(x) }}",
        "domain": "(float[1] x) => (float[1] y) { y = Relu(x) }",
    }
    model = onnx_model(texts[kind])
    if kind == "domain":
        model.graph.node[0].domain = long
    with pytest.raises(ModelError, match=r"a name in it has 70,000 characters: n{40}\.\.\.") as error:
        load(saved(tmp_path / "m.onnx", model), "m")
    assert f"{LONGEST_NAME:,}" in error.value.hint


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("(b" * 1000 + "a" + ")" * 1000, "more than 50 brackets inside each other"),
        ("(?:" * 1000 + "a" + ")" * 1000, "more than 50 brackets inside each other"),
        ("(?=" * 1000 + "a" + ")" * 1000, "more than 50 brackets inside each other"),
        ("[" * 1000 + "a" + "]" * 1000, "more than 50 brackets inside each other"),
        ("(b" * 5000 + "a" + ")" * 5000, "15,001 characters"),
        ("a" * 1_000_000, "1,000,000 characters"),
        ("a{" + "9" * 5000 + "}", "'{'"),
        (r"\x{" + "f" * 5000 + "}", r"'\\x'"),
    ],
    ids=["groups", "others", "ahead", "sets", "5,000 groups", "long", "repeat", "code point"],
)
def test_an_expression_that_is_made_to_harm_is_refused_in_a_short_sentence(expression: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as error:
        patterns.parsed(expression)
    assert len(error.value.message) < 1000


@pytest.mark.parametrize("read", [about_of, timed_of, device_answers.tests_of, models_of])
@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"error": "", "warm_up_ns": ["x"], "times_ns": 1, "outputs": [1], "models": 7, "version": 1},
        {"error": 0, "times_ns": [1e999], "warm_up_ns": [], "outputs": [{}], "models": [None], "assignment": [3]},
    ],
)
def test_answers_of_other_forms_are_damage(
    read: Callable[[dict[str, object]], object], answer: dict[str, object]
) -> None:
    with pytest.raises(ToolError, match="odd: "), parsing.damage_as(lambda reason: ToolError(f"odd: {reason}")):
        read(answer)


@pytest.mark.parametrize(
    "read",
    [
        comparing.read,
        tune_results.text_of,
        lambda path: deltas.make(path, path),
        lambda path: importing.refuse(
            Onnx(), ImportSource(text=path.name, path=path), ImportRequest(source="pipe", folder=path, output=path)
        ),
    ],
    ids=["earlier times", "a project", "a version", "a source"],
)
def test_a_pipe_that_a_user_names_is_refused_and_not_waited_for(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((ConfigError, ToolError), match="pipe"):
        read(tmp_path / "pipe")
