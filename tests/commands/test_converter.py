"""From a graph to an ORT-format file: same numbers, no larger, and every failure has a message."""

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile import converter
from packager.compile.compile import compile_variant
from packager.compile.converter import ConversionJob, has_grown
from packager.core.errors import ModelError
from packager.core.values import Compiled, Variant, baseline
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from packager.files.store import Store
from tests.cases.onnx_text import compiled, linear, onnx_model, saved, weight

INT8_WEIGHTS = numpy.random.default_rng(0).integers(-127, 127, (512, 512)).astype(numpy.int8)
# INT_MIN / -1 overflows: a trap on x86, which ONNX Runtime runs into when it folds the constants.
TRAP = """(int32[1] x) => (int32[1] y) {
    lowest = Constant <value = int32[1] {-2147483648}> ()
    minus = Constant <value = int32[1] {-1}> ()
    quotient = Div (lowest, minus)
    y = Add (x, quotient)
}"""


def run(path: Path, **feed: Any) -> list[Any]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    results: list[Any] = session.run(None, feed)
    return results


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("converted"), linear(), "line ä")


def test_the_compiled_file_computes_the_same_and_has_its_hash(converted: Compiled, tmp_path: Path) -> None:
    x = weight(1, 64, seed=9)
    original, compiled_ = run(converted.variant.model.path, x=x)[0], run(converted.path, x=x)[0]
    numpy.testing.assert_allclose(compiled_, original, atol=1e-5)
    assert converted.sha256 == sha256_of(converted.path)
    assert converted.size_bytes == converted.path.stat().st_size
    assert converted.disabled_optimizers == ()
    assert converted.operators == {"ai.onnx;13;Gemm": '{"inputs": {"0": ["float"]}}'}
    assert compiled(tmp_path / "another folder", linear(), "line ä").sha256 == converted.sha256
    assert compiled(tmp_path, linear(seed=5), "line ä").sha256 != converted.sha256


def test_what_was_converted_is_kept_alone_in_the_store(converted: Compiled) -> None:
    before = converted.path.stat()
    again = compiled(converted.variant.model.path.parent, linear(), "line ä")
    assert (again.path, again.path.stat().st_ino, again.path.stat().st_mtime_ns) == (
        converted.path,
        before.st_ino,
        before.st_mtime_ns,
    )
    store = converted.variant.model.path.parent / "store"
    files = [path for path in store.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == [".uses", "index.json", "model.ort", "result.json"]


def test_metadata_and_weights_in_files_reach_the_compiled_file(tmp_path: Path, converted: Compiled) -> None:
    model = onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }")
    model.metadata_props.add(key="character", value="一\n二")
    session = onnxruntime.InferenceSession(str(compiled(tmp_path, model).path), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map == {"character": "一\n二", "mobpack.macs": ""}
    onnx.save(linear(), tmp_path / "m.onnx", save_as_external_data=True, location="w ä.data")
    described = loaded_from(tmp_path / "m.onnx")
    result = compile_variant(described, Store(tmp_path / "store"))
    x = weight(1, 64)
    assert run(result.path, x=x)[0].tobytes() == run(converted.path, x=x)[0].tobytes()


def loaded_from(path: Path) -> Variant:
    from packager import models

    model = models.load(path, "m")
    return baseline(model, "fp32")


@pytest.mark.parametrize(
    ("graph", "weights"),
    [
        (
            "{ f = Cast <to = 1> (w) s = Constant <value = float {0.01}> () d = Mul (f, s) y = MatMul (x, d) }",
            INT8_WEIGHTS,
        ),
        ("{ f = Cast <to = 1> (w) y = MatMul (x, f) }", INT8_WEIGHTS.astype(numpy.float16)),
    ],
    ids=["int8", "float16"],
)
def test_weights_that_constant_folding_would_blow_up_stay_small(tmp_path: Path, graph: str, weights: Any) -> None:
    model = onnx_model(f"(float[1, 512] x) => (float[1, 512] y) {graph}", weights={"w": weights})
    result = compiled(tmp_path, model)
    assert result.size_bytes < 1.1 * result.variant.model.size_bytes
    assert "ConstantFolding" in result.disabled_optimizers
    x = weight(1, 512)
    numpy.testing.assert_allclose(
        run(result.path, x=x)[0], run(result.variant.model.path, x=x)[0], rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize(
    ("source", "converted_bytes", "grown"),
    [(1000, 60_000, False), (1_000_000, 1_060_000, False), (1_000_000, 1_300_000, True), (100_000, 200_000, True)],
)
def test_growth_is_a_quarter_and_more_than_the_graphs_text(source: int, converted_bytes: int, grown: bool) -> None:
    assert has_grown(source, converted_bytes) is grown


@pytest.mark.parametrize(
    ("graph", "conversions"),
    [
        (
            "{ z = Relu (x) "
            + "".join(f"z{n} = Neg (z{n - 1 if n else ''}) " for n in range(600))
            + "y = Neg (z599) }",
            1,
        ),
        ("{ f = Cast <to = 1> (w) y = MatMul (x, f) }", 2),
    ],
    ids=["many nodes", "a constant that was folded"],
)
def test_a_file_that_grew_by_its_nodes_is_not_converted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: str, conversions: int
) -> None:
    weights = {"w": INT8_WEIGHTS} if "(w)" in graph else {}
    path = saved(tmp_path / "m.onnx", onnx_model(f"(float[1, 512] x) => (float[1, 512] y) {graph}", weights=weights))
    made: list[str] = []
    save = converter._save

    def counted(job: ConversionJob, name: str, entries: dict[str, str], disabled: list[str]) -> Path:
        made.append(name)
        return save(job, name, entries, disabled)

    monkeypatch.setattr(converter, "_save", counted)
    job = ConversionJob(
        graph=str(path),
        data_folder=str(tmp_path),
        output=str(tmp_path / "m.ort"),
        scratch=str(tmp_path),
        source_bytes=path.stat().st_size,
    )
    converter.convert(job)
    assert (tmp_path / "m.ort").stat().st_size > 0
    assert len(made) == conversions


def test_a_file_that_does_not_load_again_is_a_model_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime writes int4 weights into ORT format and cannot read them back."""
    model = onnx_model(
        "(float[1, 64] x) => (float[1, 64] y) { f = DequantizeLinear (w, s) y = MatMul (x, f) }",
        opsets={"": 21},
        ir_version=10,
        weights={"s": numpy.array(0.01, numpy.float32)},
    )
    model.graph.initializer.add(name="w", data_type=onnx.TensorProto.INT4, dims=[64, 64], raw_data=bytes(2048))
    with pytest.raises(ModelError, match="the model has 4-bit weights that ORT format cannot hold"):
        compiled(tmp_path, model)
    assert not list((tmp_path / "store").rglob("*.ort"))
    monkeypatch.setattr(commands, "run_job", lambda *rest, **named: pytest.fail("it is converted again"))
    with pytest.raises(ModelError, match="the model has 4-bit weights that ORT format cannot hold"):
        compiled(tmp_path, model)


def test_branches_that_lie_deeper_in_each_other_than_ort_format_holds_are_named(tmp_path: Path) -> None:
    """FlatBuffers' verifier takes 64 tables inside each other, and 1,000,000 in all: some 80,000 nodes."""
    inner = "g0 () => (float[1] o0) { o0 = Relu (x) }"
    for depth in range(1, 25):
        other = f"e{depth} () => (float[1] p{depth}) {{ p{depth} = Neg (x) }}"
        node = f"o{depth} = If (c) < then_branch = {inner}, else_branch = {other} >"
        inner = f"g{depth} () => (float[1] o{depth}) {{ {node} }}"
    model = onnx_model(f"(bool c, float[1] x) => (float[1] o24) {{ {node} }}")
    words = "the model has a number of nodes, or of graphs inside each other, that ORT format cannot hold"
    with pytest.raises(ModelError, match=words) as error:
        compiled(tmp_path, model)
    assert error.value.hint == 'ship it as ONNX: format = "auto" or "onnx"'


def test_a_graph_onnx_runtime_refuses_is_a_model_error_in_its_words_without_its_source_lines(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[2] x) => (float[2] y) { y = com.microsoft.NoSuchOperator (x) }", opsets={"": 17, "com.microsoft": 1}
    )
    with pytest.raises(ModelError, match="NoSuchOperator") as error:
        compiled(tmp_path, model)
    assert str(tmp_path / "m.onnx") in error.value.message
    assert not any(text in error.value.message for text in (".cc:", "onnxruntime::", "[ONNXRuntimeError]"))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="only x86 traps on this division")
def test_a_crash_of_onnx_runtime_is_a_model_error_that_names_the_signal(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"ONNX Runtime crashed while converting it \(SIGFPE\)") as error:
        compiled(tmp_path, onnx_model(TRAP))
    assert "m.onnx" in error.value.message
    assert not any(path.is_file() for path in (tmp_path / "store").rglob("*"))


def test_a_converter_that_is_killed_is_named_with_its_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel does when memory runs out: the converter's interpreter is replaced by one that gets killed."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(ModelError, match=r"\(SIGKILL\)"):
        compiled(tmp_path, linear())


def test_modules_in_the_working_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "m.onnx", linear())
    monkeypatch.chdir(tmp_path)
    for name in ("json.py", "numpy.py", "packager.py"):
        (tmp_path / name).write_text("raise SystemExit('a file of the user was imported')\n", encoding="utf-8")
    result = compile_variant(loaded_from(Path("m.onnx")), Store(tmp_path / "store"))
    assert result.size_bytes > 16384


LOADED = """
import sys
{program}
print([name for name in {names} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("from packager.compile import cache_key, reader; cache_key.has_room(b'')", ["onnx", "packager.core.values"]),
        (
            "import packager.compile.compile",
            ["onnx", "numpy", "packager.engines.environments", "packager.compile.ep_context"],
        ),
    ],
    ids=["child", "parent"],
)
def test_a_conversion_loads_no_modules_for_other_work(program: str, names: list[str]) -> None:
    script = LOADED.format(program=program, names=names)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
