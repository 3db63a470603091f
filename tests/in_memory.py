"""Plug-in for pytest: files of tests lie in memory, where the machine has room for them.

Tests make and remove hundreds of thousands. On ext4, which looks at the inodes that were freed in the last seconds
before it takes one (`recently_deleted` in fs/ext4/ialloc.c of Linux), that can be half of the time of a test. Unit
tests have theirs in memory always, all others with `--in-memory`.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from packager.files.leftovers import remove_old
from tests.left_out import PROGRAMS, left_out

FOLDER = Path("/dev/shm")
PREFIX = "mobpack-"
GIB = 1 << 30
UNIT_TESTS, ALL = GIB, 12 * GIB
"""Bytes of files that lie there at one time: of all tests 10 GiB at the end."""
PROCESSES = 6 * GIB
"""Bytes that the tests and the programs that they start take themselves."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--in-memory", action="store_true", help=f"have files of all tests in {FOLDER}, if there is room")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    wanted = UNIT_TESTS if PROGRAMS in left_out(config) else ALL if config.getoption("--in-memory") else 0
    if not wanted or hasattr(config, "workerinput") or "TMPDIR" in os.environ or config.option.basetemp:
        return
    if reason := lacking(wanted):
        config.pluginmanager.register(OnDisk(reason))
        return
    remove_old(FOLDER.glob(f"{PREFIX}*"))  # of test runs that failed or were killed
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=FOLDER))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    config.option.basetemp = str(folder / "t")
    config.pluginmanager.register(Memory(folder, stays=wanted == UNIT_TESTS))


def lacking(wanted: int, folder: Path = FOLDER, meminfo: Path = Path("/proc/meminfo")) -> str:
    """Why files of `wanted` bytes cannot lie in `folder`; empty if they can."""
    if not folder.is_dir() or not meminfo.is_file():
        return f"this system has no {folder}"
    disk = os.statvfs(folder)
    if disk.f_flag & os.ST_NOEXEC:
        return f"{folder} takes no programs"
    if disk.f_bavail * disk.f_frsize < wanted:
        return f"{folder} has room for less than {wanted // GIB} GiB"
    found = re.search(r"^MemAvailable: +(\d+) kB", meminfo.read_text(encoding="ascii"), re.MULTILINE)
    memory = wanted if wanted == UNIT_TESTS else wanted + PROCESSES
    return "" if found and int(found[1]) << 10 >= memory else f"less than {memory // GIB} GiB of memory are free"


class OnDisk:
    def __init__(self, reason: str) -> None:
        self.reason = reason

    def pytest_report_header(self) -> str:
        return f"files of tests: on the disk, as {self.reason}"


class Memory:
    """The folder in memory. If a test failed, that of unit tests stays; that of all tests would take too much."""

    def __init__(self, folder: Path, *, stays: bool) -> None:
        self.folder = folder
        self.stays = stays

    def pytest_report_header(self) -> str:
        return f"files of tests: in memory, {self.folder}"

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, None, None]:
        yield
        if exitstatus != pytest.ExitCode.TESTS_FAILED or not self.stays:
            shutil.rmtree(self.folder, ignore_errors=True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.TESTS_FAILED:
            where = (
                f"are in memory: {self.folder}" if self.stays else "were in memory: run one alone to look at its files"
            )
            terminalreporter.write_line(f"files of the tests that failed {where}")
