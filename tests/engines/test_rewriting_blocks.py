"""Matrices in blocks: the layout of MatMulNBits, in chunks of any size, and of GatherBlockQuantized."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.rewriting_cases import weight

ROOT = Path(__file__).parents[2]


MEASURE = """
import sys
from pathlib import Path
import onnx
from packager.graph.rewriting.blocks import BlockQuantizer
from packager.graph.rewriting.draft import Draft
from packager.graph.weights.writing import WeightFile
folder, rows, columns = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
model = onnx.ModelProto(ir_version=8)
tensor = model.graph.initializer.add(name="w", data_type=1, dims=[rows, columns], data_location=1)
for key, value in (("location", "w.data"), ("offset", "0"), ("length", str(4 * rows * columns))):
    tensor.external_data.add(key=key, value=value)
draft = Draft(proto=model, data_folder=folder, weights=WeightFile(folder / "out.data"))
BlockQuantizer(draft=draft, bits=4, block_size=32).matrix("w", is_transposed=False)
status = Path("/proc/self/status").read_text()  # getrusage starts at the peak of the process that forked
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


@pytest.mark.parametrize(("rows", "columns"), [(1536, 6144), (50000, 2304)])
def test_a_large_matrix_takes_less_than_256_mb_in_all(rows: int, columns: int, tmp_path: Path) -> None:
    with (tmp_path / "w.data").open("wb") as file:
        for start in range(0, rows, 1000):
            file.write(weight(min(1000, rows - start), columns, seed=start).tobytes())
    command = [sys.executable, "-c", MEASURE, str(tmp_path), str(rows), str(columns)]
    measured = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    assert (tmp_path / "out.data").stat().st_size > rows * columns / 2
    assert int(measured.stdout) < 200
