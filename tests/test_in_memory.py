"""Files of tests lie in memory where there is room, and on the disk elsewhere, for a reason that is said."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.in_memory import ALL, GIB, PROCESSES, UNIT_TESTS, lacking

pytestmark = [
    pytest.mark.by_content(),
    pytest.mark.skipif(sys.platform != "linux", reason="Linux has such a folder"),
]

Machine = Callable[..., str]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Why files of `wanted` bytes cannot lie in the memory of a machine."""

    def reason(wanted: int, *, free: int, room: int, flags: int = 0) -> str:
        (tmp_path / "meminfo").write_text(f"MemTotal:       99999999 kB\nMemAvailable:   {free >> 10} kB\n")
        disk = SimpleNamespace(f_flag=flags, f_bavail=room >> 12, f_frsize=1 << 12)
        monkeypatch.setattr(os, "statvfs", lambda _: disk)
        return lacking(wanted, tmp_path, tmp_path / "meminfo")

    return reason


def test_all_tests_need_room_beside_the_programs_that_they_start(machine: Machine) -> None:
    assert machine(ALL, free=ALL + PROCESSES, room=ALL) == ""
    assert machine(ALL, free=ALL + PROCESSES - GIB, room=ALL).endswith("GiB of memory are free")
    assert machine(UNIT_TESTS, free=UNIT_TESTS, room=UNIT_TESTS) == ""
    assert machine(UNIT_TESTS, free=UNIT_TESTS - 1024, room=UNIT_TESTS) == "less than 1 GiB of memory are free"


def test_a_folder_that_is_small_or_takes_no_programs_is_not_used(machine: Machine, tmp_path: Path) -> None:
    assert machine(ALL, free=4 * ALL, room=64 << 20) == f"{tmp_path} has room for less than {ALL // GIB} GiB"
    assert machine(ALL, free=4 * ALL, room=ALL, flags=os.ST_NOEXEC) == f"{tmp_path} takes no programs"
    assert lacking(ALL, tmp_path / "absent") == f"this system has no {tmp_path / 'absent'}"
