"""One model, one sha256: whichever process, folder, hash seed or time zone converted it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest

from packager.compile.canonical import ALIGNMENT, canonicalize, flatbuffer_classes
from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from tests.cases.onnx_text import onnx_model, saved, weight

# Many kinds of operators: the table that ONNX Runtime writes in random order has an entry for each.
MIXED = """(float[1, 3, 8, 8] image, bool flag, int64[2] index, float[4, 16] rows)
    => (float[?] y, float[2, 16] picked, float[?] extra) {
    a = Conv <pads = [1, 1, 1, 1]> (image, filters)
    b = Relu (a)
    c = GlobalAveragePool (b)
    d = Flatten (c)
    e = Softmax <axis = 1> (d)
    y = If (flag) <
        then_branch = t () => (float[?, ?] p) { p = Sigmoid (e) },
        else_branch = f () => (float[?, ?] q) { q = Tanh (e) }>
    picked = Gather (rows, index)
    extra = ReduceMax <keepdims = 0> (picked)
}"""

CONVERT = """
import sys
from pathlib import Path
import onnxruntime
from packager.compile.converter import SESSION_ENTRIES, ConversionJob, convert, session_options
graph, folder = Path(sys.argv[1]), Path(sys.argv[2])
options = session_options(SESSION_ENTRIES)
options.optimized_model_filepath = str(folder / "onnxruntime.ort")
onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"],
                             disabled_optimizers=["NchwcTransformer"])
convert(ConversionJob(graph=str(graph), data_folder=str(graph.parent), output=str(folder / "model.ort"),
                      scratch=str(folder), source_bytes=graph.stat().st_size))
"""

FILTERS = weight(20, 3, 3, 3)


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of six conversions, each in a process and a folder of its own, with onnxruntime.ort and model.ort."""
    base = tmp_path_factory.mktemp("conversions")
    running = []
    folders = []
    for number in range(6):
        folder = base / f"{'ä b ' * number}{number}"
        folder.mkdir()
        folders.append(folder)
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "TZ": f"Etc/GMT{number - 3:+}", "LC_ALL": "C"}
        graph = saved(folder / "graph.onnx", onnx_model(MIXED, weights={"filters": FILTERS}))
        running.append(subprocess.Popen([sys.executable, "-c", CONVERT, graph, folder], env=environment))
    assert [process.wait() for process in running] == [0] * 6
    return folders


def test_canonical_files_are_the_same_everywhere_and_stay(conversions: list[Path], tmp_path: Path) -> None:
    assert len({sha256_of(folder / "model.ort") for folder in conversions}) == 1
    canonicalize(conversions[0] / "model.ort", tmp_path / "again.ort")
    assert (tmp_path / "again.ort").read_bytes() == (conversions[0] / "model.ort").read_bytes()


def test_canonical_files_compute_and_hold_what_onnx_runtimes_do(conversions: list[Path], tmp_path: Path) -> None:
    feed = {"image": weight(1, 3, 8, 8), "flag": numpy.array(True), "index": numpy.array([3, 0]), "rows": weight(4, 16)}
    one, two = (outputs(conversions[0] / name, feed) for name in ("onnxruntime.ort", "model.ort"))
    assert [array.tobytes() for array in one] == [array.tobytes() for array in two]
    raw, canonical = (resolver(conversions[0] / name) for name in ("onnxruntime.ort", "model.ort"))
    assert dict(raw) == dict(canonical)
    assert len(canonical) > 5
    assert [name for name, _ in canonical] == sorted(name for name, _ in raw)
    # From the file's end: its size is a multiple of the alignment, so that counting from the start gives the same.
    content = (conversions[0] / "model.ort").read_bytes()
    assert len(content) % ALIGNMENT == 0
    assert content.index(FILTERS.tobytes()) % 4 == 0
    # The reason for canonical.py. If this fails, ONNX Runtime is deterministic and canonical.py can go.
    assert len({sha256_of(folder / "onnxruntime.ort") for folder in conversions}) > 1
    (tmp_path / "m.onnx").write_bytes(bytes(100))
    with pytest.raises(ToolError, match="not an ORT-format file"):
        canonicalize(tmp_path / "m.onnx", tmp_path / "out.ort")
    assert not (tmp_path / "out.ort").exists()


def outputs(path: Path, feed: Mapping[str, Any]) -> list[Any]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    results: list[Any] = session.run(None, feed)
    return results


def resolver(path: Path) -> list[tuple[bytes, str]]:
    """(operator, its kernel types with their arguments as JSON), in the order of the file."""
    fbs = flatbuffer_classes()
    table = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(
        path.read_bytes(), 0
    ).KernelTypeStrResolver()
    entries = []
    for operator in (table.OpKernelTypeStrArgs(index) for index in range(table.OpKernelTypeStrArgsLength())):
        types = {}
        for kernel in (operator.KernelTypeStrArgs(index) for index in range(operator.KernelTypeStrArgsLength())):
            arguments = [kernel.Args(index) for index in range(kernel.ArgsLength())]
            types[kernel.KernelTypeStr().decode()] = [(each.ArgType(), each.Index()) for each in arguments]
        entries.append((operator.OpId(), json.dumps(types, sort_keys=True)))
    return entries
