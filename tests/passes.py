"""Plug-in for pytest that keeps passes by content: a test that passed is not repeated while what it reads is the same.

Works on test files marked `by_content`, with `--keep-passes`, which `scripts/test` sets. The key of a file is the
content of its test modules; of mobpack's modules that they import or start, with all that these import; of the
templates, if any of these renders; of the data in `tests/` that they name; of all pins and requirements; and of the
files that the mark names. The interpreter and the processor are in it, too. A test that failed or was skipped runs
again. Kept passes are counted apart, and last `KEPT_DAYS`.

Tests of packages that `mobpack build` makes of test models name these: `by_content(of=[projects.IOS])`. Their key has
the packages' content in place of the code that makes them, and lacks the code that brings and starts tools, unless
`tools=True` says that it is tested. Modules that make packages (MAKERS) may be imported for
their other names: only a test that asks for a package depends on it, and has to name it.

Those tests, and tests of golden trees, which `recorded=True` marks, may also be recorded in the repository
(`recorded.py`).

MOBPACK_TESTS_FRESH has all of them run, as they do at night.
"""

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from packager.files.user_cache import cache_folder
from packager.render import templates as render
from tests import recorded
from tests.keys import ASKED, Package, Tree
from tests.toolchain import warm_java
from tests.toolchain.kept import FRESH, remove_unused

MARK = "by_content"
KEPT = "kept"
"""Property of the report of a test that did not run, and the word for it in the summary."""


@dataclass(frozen=True)
class Passes:
    """Tests of one file that passed with the same content, in a file of the user's cache: a line for each."""

    file: Path

    def known(self) -> frozenset[str]:
        return frozenset(self.file.read_text(encoding="utf-8").splitlines() if self.file.is_file() else ())

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
    packages: frozenset[Package]
    """those in its key"""
    content: str | None
    """that of its key, where its tests may be recorded"""
    is_recorded: bool
    """whether all of its tests passed with this content"""

    def known(self, test: str) -> str | None:
        """The word for a test that need not run."""
        if test in self.kept:
            return KEPT
        return recorded.RECORDED if self.is_recorded else None


def _is_hypothesis_looking_for_constants() -> bool:
    """Whether a file is opened by Hypothesis, which reads every loaded module for numbers to try."""
    frame: FrameType | None = sys._getframe()
    while frame and frame.f_globals.get("__name__") != "hypothesis.internal.constants_ast":
        frame = frame.f_back
    return frame is not None


class Keeper:
    """Reports kept passes, and keeps new ones, in one process that runs tests.

    A test that opens a file of the repository that is not in its key fails, and one that asks for a package that its
    mark does not name: its pass would outlive a change of it.
    """

    def __init__(self, root: Path, known: Mapping[str, str]) -> None:
        """`known`: the content with which all tests of a file passed."""
        self.tree = Tree(root)
        self.folder = cache_folder() / "passes"
        self.known = known
        remove_unused(self.folder)
        self.failed: set[str] = set()
        self.opened: set[str] = set()
        self._marked: dict[Path, Marked | None] = {}
        self._file: Path | None = None
        self._prefix = f"{root}{os.sep}"
        self._hidden = f"{self._prefix}."
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 (quick: all opens pass here)
        if (
            path.startswith(self._prefix)
            and path not in self.opened
            and not path.startswith(self._hidden)
            and not path.endswith(".pyc")
            and not _is_hypothesis_looking_for_constants()
        ):
            self.opened.add(path)

    def marked(self, item: pytest.Item) -> Marked | None:
        """None for a file without the mark."""
        mark = item.get_closest_marker(MARK)
        if not mark:
            return None
        if item.path not in self._marked:
            self._marked[item.path] = self._read(item.path, mark.args, **mark.kwargs)
        return self._marked[item.path]

    def _read(
        self,
        file: Path,
        also: tuple[str, ...],
        of: Sequence[Package] = (),
        *,
        tools: bool = False,
        recorded: bool = False,
    ) -> Marked | None:
        """`tools`: the tests check code that brings and starts tools, too; `recorded`: they may be recorded."""
        try:
            content = [package.digest() for package in of]
        except (AssertionError, pytest.fail.Exception, pytest.skip.Exception):
            return None  # the test meets the same, and says it
        files = self.tree.files_around(file, also) if of and not tools else self.tree.files(file, also)
        passes = Passes(self.folder / f"{file.stem}-{self.tree.key(files, *content)}")
        imported = {path for path in self.tree.program(file) if path.suffix == ".py"} if of else set()
        kept = frozenset() if os.environ.get(FRESH) else passes.known()
        same = self.tree.content(files, *content) if of or recorded else None
        return Marked(
            passes=passes,
            kept=kept,
            files=frozenset(map(str, files | imported)),
            packages=frozenset(of),
            content=same,
            is_recorded=same is not None and self.known.get(file.name) == same,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Reports a known pass in place of a run."""
        found = self.marked(item)
        self._forget_templates(item.path)
        self.opened.clear()
        ASKED.clear()
        if found is None:
            return None
        if found.content:
            item.user_properties.append((recorded.CONTENT, found.content))
        word = found.known(item.nodeid)
        if word is None:
            return None
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed",
            longrepr=None,
            when="call",
            user_properties=[*item.user_properties, (word, "")],
        )
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        item.session._setupstate.teardown_exact(nextitem)  # fixtures that tests before it left for this file
        return True

    def _forget_templates(self, file: Path) -> None:
        """Has the tests of each file open the templates that they render, whatever this process has rendered before."""
        if file != self._file:
            render.environment.cache_clear()
        self._file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            self.failed.add(item.nodeid)
        elif report.when == "teardown" and item.nodeid not in self.failed and (found := self.marked(item)):
            if ASKED - found.packages:
                report.outcome = "failed"
                report.longrepr = f"asks for a package that the mark {MARK} does not name: of=[...], in tests/keys.py"
            elif others := self._read_besides(found):
                report.outcome = "failed"
                report.longrepr = (
                    f"reads {', '.join(others)}: name this in the mark {MARK}, or the key does not have it"
                )
            else:
                found.passes.add(item.nodeid)
        return report

    def _read_besides(self, marked: Marked) -> list[str]:
        """Files of the repository that the test opened and that are not in its key, relative to the root; the program
        that keeps Kotlin's compiler running changes no result."""
        others = (path for path in self.opened - marked.files - {str(warm_java.SOURCE)} if Path(path).is_file())
        return sorted(path.removeprefix(self._prefix) for path in others)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--keep-passes", action="store_true", help=f"do not repeat tests marked {MARK} whose content is the same"
    )
    parser.addoption("--record", action="store_true", help="write tests/recorded.json if all passes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}(paths): a pass is kept while all that the file's tests read is the same"
    )
    if config.getoption("--record"):
        _refuse_parts(config)
    if config.getoption("--keep-passes"):
        is_night = os.environ.get(FRESH) or config.getoption("--nightly", default=False)
        known = {} if is_night else recorded.read(recorded.recorded_in(config.rootpath))
        config.pluginmanager.register(Keeper(config.rootpath, known))


def _refuse_parts(config: pytest.Config) -> None:
    if not config.getoption("--keep-passes"):
        raise pytest.UsageError("--record needs --keep-passes, which computes the content of test files")
    if config.option.keyword or config.option.markexpr or any("::" in each for each in config.args):
        raise pytest.UsageError("--record needs whole files: leave out -k, -m and names of tests")


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    properties = dict(report.user_properties) if report.when == "call" else {}
    return next(((word, word[0], word.upper()) for word in (KEPT, recorded.RECORDED) if word in properties), None)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode, config: pytest.Config
) -> None:
    if count := len(terminalreporter.stats.get(KEPT, [])):
        terminalreporter.write_line(
            f"{count} kept: they passed before, and nothing that they read has changed ({FRESH}: docs/testing.md)"
        )
    if count := len(terminalreporter.stats.get(recorded.RECORDED, [])):
        terminalreporter.write_line(f"{count} recorded: they passed with the same content (tests/recorded.json)")
    file = recorded.recorded_in(config.rootpath)
    old, seen = recorded.read(file), recorded.passes(recorded.reports_of(terminalreporter))
    if config.getoption("--record"):
        if exitstatus:  # of a run that was cut off, too
            terminalreporter.write_line("tests/recorded.json stays as it was: a test failed, or did not run")
            return
        names = {path.name for path in file.parent.glob("test_*.py")}
        recorded.write(file, recorded.renewed(old, seen, names))
    elif others := [name for name, content in seen.items() if content not in (None, old.get(name))]:
        terminalreporter.write_line(
            f"Files with content that tests/recorded.json lacks: {len(others)} (to renew it: sh scripts/test --record)"
        )
