"""Deltas: every pair of files comes back, hostile ones are refused, and memory stays small."""

import subprocess
import sys
from pathlib import Path

import numpy
import numpy.typing
import pytest

from packager.distribution import deltas
from packager.distribution.deltas.layout import CHANGED_VALUES, SPAN_BYTES
from packager.distribution.deltas.tensors import tensors_of
from tests.cases import delta_vectors
from tests.cases.onnx_text import compiled, onnx_model

NOISE = numpy.random.default_rng(0)


def test_tensors_of_an_ort_file_lie_where_their_values_are(tmp_path: Path) -> None:
    weights = NOISE.standard_normal((64, 64)).astype(numpy.float32)
    model = onnx_model("(float[1,64] x) => (float[1,64] y) { y = MatMul (x, w) }", weights={"w": weights})
    content = compiled(tmp_path, model).path.read_bytes()
    [tensor] = tensors_of(content)
    assert (tensor.width, content[tensor.start : tensor.start + tensor.length]) == (4, weights.tobytes())


MEASURE = """
import sys
import numpy
from pathlib import Path
from packager.distribution import deltas

def peak() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

folder = Path(sys.argv[1])
def run(name: str) -> None:
    with (folder / f"{name}.delta").open("rb") as delta:
        deltas.apply(folder / name, delta, folder / f"{name}.out")
run("small")
before = peak()
run("large")
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_applying_takes_less_than_16_mib_whatever_the_size(tmp_path: Path) -> None:
    """24 MiB, with every instruction that takes a span."""
    weights = NOISE.integers(0, 1 << 31, 6 << 20, numpy.uint32).astype("<u4")
    (tmp_path / "small").write_bytes(b"small")
    (tmp_path / "small.delta").write_bytes(deltas.make(tmp_path / "small", tmp_path / "small"))
    (tmp_path / "large").write_bytes(weights.tobytes())
    moved, parts = weights.copy(), [delta_vectors.copy(0, 8 << 20)]
    count = SPAN_BYTES // 4
    for start in range(2 << 20, 4 << 20, count):
        moved[start : start + count] += numpy.uint32(1)
        parts.append(delta_vectors.add(4, 0, count, b"\2" * count + bytes(3 * count)))
    changed = bytes(CHANGED_VALUES), b"\2" + bytes(4 * CHANGED_VALUES - 1)
    for start in range(4 << 20, 5 << 20, count):
        moved[start : start + 1] += numpy.uint32(1)
        parts.append(delta_vectors.sparse(4, 0, count, *changed))
    moved[5 << 20 :] = 0
    instructions = b"".join(parts) + delta_vectors.insert(bytes(4 << 20)) + b"\0"
    (tmp_path / "large.delta").write_bytes(delta_vectors.packed(instructions, weights.tobytes(), moved.tobytes()))
    ran = subprocess.run([sys.executable, "-c", MEASURE, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (tmp_path / "large.out").read_bytes() == moved.tobytes()
    assert int(ran.stdout) < 16 << 10, ran.stdout
