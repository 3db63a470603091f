"""Plug-in for pytest: the unit tests, which `-m "not (a or b or programs)"` asks for, take little time.

- Files whose tests are all marked `a` or `b` are not imported: each process of a test run imports all files that it
  collects, and half of them have no unit test.
- One that starts a program, listens at an address or connects to one fails: it lacks the mark `programs`.
"""

import re
import sys
from collections.abc import Generator, Sequence, Set
from pathlib import Path

import pytest

EXPRESSION = re.compile(r"not \((\w+(?: or \w+)*)\)")
OF_ALL = re.compile(r"^pytestmark = (\[\n(?: .*\n)*\]|.*$)", re.MULTILINE)
MARK = re.compile(r"pytest\.mark\.(\w+)")
PROGRAMS = "programs"
STARTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "socket.bind", "socket.connect", "socket.sendmsg"})
"""Events of Python that tell of a program or a server; the last is a command for one that runs already."""
ASKED = (["ldconfig"], ["uname"], ["git", "ls-files"])
"""Words in commands that Python itself asks for a line, and the test of all files of the repository for their names."""


def left_out(config: pytest.Config) -> Set[str]:
    """Marks of tests that do not run."""
    wanted = EXPRESSION.fullmatch(config.option.markexpr)
    return set(wanted[1].split(" or ")) if wanted else set()


def marks_of_all(text: str) -> Set[str]:
    """Marks of all tests of a module."""
    found = OF_ALL.search(text)
    return set(MARK.findall(found[1])) if found else set()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    left = left_out(config)
    if not left or collection_path.suffix != ".py":
        return None
    return None if left.isdisjoint(marks_of_all(collection_path.read_text(encoding="utf-8"))) else True


class Alone:
    """Fails each test that starts a program or a server, in one process that runs tests."""

    def __init__(self) -> None:
        self.started: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in STARTS and not (arguments and _is_small(arguments[1])):
            self.started.append(f"{event} {arguments[1:2]}"[:200])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        self.started.clear()

    @pytest.hookimpl(wrapper=True, trylast=True)  # before passes are kept
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "teardown" and report.outcome == "passed" and self.started:
            report.outcome = "failed"
            report.longrepr = f"starts a program or a server without the mark {PROGRAMS}: {self.started[0]}"
        return report


def _is_small(what: object) -> bool:
    """Whether a command is one that is ASKED, or an address the one by which urllib3 finds out that there is IPv6."""
    words = {Path(str(each)).name for each in what} if isinstance(what, Sequence) else set()
    return "::1" in words or any(words.issuperset(each) for each in ASKED)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if PROGRAMS not in left_out(config):
        return
    config.pluginmanager.register(Alone())
