"""Archives for npm: any tar and gzip reads them, and their bytes are the same everywhere."""

from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.targets.typescript import tarball
from tests.cases.disks import tiny_disk


def test_a_full_disk_is_said_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    with tiny_disk(tmp_path):
        with pytest.raises(ToolError, match=r"cannot write .*a\.tgz: No space left on device"):
            tarball.write_tarball(tmp_path / "a.tgz", {PurePosixPath("model.ort"): bytes(200_000)})
        assert list(tmp_path.iterdir()) == []
