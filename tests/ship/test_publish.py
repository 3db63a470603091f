"""A release takes its place whole, or the previous one stays whole."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.distribution.release import MANIFEST
from tests.cases.disks import tiny_disk
from tests.cases.publish import dist, files, names, publish

__all__ = ["dist"]


def test_a_mount_point_cannot_be_replaced_and_keeps_its_release(dist: Path) -> None:
    with tiny_disk(dist):
        (dist / MANIFEST).write_text('{"mobpack": "0.1.0"}')
        with pytest.raises(ToolError, match=r"cannot put a mobpack release at .*dist: ") as error:
            publish(dist, "new")
        assert sorted(files(dist)) == [MANIFEST]
    assert "mount points cannot be replaced" in error.value.hint
    assert names(dist.parent) == ["dist"]


def test_a_second_writer_waits_for_the_first_and_says_so(dist: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom packager.distribution.release import staged\n"
        "with staged(Path(sys.argv[1])) as staging:\n"
        "    (staging / 'manifest.json').write_text('{\"mobpack\": \"2\"}')\n"
    )
    first = os.open(dist.parent, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    with subprocess.Popen([sys.executable, "-c", program, dist], stderr=subprocess.PIPE, text=True) as second:
        assert second.stderr
        said = second.stderr.readline()
        assert "another mobpack is replacing a folder in" in said
        assert "android/old.aar" in files(dist), "it must wait"
        os.close(first)
        rest = second.stderr.read()
    assert second.returncode == 0, rest
    assert list(files(dist)) == [MANIFEST]
