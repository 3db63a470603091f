"""A unit test that starts a program, listens at an address or connects to one fails: it belongs to another folder."""

import sys
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

STARTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "socket.bind", "socket.connect"})
"""Python's audit events for a program or a server."""
ALLOWED = (["ldconfig"], ["uname"], ["git", "ls-files"])
"""Words of the commands that Python itself asks for a line, and of the one that lists the files of the repository."""
started: list[str] = []


def pytest_configure() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if STARTS and event in STARTS and not (arguments and _is_allowed(arguments[1])):
        started.append(f"{event} {arguments[1:2]}"[:200])


def _is_allowed(what: object) -> bool:
    """Whether a command is ALLOWED, or an address the one by which urllib3 finds out that there is IPv6."""
    words = {Path(str(each)).name for each in what} if isinstance(what, Sequence) else set()
    return "::1" in words or any(words.issuperset(each) for each in ALLOWED)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol() -> None:
    started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Counts what fixtures of a module start, too."""
    report = yield
    if report.when == "teardown" and report.outcome == "passed" and started:
        report.outcome = "failed"
        report.longrepr = f"a unit test starts a program or a server: {started[0]}"
    return report
