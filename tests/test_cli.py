"""The command line: where output goes, exit codes, and start-up time."""

import json
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import onnxruntime
import pytest

from packager import __version__, config, models
from packager.cli import main
from packager.cli.options import parse_shapes
from packager.core.errors import ConfigError
from packager.engines.environments import web
from packager.files.hashes import sha256_of
from packager.providers import providers_of
from tests.caches import empty_cache
from tests.onnx_text import linear, onnx_model, saved
from tests.toolchain.forks import forked

__all__ = ["forked"]

HEAVY = (
    "cryptography",
    "onnx",
    "onnxruntime",
    "pydantic",
    "rich",
    "numpy",
    "jinja2",
    "google.protobuf",
    "packager.config",
)


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    """Run the command in `tmp_path` with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / ".cache")))

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        code = exited.value.code
        assert isinstance(code, int)
        return Answer(code, *capfd.readouterr())

    return run


@pytest.mark.programs
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["build", "--help"], ["inspect", "-h"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = f"""
import sys
sys.argv = ["mobpack", *{arguments!r}]
from packager.cli import main
try:
    main()
except SystemExit as exited:
    sys.stderr.write(" ".join(name for name in {HEAVY!r} if name in sys.modules) + f"|{{exited.code}}")
"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stderr == "|0"
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.4  # 0.1 s on an idle machine


def test_help_names_every_command_and_exit_code(mobpack: Mobpack) -> None:
    code, out, _ = mobpack("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in ("init", "inspect", "build", "convert", "doctor", "cache"))
    assert all(
        number in " ".join(out.split())
        for number in ("2 configuration", "3 model", "4 tool", "5 parity", "70 internal error", "130 interrupted")
    )


def test_version_is_the_packages_own(mobpack: Mobpack) -> None:
    assert mobpack("--version") == (0, f"mobpack, version {__version__}\n", "")


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
        (["check", "nope.onnx"], 3, "nope.onnx: no such file or directory", "give the path of an .onnx file"),
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
            ["runtime", "recipe", "--target", "ios"],
            2,
            "mobpack: error: no operator configuration in dist/ios",
            "run mobpack build --target ios first",
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
        (
            ["init", "m.onnx", "--out", "m.onnx/x.toml"],
            4,
            "mobpack: error: cannot write m.onnx/x.toml",
            "check the folder's permissions",
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


def test_inspect_says_what_will_stop_a_model_and_still_succeeds(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(
        tmp_path / "m.onnx",
        onnx_model("(float[2] x) => (float[2] y) { y = acme.Magic (x) }", opsets={"": 17, "acme": 1}),
    )
    code, out, _ = mobpack("inspect", "m.onnx")
    assert code == 0
    assert "cannot ship: operators of acme are not in ONNX Runtime's mobile packages" in out
    assert "the model can ship" not in out


def test_inspect_takes_shapes(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, T] x) => (float[batch, T] y) { y = Relu (x) }"))
    found = json.loads(mobpack("inspect", "m.onnx", "--shape", "batch=2", "--shape", "T=7", "--json").out)
    assert [each["shape"] for each in (*found["inputs"], *found["outputs"])] == [[2, 7], [2, 7]]


@pytest.mark.programs
def test_init_writes_a_file_that_build_accepts(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(
        tmp_path / "models" / "my ä model.onnx",
        onnx_model("(float[batch, ?] x) => (float[batch, ?] y) { y = Relu (x) }"),
    )
    (tmp_path / "sub").mkdir()
    answer = mobpack("init", "models/my ä model.onnx", "--out", "sub/mobpack.toml")
    assert (answer.code, answer.out) == (0, "")
    assert "next: mobpack build" in answer.err
    found = config.load(tmp_path / "sub" / "mobpack.toml")
    (model,) = found.model.values()
    assert model.path.resolve() == tmp_path / "models" / "my ä model.onnx"
    assert list(found.targets()) == ["android"]


@pytest.mark.programs
def test_every_commented_key_of_the_file_is_one_that_build_accepts(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, ?] x, int64[?] ids) => (float[batch, ?] y) { y = Relu (x) }"))
    mobpack("init", "m.onnx")
    text = (tmp_path / "mobpack.toml").read_text(encoding="utf-8")
    keys = re.compile(r'^# (?=\[[\w.-]+\]|[\w"-]+ = )', re.MULTILINE)
    assert len(keys.findall(text)) >= 7
    (tmp_path / "mobpack.toml").write_text(keys.sub("", text), encoding="utf-8")
    found = config.load(tmp_path / "mobpack.toml")
    assert found.model["m"].shapes == {"batch": 1, "x": (1, 64), "ids": (64,)}


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


@pytest.mark.programs
def test_the_contract_that_init_suggests_is_one(mobpack: Mobpack, tmp_path: Path) -> None:
    """Its lines, uncommented, for a model whose names need quotes."""
    graph = "(float[n, 3, 8, 8] x) => (float[n, 5] y) { y = Identity (x) }"
    model = onnx_model(graph)
    model.graph.input[0].name = model.graph.node[0].input[0] = "input:0"
    saved(tmp_path / "m.onnx", model)
    mobpack("init", "m.onnx")
    project = tmp_path / "mobpack.toml"
    lines = project.read_text(encoding="utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if ".inputs." in line)
    lines[first : first + 11] = [line.removeprefix("# ") for line in lines[first : first + 11]]
    project.write_text("\n".join(lines), encoding="utf-8")
    table = config.load(project).model["m"]
    assert [(name, kind.KIND) for name, kind in table.inputs.items()] == [("input:0", "image")]
    assert [(name, kind.KIND) for name, kind in table.outputs.items()] == [("y", "classes")]


@pytest.mark.programs
def test_the_sizes_that_init_writes_are_those_that_the_model_runs_with(mobpack: Mobpack, tmp_path: Path) -> None:
    """A state that shares dimension names with the picture gets its own shape, and a build accepts it."""
    graph = """(float[batch, 3, height, width] image, float[batch, 3, height, width] r1i) =>
        (float[batch, 3, height, width] y, float[batch, 3, height, width] r1o) {
        y = Identity (image) w = Constant <value = float[3, 3, 2, 2] {WEIGHT}> () a = Conv <strides = [2, 2]> (y, w)
        s = Shape (a) p = Expand (r1i, s) r1o = Add (a, p)
    }""".replace("WEIGHT", ", ".join(["0.5"] * 36))
    saved(tmp_path / "m.onnx", onnx_model(graph))
    answer = mobpack("init", "m.onnx")
    assert "[parity] samples" not in answer.err
    project = tmp_path / "mobpack.toml"
    head, _, rest = project.read_text(encoding="utf-8").partition("# [model.m.shapes]")
    about, *found = rest.split("\n# [model.m.inputs")[0].strip().splitlines()
    assert "dynamic dimensions" in about
    written = [line.removeprefix("# ") for line in found if "=" in line]
    project.write_text("\n".join([head, "[model.m.shapes]", *written]), encoding="utf-8")
    table = config.load(project).model["m"]
    assert table.shapes == {"batch": 1, "image": (1, 3, 64, 64), "r1i": (1, 3, 1, 1)}
    fixed = models.load(table.path, "m", fixed=table.shapes).signature.inputs
    assert [spec.shape for spec in fixed] == [(1, 3, 64, 64), (1, 3, 1, 1)]


@pytest.mark.programs
def test_init_says_that_samples_are_needed(mobpack: Mobpack, tmp_path: Path) -> None:
    graph = "(float[n] x) => (float y) { i = Constant <value = int64 {99999999}> () y = Gather (x, i) }"
    saved(tmp_path / "m.onnx", onnx_model(graph))
    answer = mobpack("init", "m.onnx")
    assert (
        "warning: set [parity] samples, because random inputs do not run: the original model 'm' runs on none"
        in answer.err
    )
    text = (tmp_path / "mobpack.toml").read_text(encoding="utf-8")
    assert "needed: it runs on no random inputs" in text
    assert "the model runs with these" not in text
    assert config.load(tmp_path / "mobpack.toml").model["m"].shapes == {}


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


@pytest.mark.programs
def test_convert_writes_the_model_and_its_operators_beside_it(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "größe x.onnx", linear())
    answer = mobpack("convert", "größe x.onnx", "--out", "out é.ort", "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert found["sha256"] == sha256_of(tmp_path / "out é.ort")
    assert found["size-bytes"] == (tmp_path / "out é.ort").stat().st_size
    assert "ai.onnx;13;Gemm" in Path(found["operators"]).read_text(encoding="utf-8")
    onnxruntime.InferenceSession(str(tmp_path / "out é.ort"), providers=["CPUExecutionProvider"])


@pytest.mark.programs
def test_convert_names_the_file_after_the_model_whatever_is_in_the_name(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "sub" / "m[green].onnx", linear())
    answer = mobpack("convert", "sub/m[green].onnx")
    assert answer.code == 0
    assert "convert m[green].onnx" in answer.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "m[green].ort",
        "m[green].required_operators_and_types.config",
    ]


@pytest.mark.programs
@pytest.mark.parametrize(
    ("options", "variable", "is_shared"),
    [(("--cache", "shared"), "", True), ((), "shared", True), (("--cache", "off"), "shared", False)],
)
def test_convert_shares_its_result_with_other_machines(
    options: tuple[str, ...],
    variable: str,
    is_shared: bool,
    mobpack: Mobpack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved(tmp_path / "m.onnx", linear())
    monkeypatch.setenv("MOBPACK_CACHE", variable)
    said = []
    for machine in ("first", "second"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / machine))
        answer = mobpack("convert", "m.onnx", *options)
        assert answer.code == 0, answer.err
        said.append(" ".join(answer.err.split()))
    assert (tmp_path / "shared").exists() is is_shared
    assert ["sent" in said[0], "1 of 1 results fetched" in said[1]] == [is_shared, is_shared]


def test_convert_refuses_a_model_that_cannot_ship(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }", opsets={"": 27}))
    answer = mobpack("convert", "m.onnx")
    assert (answer.code, "opset 27 is newer" in answer.err) == (3, True)
    assert not (tmp_path / "m.ort").exists()


@pytest.mark.programs
def test_doctor_says_what_is_there_and_how_to_get_the_rest(mobpack: Mobpack) -> None:
    parts = {part["name"]: part for part in json.loads(mobpack("doctor", "--json").out)["parts"]}
    assert parts["onnxruntime"]["present"] is True
    assert parts["onnxruntime"]["found"] == onnxruntime.__version__
    assert all(part["present"] or part["how-to-get"] for part in parts.values())
    answer = mobpack("doctor", "--details")
    assert answer.code == 0
    assert all(name in answer.out for name in parts)


@pytest.mark.programs
def test_doctor_begins_with_what_can_be_built_and_one_command_for_the_rest(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bare"))
    first, second, last = mobpack("doctor").out.splitlines()
    assert first == "you can build: android, ios, web, react_native, flutter"
    assert re.fullmatch(r"models are compared on: cpu, reference; `mobpack doctor --install NAME` adds .*mnn.*", second)
    assert last == "`mobpack doctor --details` lists every part, environment and runner"
    monkeypatch.setattr(web, "node", lambda: "")
    first = mobpack("doctor").out.splitlines()[0]
    can, _, more = first.partition("; ")
    assert ("web" in can, more) == (False, 'for web: pip install "mobpack[web]", or install Node.js')


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
