"""ONNX with its weights in files beside it: the same numbers, bounded memory, the same bytes every time."""

import subprocess
import sys
from pathlib import Path

import pytest

from packager.compile.compile import PLAIN
from packager.compile.external import write_external
from packager.core.errors import ToolError
from packager.files.store import Store
from tests.cases.disks import tiny_disk
from tests.cases.onnx_text import linear, loaded, saved


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    described = loaded(tmp_path, linear(columns=2000))
    (tmp_path / "store").mkdir()

    def make(folder: Path) -> None:
        write_external(described.graph, tmp_path, folder, "model")

    with tiny_disk(tmp_path / "store"):
        with pytest.raises(ToolError, match="no space left"):
            Store(tmp_path / "store").results(PLAIN, [], make)
        assert not list((tmp_path / "store").rglob("*.weights"))


def test_memory_does_not_grow_with_the_weights(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", linear(columns=100_000))  # 26 MB
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from packager.models.skeleton import read_skeleton\n"
        "from packager.compile.external import write_external\n"
        "path = Path(sys.argv[1])\n"
        "import onnx\n"
        "def peak():  # unlike that of getrusage, it begins with this program\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(status.partition('VmHWM:')[2].split()[0])\n"
        "before = peak()\n"
        "write_external(read_skeleton(path), path.parent, Path(sys.argv[2]), 'model')\n"
        "print(peak() - before)\n"
    )
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 8_000, "kilobytes"
