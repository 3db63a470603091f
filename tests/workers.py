"""Plug-in for pytest: with `--workers N`, tests run in N copies of the process that has collected them.

Each worker of xdist imports and collects all tests: 20 s of a processor. A worker here is a fork, and takes one file
after the other, in their order; its tests run in one process, with fixtures that are made once. A test that ends its
worker fails, and another worker goes on.
"""

import atexit
import os
import pickle
import select
import signal
import socket
import sys
import time
import traceback
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, groupby, pairwise
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

WORKER = "PYTEST_XDIST_WORKER"
"""The variable of xdist's that says which worker a process is."""
GRACE_S = 5
"""Time that workers have to end when the run is interrupted."""


@dataclass
class Channel:
    """One end of a pair of sockets, for values of Python."""

    socket: socket.socket

    def send(self, value: object) -> None:
        content = pickle.dumps(value)
        self.socket.sendall(len(content).to_bytes(8, "little") + content)

    def receive(self) -> Any:
        """Raises EOFError if the other end has closed."""
        return pickle.loads(self._read(int.from_bytes(self._read(8), "little")))

    def _read(self, size_bytes: int) -> bytes:
        content = bytearray()
        while len(content) < size_bytes:
            part = self.socket.recv(size_bytes - len(content))
            if not part:
                raise EOFError
            content += part
        return bytes(content)


@dataclass
class Worker:
    """A fork, as the process that has started it knows it."""

    name: str
    pid: int
    channel: Channel
    left: deque[int] = field(default_factory=deque)
    """places of tests that it has taken and not yet ended, the running one first"""

    @property
    def node(self) -> SimpleNamespace:
        """Stands for the node of xdist that a report is asked for."""
        return SimpleNamespace(gateway=SimpleNamespace(id=self.name), _workerinfocache=f"[{self.name}]")


class Sender:
    """In a worker: tells the other process of reports."""

    def __init__(self, channel: Channel, config: pytest.Config) -> None:
        self.channel, self.config = channel, config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.channel.send(("report", data))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run tests in as many forks of this process")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    options = session.config.option
    if not options.workers or options.collectonly or session.testsfailed or not hasattr(os, "fork"):
        return None
    Run(session).until_the_end(options.workers)
    return True


class Run:
    """A run of all tests of a session, in workers."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        places = groupby(range(len(session.items)), key=lambda place: session.items[place].path)
        self.files = deque(list(each) for _, each in places)
        self.workers: dict[socket.socket, Worker] = {}
        self.names = (f"fork{number}" for number in count())

    def until_the_end(self, workers: int) -> None:
        self.session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        try:
            for _ in range(min(workers, len(self.files))):
                self.start([])
            while self.workers:
                for ready in select.select(list(self.workers), [], [])[0]:
                    self.hear(self.workers[ready])
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
                if self.session.shouldstop:
                    raise self.session.Interrupted(self.session.shouldstop)
        finally:
            self.end()

    def start(self, left: Sequence[int]) -> None:
        """Starts a worker, which begins with the tests that another one has left."""
        name, (ours, theirs) = next(self.names), socket.socketpair()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            ours.close()
            for other in self.workers:
                other.close()
            work(self.session, Channel(theirs), name)
        theirs.close()
        self.workers[ours] = Worker(name, pid, Channel(ours))
        if left:
            self.files.appendleft(list(left))

    def hear(self, worker: Worker) -> None:
        try:
            what, value = worker.channel.receive()
        except (EOFError, ConnectionResetError):
            self.bury(worker)
            return
        if what == "take":
            file = self.files.popleft() if self.files else []
            worker.left += file
            worker.channel.send(file)
        elif what == "ended":
            worker.left.popleft()
        else:
            hook = self.session.config.hook
            report = hook.pytest_report_from_serializable(config=self.session.config, data=value)
            report.node = worker.node
            hook.pytest_runtest_logreport(report=report)

    def bury(self, worker: Worker) -> None:
        """Takes note of the end of a worker: the test that it was running fails, and another one has the others."""
        del self.workers[worker.channel.socket]
        worker.channel.socket.close()
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        if worker.left:
            item = self.session.items[worker.left.popleft()]
            report = pytest.TestReport(
                nodeid=item.nodeid,
                location=item.location,
                keywords={},
                outcome="failed",
                longrepr=f"{worker.name} ended with {code} while it ran this test",
                when="call",
            )
            item.ihook.pytest_runtest_logreport(report=report)
        if worker.left or (self.files and not self.workers):
            self.start(list(worker.left))

    def end(self) -> None:
        """Ends the workers that still run."""
        for worker in self.workers.values():
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGINT)
        deadline = time.monotonic() + GRACE_S
        for worker in self.workers.values():
            while not os.waitpid(worker.pid, os.WNOHANG)[0]:
                if time.monotonic() > deadline:
                    os.kill(worker.pid, signal.SIGKILL)
                time.sleep(0.01)


def work(session: pytest.Session, channel: Channel, name: str) -> NoReturn:
    """Runs tests until there are none; what it registers for its end runs then, and nothing of the other process's."""
    code = 1
    atexit._clear()
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]
    atexit.register(weakref.finalize._exitfunc)  # type: ignore[attr-defined]
    try:
        become(session.config, channel, name)
        for item, following in taken(session, channel):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            channel.send(("ended", None))
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            atexit._run_exitfuncs()
        os._exit(code)


def become(config: pytest.Config, channel: Channel, name: str) -> None:
    """Gives a fork what is not to be shared: streams, and a folder for temporary ones."""
    os.environ[WORKER] = name
    plugins: Any = config.pluginmanager
    if capture := plugins.getplugin("capturemanager"):
        capture.stop_global_capturing()
        capture.start_global_capturing()
        capture.suspend_global_capture()
    if terminal := plugins.getplugin("terminalreporter"):
        terminal._tw._file = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    factory: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / name
    factory._basetemp.mkdir(mode=0o700)
    plugins.register(Sender(channel, config))


def taken(session: pytest.Session, channel: Channel) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Tests of one file after the other, each with the next one: fixtures end that this one does not use."""

    def take() -> list[pytest.Item]:
        channel.send(("take", None))
        return [session.items[place] for place in channel.receive()]

    file = take()
    while file:
        yield from pairwise(file)
        following = take()
        yield file[-1], following[0] if following else None
        file = following
