"""The command line: where output goes, exit codes, and start-up time."""

import json
import re
import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest

from packager import config, models
from packager.engines.environments import web
from packager.files.hashes import sha256_of
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved

__all__ = ["mobpack"]

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
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "|0"


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


def test_every_commented_key_of_the_file_is_one_that_build_accepts(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", onnx_model("(float[batch, ?] x, int64[?] ids) => (float[batch, ?] y) { y = Relu (x) }"))
    mobpack("init", "m.onnx")
    text = (tmp_path / "mobpack.toml").read_text(encoding="utf-8")
    keys = re.compile(r'^# (?=\[[\w.-]+\]|[\w"-]+ = )', re.MULTILINE)
    assert len(keys.findall(text)) >= 7
    (tmp_path / "mobpack.toml").write_text(keys.sub("", text), encoding="utf-8")
    found = config.load(tmp_path / "mobpack.toml")
    assert found.model["m"].shapes == {"batch": 1, "x": (1, 64), "ids": (64,)}


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


def test_convert_writes_the_model_and_its_operators_beside_it(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "größe x.onnx", linear())
    answer = mobpack("convert", "größe x.onnx", "--out", "out é.ort", "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert found["sha256"] == sha256_of(tmp_path / "out é.ort")
    assert found["size-bytes"] == (tmp_path / "out é.ort").stat().st_size
    assert "ai.onnx;13;Gemm" in Path(found["operators"]).read_text(encoding="utf-8")
    onnxruntime.InferenceSession(str(tmp_path / "out é.ort"), providers=["CPUExecutionProvider"])


def test_convert_names_the_file_after_the_model_whatever_is_in_the_name(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "sub" / "m[green].onnx", linear())
    answer = mobpack("convert", "sub/m[green].onnx")
    assert answer.code == 0
    assert "convert m[green].onnx" in answer.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "m[green].ort",
        "m[green].required_operators_and_types.config",
    ]


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


def test_doctor_says_what_is_there_and_one_command_for_the_rest(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {part["name"]: part for part in json.loads(mobpack("doctor", "--json").out)["parts"]}
    assert parts["onnxruntime"]["present"] is True
    assert parts["onnxruntime"]["found"] == onnxruntime.__version__
    assert all(part["present"] or part["how-to-get"] for part in parts.values())
    answer = mobpack("doctor", "--details")
    assert answer.code == 0
    assert all(name in answer.out for name in parts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bare"))
    first, second, last = mobpack("doctor").out.splitlines()
    assert first == "you can build: android, ios, web, python, cpp, jvm, node, react_native, flutter"
    assert re.fullmatch(r"models are compared on: cpu, reference; `mobpack doctor --install NAME` adds .*mnn.*", second)
    assert last == "`mobpack doctor --details` lists every part, environment and runner"
    monkeypatch.setattr(web, "node", lambda: "")
    first = mobpack("doctor").out.splitlines()[0]
    can, _, more = first.partition("; ")
    assert ("web" in can, more) == (False, 'for web: pip install "mobpack[web]", or install Node.js')


def test_init_into_a_folder_that_is_a_file_says_so(mobpack: Mobpack, tmp_path: Path) -> None:
    saved(tmp_path / "m.onnx", linear())
    answer = mobpack("init", "m.onnx", "--out", "m.onnx/x.toml")
    assert answer.code == 4
    assert "mobpack: error: cannot write m.onnx/x.toml" in answer.err
    assert "check the folder's permissions" in answer.err
