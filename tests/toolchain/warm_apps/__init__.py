"""Apps of tests, one after the other in one process of Java.

Starting Java and loading ONNX Runtime takes most of the time of an app that opens a small model. Each app has classes
of its own: the app's, the library's, and those that simulate Android. ONNX Runtime's, Kotlin's and Java's stay, with
what they remember: ONNX Runtime's environment. A test module that imports the fixture `warm` ends the process with its
last test.

Not for tests of processes and their ends, of threads and memory, of what the first load of a process does, of variables
of the environment, or of disks that are removed, as files of an app may stay mapped.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import pytest

from tests.toolchain import jvm

SOURCE = Path(__file__).with_name("Apps.kt")
OF_JAVA = "javax."
"""Begin of properties that Java reads once: an app with others gets another process."""
END = "\0"
"""what the line after the output of an app begins with"""


@dataclass(frozen=True)
class Process:
    """A process of Java that runs apps. It ends with its standard input, however this process ends."""

    folder: "tempfile.TemporaryDirectory[str]"
    started: "subprocess.Popen[str]"
    log: Path

    def run(self, words: Sequence[str], timeout_s: float) -> tuple[int, str, str]:
        """Exit code, output and errors of an app; the code is that of the process if the app ends it."""
        assert self.started.stdin
        assert self.started.stdout
        assert not any(mark in word for word in words for mark in "\t\n"), words
        start = self.log.stat().st_size
        watch = Timer(timeout_s, self.started.kill)
        watch.start()
        lines: list[str] = []
        try:
            self.started.stdin.write("\t".join(words) + "\n")
            self.started.stdin.flush()
            for line in self.started.stdout:
                if line.startswith(END):
                    return int(line.removeprefix(END)), "".join(lines), self._errors(start)
                lines.append(line)
        finally:
            watch.cancel()
        return self.started.wait(), "".join(lines), self._errors(start)

    def _errors(self, start: int) -> str:
        """The part of standard error from a place on."""
        return self.log.read_bytes()[start:].decode(errors="replace")

    def end(self) -> None:
        with self.folder, self.started:
            self.started.kill()


RUNNING: dict[tuple[str, ...], Process] = {}
"""The process that runs, by its flags: one at most."""


@pytest.fixture(scope="module", autouse=True)
def warm() -> Iterator[None]:
    """Ends the process with the last test of a module."""
    yield
    _end()


def _end() -> None:
    while RUNNING:
        RUNNING.popitem()[1].end()


def _process(*flags: str) -> Process:
    """The process with these flags of Java."""
    found = RUNNING.get(flags)
    if found and found.started.poll() is None:
        return found
    _end()
    RUNNING[flags] = _started(flags)
    return RUNNING[flags]


def _started(flags: Sequence[str]) -> Process:
    path = (jvm.compile_kotlin([SOURCE]), *jvm.common()[1:])
    folder = tempfile.TemporaryDirectory(prefix="mobpack-apps-")
    log = Path(folder.name, "errors.txt")
    with log.open("ab") as errors:
        process = subprocess.Popen(
            jvm.java("warm.AppsKt", path, [f"-Djava.io.tmpdir={folder.name}", *flags]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder.name,
            env=jvm.environment(),
        )
    return Process(folder, process, log)


def run(
    main_class: str,
    arguments: Mapping[str, object],
    *,
    classpath: Sequence[Path],
    properties: Mapping[str, object] | None = None,
    timeout_s: float = jvm.RUN_TIMEOUT_S,
) -> jvm.Run:
    """As `jvm.run`, for an app that needs no process of its own."""
    given = properties or {}
    words = jvm.settings({name: value for name, value in given.items() if not name.startswith(OF_JAVA)})
    words += [jvm.path_of([jvm.fakes(), *classpath]), main_class, *jvm.words(arguments)]
    process = _process(*jvm.settings({name: value for name, value in given.items() if name.startswith(OF_JAVA)}))
    code, output, errors = process.run(words, timeout_s)
    return jvm.ended(main_class, code, output, errors)
