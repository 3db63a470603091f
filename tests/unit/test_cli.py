"""The command line: where output goes, exit codes, and start-up time."""

import json
import re
import signal
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from packager import __version__
from packager.cli import interrupts
from packager.cli.options import parse_shapes
from packager.core.errors import ConfigError
from packager.providers import providers_of
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved

__all__ = ["mobpack"]


def test_help_names_every_command_and_exit_code_and_version_is_the_packages(mobpack: Mobpack) -> None:
    code, out, _ = mobpack("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in ("init", "inspect", "build", "convert", "doctor", "cache"))
    assert all(
        number in " ".join(out.split())
        for number in ("2 configuration", "3 model", "4 tool", "5 parity", "70 internal error", "130 interrupted")
    )
    assert mobpack("--version") == (0, f"mobpack, version {__version__}\n", "")


def test_an_unknown_command_is_answered_with_the_nearest(mobpack: Mobpack) -> None:
    code, _, said = mobpack("impot")
    assert code == 2
    assert "Did you mean 'import'?" in said


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (
            ["inspect", "absent.onnx"],
            3,
            "mobpack: error: absent.onnx: no such file or directory",
            "give the path of an .onnx file",
        ),
        (["build"], 2, "mobpack: error: mobpack.toml: no such file", "run: mobpack init MODEL.onnx"),
        (["build", "nope.onnx"], 3, "nope.onnx: no such file or directory", "give the path of an .onnx file"),
        (["build", "m.onnx", "--target", "windows"], 2, "mobpack: error: unknown target 'windows'", "known: android"),
        (
            ["build", "m.onnx", "--set", "target.android.min_sdk=26"],
            2,
            "target.android: unknown key 'min_sdk'",
            "did you mean 'min-sdk'?",
        ),
        (
            ["runtime", "recipe", "--target", "android"],
            2,
            "mobpack: error: no operator configuration in dist/android",
            "run mobpack build --target android first",
        ),
        (
            ["runtime", "recipe", "--target", "windows"],
            2,
            "mobpack: error: no recipe for target 'windows'",
            "use one of: android, ios",
        ),
        (
            ["inspect", "m.onnx", "--shape", "bach=1"],
            2,
            "no dynamic dimension or input 'bach'",
            "did you mean 'batch'?",
        ),
        (
            ["inspect", "m.onnx", "--shape", "batch"],
            2,
            "--shape batch: expected NAME=SIZE",
            "for example: --shape batch=1",
        ),
    ],
)
def test_errors_have_their_exit_code_a_message_and_a_hint(
    mobpack: Mobpack, tmp_path: Path, arguments: list[str], code: int, message: str, hint: str
) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, 2] x) => (float[batch, 2] y) { y = Relu (x) }"))
    answer = mobpack(*arguments)
    assert answer.code == code
    assert answer.out == ""
    assert message in answer.err
    assert re.search(rf"^hint: .*{re.escape(hint)}", answer.err, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["biuld"], ["inspect"], ["inspect", "m.onnx", "--jsn"]], ids=" ".join
)
def test_a_command_line_that_makes_no_sense_ends_with_2(mobpack: Mobpack, arguments: list[str]) -> None:
    answer = mobpack(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert "Error" in answer.err


def test_with_json_an_error_is_an_object_on_standard_output(mobpack: Mobpack) -> None:
    answer = mobpack("inspect", "absent.onnx", "--json")
    assert json.loads(answer.out) == {
        "schema-version": 1,
        "error": {
            "message": "absent.onnx: no such file or directory",
            "hint": "give the path of an .onnx file that you can read",
            "exit-code": 3,
        },
    }
    assert (answer.code, "mobpack: error: " in answer.err) == (3, True)


def test_inspect_shows_signature_operators_sizes_and_dynamic_dimensions(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, ?] x) => (float[batch, ?] y) { z = Relu (x) y = Relu (z) }"))
    code, out, _ = mobpack("inspect", "m.onnx")
    assert code == 0
    assert re.search(r"input +x +x +float +\[batch, \?\]", out)
    assert "IR version 8, opset ai.onnx 17" in out
    assert "2 nodes: Relu 2" in out
    assert "dynamic dimensions: batch, unnamed" in out
    assert "the model can ship" in out


def test_the_name_of_a_dimension_stays_in_its_line(mobpack: Mobpack, tmp_path: Path) -> None:
    model = onnx_model("(float[batch] x) => (float[batch] y) { y = Relu (x) }")
    for tensor in (*model.graph.input, *model.graph.output):
        tensor.type.tensor_type.shape.dim[0].dim_param = "batch\nmobpack: error"
    saved(tmp_path / "m.onnx", model)
    code, out, _ = mobpack("inspect", "m.onnx")
    assert code == 0
    assert re.search(r"input +x +x +float +\[batch mobpack: error\]", out)
    assert "dynamic dimensions: batch mobpack: error (" in out


def test_inspect_as_json_is_json_and_nothing_else(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", linear())
    code, out, err = mobpack("inspect", "m.onnx", "--json")
    found: dict[str, Any] = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["schema-version"], found["parameters"], found["operators"]) == (
        1,
        64 * 64 + 64,
        {"Add": 1, "MatMul": 1},
    )
    assert found["inputs"] == [{"name": "x", "identifier": "x", "element": "float", "shape": [1, 64]}]
    assert found["blockers"] == []


def test_inspect_says_what_will_stop_a_model_and_takes_shapes(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(
        tmp_path / "m.onnx",
        onnx_model("(float[2] x) => (float[2] y) { y = acme.Magic (x) }", opsets={"": 17, "acme": 1}),
    )
    code, out, _ = mobpack("inspect", "m.onnx")
    assert code == 0
    assert "cannot ship: operators of acme are not in ONNX Runtime's mobile packages" in out
    assert "the model can ship" not in out
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, T] x) => (float[batch, T] y) { y = Relu (x) }"))
    found = json.loads(mobpack("inspect", "m.onnx", "--shape", "batch=2", "--shape", "T=7", "--json").out)
    assert [each["shape"] for each in (*found["inputs"], *found["outputs"])] == [[2, 7], [2, 7]]
    saved(tmp_path / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }", opsets={"": 27}))
    answer = mobpack("convert", "m.onnx")
    assert (answer.code, "opset 27 is newer" in answer.err) == (3, True)
    assert not (tmp_path / "m.ort").exists()


@pytest.mark.parametrize("cause", [KeyboardInterrupt(), None], ids=["ctrl-c", "a fault"])
def test_an_interrupt_while_a_compiled_module_is_loaded_is_one_and_not_its_import_error(
    mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch, cause: BaseException | None
) -> None:
    class Loading(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise ImportError("initialization failed") from cause

    monkeypatch.setitem(sys.modules, "packager.workflows.doctor", Loading("packager.workflows.doctor"))
    if cause:
        assert mobpack("doctor") == (130, "", "mobpack: interrupted; no output was changed\n")
    else:
        code, _, err = mobpack("doctor")
        assert (code, "ImportError: initialization failed" in err) == (70, True)


def test_init_names_every_provider_that_targets_have(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", linear())
    mobpack("init", "m.onnx")
    lines = re.findall(r"# providers = .*", (tmp_path / "mobpack.toml").read_text())
    named = [set(re.findall(r'"(\w+)"', line)) for line in lines]
    assert named == [set(providers_of("android")), set(providers_of("ios"))]


def test_init_refuses_to_overwrite_unless_forced(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", linear())
    (tmp_path / "mobpack.toml").write_text("mine")
    answer = mobpack("init", "m.onnx")
    assert (answer.code, "mobpack.toml already exists" in answer.err) == (2, True)
    assert (tmp_path / "mobpack.toml").read_text() == "mine"
    assert mobpack("init", "m.onnx", "--force").code == 0
    assert tomllib.loads((tmp_path / "mobpack.toml").read_text())["model"]["m"]["path"] == "m.onnx"


def test_init_warns_of_what_will_not_ship(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(
        tmp_path / "m.onnx",
        onnx_model("(float[2] x) => (float[2] y) { y = acme.Magic (x) }", opsets={"": 17, "acme": 1}),
    )
    assert "warning: cannot ship: operators of acme" in mobpack("init", "m.onnx").err


@pytest.mark.parametrize(
    ("texts", "shapes"),
    [
        (("batch=1",), {"batch": 1}),
        (("x=1x3x224x224",), {"x": (1, 3, 224, 224)}),
        (("x=1,3",), {"x": (1, 3)}),
        (("serving:0=1", "a=b=2"), {"serving:0": 1, "a=b": 2}),
        (("past=0",), {"past": 0}),
    ],
)
def test_shapes_are_sizes_or_lists_of_sizes(texts: tuple[str, ...], shapes: dict[str, object]) -> None:
    assert parse_shapes(texts) == shapes


@pytest.mark.parametrize("text", ["batch", "=1", "batch=", "batch=-1", "batch=1.5", "x=1xx2", "x=1x"])
def test_shapes_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected NAME=SIZE"):
        parse_shapes((text,))


def test_an_interrupt_that_a_parent_has_ignored_stays_ignored() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for ignored, kept in ((signal.SIG_IGN, True), (signal.default_int_handler, False)):
            signal.signal(signal.SIGINT, ignored)
            interrupts.watch()
            assert (signal.getsignal(signal.SIGINT) is ignored) == kept
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
