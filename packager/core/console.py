"""Output for the user: steps, warnings, tables. The only writer to the terminal; messages go to standard error."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from packager.core.characters import shown

if TYPE_CHECKING:
    from rich.console import Console as RichConsole


Announce = Callable[[str], None]
"""Shows the current part of a step, in a few words."""
LONG_STEP_S, LONG_PART_S, MOST_PARTS = 10.0, 1.0, 5
"""A step that took longer than the first is printed with its longest parts that took longer than the second: a search
has dozens."""


def silent(part: str) -> None:
    """Shows nothing."""


@dataclass
class _Done:
    """Steps of one kind that are done and not printed yet."""

    kind: str
    title: str
    count: int = 0
    seconds: float = 0.0

    @property
    def words(self) -> str:
        return f"{self.title if self.count == 1 else f'{self.kind} ({self.count})'} {self.seconds:.1f} s"


@dataclass
class _Parts:
    """How long each part of a step took."""

    since: float
    name: str = ""
    took: dict[str, float] = field(default_factory=dict)

    def begin(self, name: str) -> None:
        now = time.perf_counter()
        self.took[self.name] = self.took.get(self.name, 0.0) + now - self.since
        self.name, self.since = name, now

    def long(self) -> str:
        """`: compile Kotlin 31 s, write the .aar 4 s` for a long step with parts."""
        found = [(name, s) for name, s in self.took.items() if name and s >= LONG_PART_S]
        longest = sorted(found, key=lambda each: -each[1])[:MOST_PARTS]
        told = [f"{name} {s:.0f} s" for name, s in found if (name, s) in longest]
        return f": {', '.join(told)}" if told and self.seconds >= LONG_STEP_S else ""

    @property
    def seconds(self) -> float:
        return sum(self.took.values())


@dataclass
class Console:
    """Prints progress and collects the warnings for `--strict` and the manifest."""

    quiet: bool = False
    warnings: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    """warnings that follow from what this machine measured, or could not: `--strict` counts them, the manifest does
    not have them"""
    _done: _Done | None = field(default=None, init=False, repr=False)
    _is_slow: bool = field(default=False, init=False, repr=False)

    @contextmanager
    def step(self, title: str, *, kind: str = "") -> Iterator[Announce]:
        """Shows that `title` is in progress, then that it is done and how long it took, for a long step with its parts.
        Steps of one `kind` that follow each other are printed as one line: `✓ plan files (40) 3.9 s`.

        Yields a function that shows the current part of the step while it lasts. Where messages do not go to a
        terminal, it prints the part, and the step its title, after `expect_long`.
        """
        if self.quiet:
            yield silent
            return
        if not self._done or self._done.kind != kind:
            self._print_done()
        parts = _Parts(since=time.perf_counter())
        if console := _terminal():
            with console.status(f"{escape(title)} ...") as status:

                def show(part: str) -> None:
                    parts.begin(part)
                    status.update(f"{escape(title)}: {escape(part)} ...")

                yield show
        else:
            self._say_begun(title)

            def begin(part: str) -> None:
                parts.begin(part)
                self._say_begun(f"{title}: {part}")

            yield begin
        parts.begin("")
        if kind:
            done = self._done = self._done or _Done(kind=kind, title=title)
            done.count += 1
            done.seconds += parts.seconds
        else:
            _say_done(f"{title} {parts.seconds:.1f} s{parts.long()}")

    @contextmanager
    def progress(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Like `step`, for work with a known size: yields a function of the amount done and the total, and draws a
        bar."""
        if self.quiet:
            yield lambda done, total: None
            return
        self._print_done()
        start = time.perf_counter()
        if console := _terminal():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            with Progress(*columns, console=console, transient=True) as bar:
                task = bar.add_task(escape(title), total=None)
                yield lambda done, total: bar.update(task, completed=done, total=total)
        else:
            self._say_begun(title)
            yield lambda done, total: None
        _say_done(f"{title} {time.perf_counter() - start:.1f} s")

    def _print_done(self) -> None:
        """Prints the steps that are done and wait for others of their kind."""
        if done := self._done:
            self._done = None
            _say_done(done.words)

    def expect_long(self, text: str) -> None:
        """Says why steps will take long; from now on each is named when it begins, too."""
        self.say(text)
        self._is_slow = True

    def _say_begun(self, title: str) -> None:
        if self._is_slow:
            sys.stderr.write(f"  {shown(title)} ...\n")

    def say(self, text: str) -> None:
        if not self.quiet:
            self._print_done()
            rich_console(stderr=True).print(shown(text), highlight=False, markup=False)

    def warn(self, text: str, *, is_measured: bool = False) -> None:
        self.warnings.append(text)
        self.measured += [text] if is_measured else []
        self.caution(text)

    def caution(self, text: str) -> None:
        """A warning about this machine, not about the build: the manifest and `--strict` ignore it."""
        self._print_done()
        rich_console(stderr=True).print(
            f"warning: {shown(text)}", style="yellow", highlight=False, markup=False, soft_wrap=True
        )

    def error(self, message: str, hint: str) -> None:
        self._print_done()
        console = rich_console(stderr=True)
        console.print(f"mobpack: error: {shown(message)}", style="red", highlight=False, markup=False, soft_wrap=True)
        if hint:
            console.print(f"hint: {shown(hint)}", highlight=False, markup=False, soft_wrap=True)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Prints a result as a table on standard output."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        self._print_done()
        table = Table(title=escape(title) or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        rich_console(stderr=False).print(table)

    def result(self, text: str) -> None:
        """Prints text on standard output."""
        self._print_done()
        sys.stdout.write(shown(text if text.endswith("\n") else text + "\n"))


def _terminal() -> "RichConsole | None":
    """The terminal that messages go to, if they go to one."""
    if may_be_terminal(sys.stderr) and (console := rich_console(stderr=True)).is_terminal:
        return console
    return None


def _say_done(words: str) -> None:
    """Prints that a step is done: its title, and how long it took."""
    if may_be_terminal(sys.stderr):
        rich_console(stderr=True).print(f"  [green]✓[/green] {escape(words)}", highlight=False)
    else:
        sys.stderr.write(f"  ✓ {shown(words)}\n")


def may_be_terminal(stream: TextIO) -> bool:
    """Whether `stream` is a terminal, or the user wants to have it treated as one; rich decides, which takes longer to
    import than many a step.
    """
    return stream.isatty() or any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))


def rich_console(*, stderr: bool) -> "RichConsole":
    from rich.console import Console as RichConsole

    console = RichConsole(stderr=stderr)
    if not console.is_terminal:
        console.width = 120
    return console


def escape(text: str) -> str:
    from rich.markup import escape as rich_escape

    return rich_escape(shown(text))


def size(count: float) -> str:
    """`6.8 MB`: bytes in decimal units, as package registries print them."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
