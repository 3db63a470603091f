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


@dataclass
class Console:
    """Prints progress and collects the warnings for `--strict` and the manifest."""

    quiet: bool = False
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Shows that `title` is in progress, then that it is done and how long it took.

        Yields a function that shows the current part of the step while it lasts.
        """
        if self.quiet:
            yield lambda part: None
            return
        start = time.perf_counter()
        if console := _terminal():
            with console.status(f"{escape(title)} ...") as status:
                yield lambda part: status.update(f"{escape(title)}: {escape(part)} ...")
        else:
            yield lambda part: None
        _say_done(title, start)

    @contextmanager
    def progress(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Like `step`, for work with a known size: yields a function of the amount done and the total, and draws a
        bar."""
        if self.quiet:
            yield lambda done, total: None
            return
        start = time.perf_counter()
        if console := _terminal():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            with Progress(*columns, console=console, transient=True) as bar:
                task = bar.add_task(escape(title), total=None)
                yield lambda done, total: bar.update(task, completed=done, total=total)
        else:
            yield lambda done, total: None
        _say_done(title, start)

    def say(self, text: str) -> None:
        if not self.quiet:
            rich_console(stderr=True).print(shown(text), highlight=False, markup=False)

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self.caution(text)

    def caution(self, text: str) -> None:
        """A warning about this machine, not about the build: the manifest and `--strict` ignore it."""
        rich_console(stderr=True).print(
            f"warning: {shown(text)}", style="yellow", highlight=False, markup=False, soft_wrap=True
        )

    def error(self, message: str, hint: str) -> None:
        console = rich_console(stderr=True)
        console.print(f"mobpack: error: {shown(message)}", style="red", highlight=False, markup=False, soft_wrap=True)
        if hint:
            console.print(f"hint: {shown(hint)}", highlight=False, markup=False, soft_wrap=True)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Prints a result as a table on standard output."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(title=escape(title) or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        rich_console(stderr=False).print(table)

    def result(self, text: str) -> None:
        """Prints text on standard output."""
        sys.stdout.write(shown(text if text.endswith("\n") else text + "\n"))


def _terminal() -> "RichConsole | None":
    """The terminal that messages go to, if they go to one."""
    if may_be_terminal(sys.stderr) and (console := rich_console(stderr=True)).is_terminal:
        return console
    return None


def _say_done(title: str, start: float) -> None:
    """Prints that a step is done which began at `start`, by `time.perf_counter`."""
    took = f"{time.perf_counter() - start:.1f} s"
    if may_be_terminal(sys.stderr):
        rich_console(stderr=True).print(f"  [green]✓[/green] {escape(title)} [dim]{took}[/dim]", highlight=False)
    else:
        sys.stderr.write(f"  ✓ {shown(title)} {took}\n")


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
