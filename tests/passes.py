"""Plug-in for pytest that keeps passes by content: a test that passed is not repeated while what it reads is the same.

Works on test files marked `by_content`, with `--keep-passes`, which `scripts/test` sets. The key of a file is the
content of its test modules; of mobpack's modules that they import or start, with all that these import; of the
templates, if any of these renders; of every file in `tests/` that is no module; of all pins and requirements; and of
the files that the mark names. The interpreter and the processor are in it, too. A test that failed or was skipped runs
again. Kept passes are counted apart, and last `KEPT_DAYS`.

MOBPACK_TESTS_FRESH has all of them run, as they do at night.
"""

import hashlib
import os
import platform
import re
import sys
import time
import traceback
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from packager.files.hashes import sha256_of
from packager.files.installed import PACKAGE
from packager.files.store import closure
from packager.files.user_cache import cache_folder
from tests.haswell import EMULATED
from tests.toolchain.kept import FRESH, KEPT_DAYS

MARK = "by_content"
KEPT = "kept"
"""Property of the report of a test that did not run, and the word for it in the summary."""
IMPORTED = re.compile(r"(?:from|import) (tests(?:\.\w+)*)(?: import (\([^)]*\)|[^\n]*))?")
FIXTURE = re.compile(r"@pytest\.fixture[^\n]*\ndef (\w+)\(")
ALWAYS = (
    "packager/processes/pins.toml",
    "pyproject.toml",
    "requirements",
    "packager/files/store",
    "packager/core/console.py",
)
"""Content that each of these tests depends on, or may depend on."""


@dataclass(frozen=True)
class Tree:
    """A repository with test files."""

    root: Path

    def key(self, files: Iterable[Path]) -> str:
        """Hex digest of the content of `files`, of the interpreter and of the processor."""
        whole = hashlib.sha256("\0".join((sys.version, *_machine())).encode())
        for path in sorted(files):
            whole.update(f"{os.path.relpath(path, self.root)}\0".encode() + _digest(path))
        return whole.hexdigest()[:32]

    def files(self, file: Path, also: tuple[str, ...] = ()) -> set[Path]:
        """All that the tests of `file` read; `also` names files and folders below the root."""
        modules = self.modules(file)
        texts = [closure.text_of(path) for path in modules]
        code = closure.closure(closure.INSTALLED, tuple(sorted({name for text in texts for name in _named(text)})))
        rendered = ("templates",) if PACKAGE / "render.py" in code else ()
        files = {*modules, self.conftest, *code, *_data(self.root / "tests")}
        for name in (*ALWAYS, *rendered, *also):
            files |= set(_files(self.root / name))
        return files

    def modules(self, file: Path) -> set[Path]:
        """`file` and the modules of `tests` that it imports, directly or not; and conftest.py with its own, if one of
        them names a fixture of it."""
        found = self._with_imports(file)
        texts = " ".join(map(closure.text_of, found))
        fixtures = FIXTURE.findall(closure.text_of(self.conftest))
        is_used = any(re.search(rf"\b{name}\b", texts) for name in fixtures)
        return found | self._with_imports(self.conftest) if is_used else found

    @property
    def conftest(self) -> Path:
        return self.root / "tests" / "conftest.py"

    def _with_imports(self, file: Path) -> set[Path]:
        found: set[Path] = set()
        waiting = [file]
        while waiting:
            path = waiting.pop()
            if path not in found and path.is_file():
                found.add(path)
                waiting += self._imported(closure.text_of(path))
        return found

    def _imported(self, text: str) -> Iterator[Path]:
        for module, names in IMPORTED.findall(text):
            base = self.root.joinpath(*module.split("."))
            yield from (base.with_suffix(".py"), base / "__init__.py")
            yield from (base / f"{name}.py" for name in re.findall(r"\w+", names))


def _named(text: str) -> Iterator[str]:
    """Modules of mobpack that a test module imports or starts."""
    found = closure.references(text)
    for name in (*found.modules, *found.strings):
        yield name if closure.INSTALLED.module(name) else name.rpartition(".")[0]


def _files(path: Path) -> Iterator[Path]:
    """The file `path`, or all below the folder, without what Python compiles."""
    found = path.rglob("*") if path.is_dir() else [path]
    return (each for each in found if each.is_file() and each.suffix != ".pyc")


@cache
def _data(folder: Path) -> frozenset[Path]:
    return frozenset(path for path in _files(folder) if path.suffix != ".py" and path.name != "durations.json")


@cache
def _digest(path: Path) -> bytes:
    return bytes.fromhex(sha256_of(path))


@cache
def _machine() -> tuple[str, ...]:
    """The processor, with what it can compute."""
    known = Path("/proc/cpuinfo")
    flags = re.search(r"(?m)^(?:flags|Features)\s*:(.*)$", known.read_text() if known.is_file() else "")
    return platform.machine(), flags[1] if flags else "", os.environ.get(EMULATED, "")


@dataclass(frozen=True)
class Passes:
    """Tests of one file that passed with the same content, in a file of the user's cache: a line for each."""

    file: Path

    def known(self) -> frozenset[str]:
        if not self.file.is_file() or time.time() - self.file.stat().st_mtime > KEPT_DAYS * 24 * 60 * 60:
            return frozenset()
        return frozenset(self.file.read_text(encoding="utf-8").splitlines())

    def add(self, test: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as record:
            record.write(f"{test}\n")


@dataclass(frozen=True)
class Marked:
    """A test file whose passes are kept."""

    passes: Passes
    kept: frozenset[str]
    """tests that passed in earlier runs"""
    files: frozenset[str]
    """paths of the files in its key"""


def _is_hypothesis_looking_for_constants() -> bool:
    """Whether a file is opened by Hypothesis, which reads every loaded module for numbers to try."""
    frames = (frame for frame, _ in traceback.walk_stack(None))
    return any(frame.f_globals.get("__name__") == "hypothesis.internal.constants_ast" for frame in frames)


class Keeper:
    """Reports kept passes, and keeps new ones, in one process that runs tests.

    A test that opens a file of the repository that is not in its key fails: its pass would outlive a change of it.
    """

    def __init__(self, root: Path) -> None:
        self.tree = Tree(root)
        self.failed: set[str] = set()
        self.opened: set[str] = set()
        self._marked: dict[Path, Marked] = {}
        self._prefix = f"{root}{os.sep}"
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if (
            event == "open"
            and str(arguments[0]).startswith(self._prefix)
            and not _is_hypothesis_looking_for_constants()
        ):
            self.opened.add(str(arguments[0]))

    def marked(self, item: pytest.Item) -> Marked | None:
        """None for a file without the mark."""
        mark = item.get_closest_marker(MARK)
        if not mark:
            return None
        if item.path not in self._marked:
            files = self.tree.files(item.path, mark.args)
            passes = Passes(cache_folder() / "passes" / f"{item.path.stem}-{self.tree.key(files)}")
            kept = frozenset() if os.environ.get(FRESH) else passes.known()
            self._marked[item.path] = Marked(passes, kept, frozenset(map(str, files)))
        return self._marked[item.path]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Reports a kept pass in place of a run."""
        found = self.marked(item)
        self.opened.clear()
        if found is None or item.nodeid not in found.kept:
            return None
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed",
            longrepr=None,
            when="call",
            user_properties=[(KEPT, "")],
        )
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        item.session._setupstate.teardown_exact(nextitem)  # fixtures that tests before it left for this file
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            self.failed.add(item.nodeid)
        elif report.when == "teardown" and item.nodeid not in self.failed and (found := self.marked(item)):
            if others := self._read_besides(found):
                report.outcome = "failed"
                report.longrepr = (
                    f"reads {', '.join(others)}: name this in the mark {MARK}, or the key does not have it"
                )
            else:
                found.passes.add(item.nodeid)
        return report

    def _read_besides(self, marked: Marked) -> list[str]:
        """Files of the repository that the test opened and that are not in its key, relative to the root."""
        others = (path for path in self.opened - marked.files if not path.endswith(".pyc") and Path(path).is_file())
        return sorted(name for name in (path.removeprefix(self._prefix) for path in others) if name[0] != ".")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--keep-passes", action="store_true", help=f"do not repeat tests marked {MARK} whose content is the same"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}(paths): a pass is kept while all that the file's tests read is the same"
    )
    if config.getoption("--keep-passes"):
        config.pluginmanager.register(Keeper(config.rootpath))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    is_kept = report.when == "call" and (KEPT, "") in map(tuple, report.user_properties)
    return (KEPT, "k", "KEPT") if is_kept else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if count := len(terminalreporter.stats.get(KEPT, [])):
        terminalreporter.write_line(
            f"{count} kept: they passed before, and nothing that they read has changed ({FRESH}: docs/testing.md)"
        )
