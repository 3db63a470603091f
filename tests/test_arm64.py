"""An emulated arm64 processor converts and runs models that this machine's own cannot."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.compile import session
from packager.compile.canonical import canonicalize, flatbuffer_classes
from packager.core.errors import ModelError, ToolError
from packager.engines.environments import arm64, ensure
from packager.engines.environments.arm64 import Arm64
from packager.files.hashes import sha256_of
from packager.files.processes import commands, downloads
from tests.onnx_text import onnx_model
from tests.toolchain.emulated import emulated
from tests.toolchain.forks import forked
from tests.toolchain.require import require

__all__ = ["emulated", "forked"]
pytestmark = pytest.mark.by_content

FLOAT16 = "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = Relu (a) }"
FLOAT32 = "(float[1,64] x) => (float[1,32] y) { a = MatMul (x, w) y = Relu (a) }"
ENTRIES = {"session.save_model_format": "ORT", "session.qdqisint8allowed": "1", "session.disable_prepacking": "1"}
VERSION = "import json, sys, onnxruntime, platform; print(json.dumps([onnxruntime.__version__, platform.machine()]))"


@pytest.fixture(scope="module")
def installed() -> None:
    require(not Arm64().unsupported(), Arm64().unsupported())
    try:
        ensure(Arm64())
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")


def saved(folder: Path, graph: str, element: type[numpy.floating[Any]]) -> Path:
    weights = numpy.linspace(-1, 1, 64 * 32).reshape(64, 32).astype(element)
    onnx.save(onnx_model(graph, weights={"w": weights}), folder / "model.onnx")
    return folder / "model.onnx"


def convert(model: Path, output: Path, environment: Arm64 | None, **changes: object) -> Mapping[str, Any]:
    """Answer of the program that saves sessions, run here or in `environment`."""
    job = {
        "graph": str(model),
        "data_folder": "",
        "output": str(output),
        "entries": ENTRIES,
        "level": "all",
        "disabled_optimizers": ["NchwcTransformer"],
        "provider": "CPUExecutionProvider",
        **changes,
    }
    return commands.run_job(
        [Path(session.__file__)],
        job,
        output.parent,
        crash="ONNX Runtime crashed",
        hint="another model",
        environment=environment.variables() if environment else {},
        command=environment.command() if environment else (),
    )


def content(path: Path) -> tuple[Counter[str], set[int]]:
    """Operators of an ORT-format file, and the element types of its weights."""
    fbs = flatbuffer_classes()
    graph = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(path.read_bytes(), 0).Model().Graph()
    operators = Counter(graph.Nodes(index).OpType().decode() for index in range(graph.NodesLength()))
    return operators, {graph.Initializers(index).DataType() for index in range(graph.InitializersLength())}


@pytest.mark.environments
@pytest.mark.parametrize(("runtime", "pin"), [("converter", "converter"), ("shipped", "shipped")])
def test_each_runtime_is_the_pinned_one_for_arm64(installed: None, runtime: Any, pin: str) -> None:
    environment = Arm64(runtime=runtime)

    done = commands.run([*environment.command(), "-c", VERSION], what="asking", environment=environment.variables())

    version = downloads.pin(f"arm64-onnxruntime-{pin}").package.split("==")[1]
    assert json.loads(done) == [version, "aarch64"]


def test_the_runtimes_are_the_converters_and_the_one_that_packages_depend_on() -> None:
    assert downloads.pins()["files"]["arm64-onnxruntime-converter"]["package"] == _locked_converter()
    assert downloads.pin("arm64-onnxruntime-shipped").package.split("==")[1] == _android_version()


def _locked_converter() -> str:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    return next(line.split('"')[1] for line in text.splitlines() if line.strip().startswith('"onnxruntime=='))


def _android_version() -> str:
    return str(downloads.pins()["android"]["onnxruntime"]).rsplit(":", 1)[1]


@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
def test_float16_stays_float16_on_a_processor_that_computes_it(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT16, numpy.float16)

    assert convert(model, tmp_path / "model.ort", Arm64()) == {"ok": {}}

    assert content(tmp_path / "model.ort") == (Counter(MatMul=1, Relu=1), {onnx.TensorProto.FLOAT16})


@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
def test_float16_becomes_float32_on_a_processor_without_it(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT16, numpy.float16)

    convert(model, tmp_path / "model.ort", Arm64(cpu="cortex-a53"))

    operators, types = content(tmp_path / "model.ort")
    assert (operators["Cast"], types) == (2, {onnx.TensorProto.FLOAT})


@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
def test_conversions_of_one_model_have_the_same_bytes(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT16, numpy.float16)
    hashes = set()
    for index in range(2):
        raw, canonical = tmp_path / f"{index}.raw", tmp_path / f"{index}.ort"
        convert(model, raw, Arm64())
        canonicalize(raw, canonical)
        hashes.add(sha256_of(canonical))

    assert len(hashes) == 1


@pytest.mark.environments
@pytest.mark.usefixtures("emulated")
def test_a_float32_model_has_the_same_bytes_as_without_emulation(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT32, numpy.float32)
    for name, environment in (("emulated", Arm64()), ("own", None)):
        convert(model, tmp_path / f"{name}.raw", environment)
        canonicalize(tmp_path / f"{name}.raw", tmp_path / f"{name}.ort")

    assert (tmp_path / "emulated.ort").read_bytes() == (tmp_path / "own.ort").read_bytes()


@pytest.mark.programs
def test_what_other_interpreters_save_with_is_refused_in_onnx_runtimes_words(tmp_path: Path) -> None:
    graph = "(bfloat16[2] x) => (bfloat16[2] y) { y = Relu (x) }"

    answer = convert(saved(tmp_path, graph, numpy.float32), tmp_path / "model.ort", None)

    assert "Could not find an implementation for Relu" in answer["error"]


@pytest.mark.programs
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT32, numpy.float32)
    model.write_bytes(model.read_bytes()[:-100])

    assert "rotobuf" in convert(model, tmp_path / "model.ort", None)["error"]


@pytest.mark.programs
def test_the_basic_level_fuses_nothing(tmp_path: Path) -> None:
    graph = "(float[1,3,8,8] x) => (float[1,2,8,8] y) { a = Conv <pads = [1,1,1,1]> (x, k) y = Relu (a) }"
    weights = {"k": numpy.ones((2, 3, 3, 3), numpy.float32)}
    onnx.save(onnx_model(graph, weights=weights), tmp_path / "model.onnx")

    convert(tmp_path / "model.onnx", tmp_path / "all.ort", None)
    convert(tmp_path / "model.onnx", tmp_path / "basic.ort", None, level="basic")

    assert content(tmp_path / "all.ort")[0] == Counter(FusedConv=1)
    assert content(tmp_path / "basic.ort")[0] == Counter(Conv=1, Relu=1)


@pytest.mark.environments
def test_a_crash_on_the_emulated_processor_is_a_model_error(installed: None, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", encoding="utf-8")
    environment = Arm64()

    with pytest.raises(ModelError, match=r"it crashed \(SIGSEGV\)$"):
        commands.run_job(
            [program],
            {},
            tmp_path,
            crash="it crashed",
            hint="",
            environment=environment.variables(),
            command=environment.command(),
        )


@pytest.mark.environments
def test_the_arrangement_for_arm64_machines_starts_too(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On arm64 machines Debian's loader starts Python without qemu; here qemu starts that loader."""
    qemu, *_, python, _ = Arm64().command()
    root = Path(python).parents[2]
    libraries = ":".join(str(root / part) for part in arm64.LIBRARY_FOLDERS)

    done = commands.run(
        [qemu, str(root / arm64.LOADER), "--library-path", libraries, python, "-c", VERSION],
        what="asking",
        environment=Arm64().variables(),
    )

    assert json.loads(done)[1] == "aarch64"


def test_a_machine_of_another_kind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert Arm64().unsupported() == "qemu runs arm64 Linux programs on Linux only"
    with pytest.raises(ToolError, match="cannot be installed"):
        Arm64().install()


def test_a_processor_of_another_kind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert Arm64().missing() == "neither an x86_64 nor an arm64 processor: riscv64"
