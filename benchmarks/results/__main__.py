"""Runs a benchmark and keeps its figures: `python -m benchmarks.results NAME [ARGUMENT...]`.

The figures go to NAME.md beside this file. The page has the command, the date, the machine with its load,
the versions and what the benchmark printed. The section Notes, which people write, stays.
"""

import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.convert import versions
from packager.measuring.bench.machine import machine

NOTES = "\n## Notes\n"


def main(name: str, *arguments: str) -> None:
    page = Path(__file__).with_name(f"{name}.md")
    load = os.getloadavg()[0]
    printed = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *arguments], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    page.write_text(written(name, arguments, printed, before, load), encoding="utf-8")


def written(name: str, arguments: tuple[str, ...], printed: str, before: str, load: float) -> str:
    """The page of a benchmark; `before` is the page as it was, `load` the machine's load average before the run."""
    here = machine()
    known = ", ".join(f"{package} {number}" for package, number in versions().items())
    _, mark, notes = before.partition(NOTES)
    where = f"{here.processor}, {here.cores} cores, {here.system}, load average {load:.1f}"
    facts = f"{datetime.now(UTC):%Y-%m-%d}; {where}; {known}."
    command = shlex.join(["python", "-m", f"benchmarks.{name}", *arguments])
    return f"# {name}\n\n    {command}\n\n{facts}\n\n{printed.strip()}\n{mark}{notes}"


if __name__ == "__main__":
    main(*sys.argv[1:])
