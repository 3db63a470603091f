"""Data files of weights: aligned, shared, and copied by the kernel if possible."""

from pathlib import Path

import pytest

from packager.graph.weights.writing import WeightFile
from tests.cases.disks import tiny_disk
from tests.cases.tensors_writing import content


def test_a_full_disk_is_an_oserror_and_no_place(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with tiny_disk(tmp_path / "disk"):
        file = WeightFile(tmp_path / "disk" / "w.data")
        with pytest.raises(OSError, match="No space left"):
            file.append([bytes(200_000)])
        assert file.size_bytes == 0
        assert content(file.append([b"small"])) == b"small"
