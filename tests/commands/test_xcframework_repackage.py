"""Static frameworks become libraries that apps link and do not embed."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.targets.xcframework.repackage import library_format
from tests.cases.disks import tiny_disk
from tests.cases.xcframework_cases import OBJECT, PHONES, archive, code
from tests.cases.xcframework_repackage import made


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    big = archive(code(kind=OBJECT, extra=bytes(200_000)))
    root = made(tmp_path / "in", (PHONES, big))
    disk = tmp_path / "disk"
    disk.mkdir()
    with tiny_disk(disk):
        with pytest.raises(ToolError, match="no space left"):
            library_format(root, disk / "out.xcframework")
        assert list(disk.iterdir()) == []


def test_a_full_disk_is_no_crash_for_a_dynamic_framework_either(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, code(extra=bytes(200_000))))
    disk = tmp_path / "disk"
    disk.mkdir()
    with tiny_disk(disk):
        with pytest.raises(ToolError, match="no space left"):
            library_format(root, disk / "out.xcframework")
        assert list(disk.iterdir()) == []
