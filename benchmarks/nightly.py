"""Runs what CI runs at night, or parts of it, and keeps when each last ran: `python -m benchmarks.nightly [PART...]`.

The part `tests` compiles everything anew (`tests/toolchain/kept.py`). Each part runs whatever the others do. The table
goes to benchmarks/results/nightly.md; the exit code is the number of parts that failed.
"""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from packager.measuring.bench.machine import machine

PAGE = Path(__file__).parent / "results" / "nightly.md"
ROOT = Path(__file__).parents[1]
WORKERS = (f"--numprocesses={min(4, (os.cpu_count() or 1) + 1)}", "--dist=loadfile", "--no-loadscope-reorder")
TYPES = ("-m", "mypy", "--no-warn-unreachable", "-p", "packager", "--cache-dir", ".mypy_cache/elsewhere", "--platform")
QUANTIZED = ("test_rewriting_*.py", "test_quantizers_*.py", "test_bisection.py")
ELSEWHERE = (
    "tests/commands/test_programs.py",
    "tests/commands/test_runners_process.py",
    "tests/ship/test_npm_tarball.py",
)
"""Files outside of tests/unit whose code does something else on Windows."""
NEVER = ("never", "", "")


@dataclass(frozen=True)
class Part:
    about: str
    programs: tuple[tuple[str, ...], ...]
    """arguments for Python, one after the other while they succeed"""
    tries_more: bool = False
    """whether tests try more than by day (`tests/nights.py`), with everything compiled anew"""


def parts() -> Mapping[str, Part]:
    folders = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tests/*/")) if list(path.glob("test_*.py"))]
    by_day = [
        path for name in QUANTIZED for path in sorted(ROOT.glob(f"tests/*/{name}")) if path.parent.name != "nightly"
    ]
    quantized = [str(path.relative_to(ROOT)) for path in by_day]
    elsewhere = ("-m", "tests.elsewhere")
    return {
        "tests": Part("all tests, those of the night too", (("-m", "pytest", *WORKERS, *folders),), tries_more=True),
        "darwin": Part(
            "types and unit tests as on macOS", ((*TYPES, "darwin"), (*elsewhere, "darwin", *WORKERS, "tests/unit"))
        ),
        "win32": Part(
            "types and unit tests as on Windows",
            ((*TYPES, "win32"), (*elsewhere, "win32", *WORKERS, "tests/unit", *ELSEWHERE)),
        ),
        "planted": Part("planted faults, each found by a test", (("-m", "tests.nightly.planted"),)),
        "haswell": Part(
            "8-bit products on an emulated processor that saturates them",
            (("-m", "tests.cases.haswell", *quantized),),
        ),
        "wheels": Part("wheels for macOS and Windows exist", (("-m", "benchmarks.wheels"),)),
        "conformance": Part("ONNX's 1,884 test cases", (("-m", "benchmarks.conformance"),)),
        "abuse": Part("attacks on commands and files", (("-m", "benchmarks.abuse"),)),
        "fuzz": Part("two minutes of fuzzing of each reader", (("-m", "benchmarks.fuzz", "--seconds", "120"),)),
        "soak": Part("ten minutes of updates, kills and answers", (("-m", "benchmarks.soak", "--minutes", "10"),)),
        "zoo": Part("real models, every target", (("-m", "benchmarks.zoo"),)),
        "matrix": Part("nets of frameworks, six hours of them", (("-m", "benchmarks.matrix", "--minutes", "360"),)),
    }


def ran(part: Part) -> tuple[str, str, str]:
    """Date, minutes and result."""
    more = {"MOBPACK_TESTS_AT_NIGHT": "1", "MOBPACK_TESTS_FRESH": str(int(time.time()))}
    variables = {**os.environ, **(more if part.tries_more else {})}
    begun = time.monotonic()
    code = 0
    for program in part.programs:
        code = code or subprocess.run([sys.executable, *program], cwd=ROOT, env=variables, check=False).returncode
    return (
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"{(time.monotonic() - begun) / 60:.0f}",
        f"exit {code}" if code else "passed",
    )


def known(page: str) -> Mapping[str, tuple[str, str, str]]:
    """Date, minutes and result of each part in the table of a page."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")
    ]
    return {name.strip("`"): (date, minutes, result) for name, _, date, minutes, result in rows}


def page_of(results: Mapping[str, tuple[str, str, str]]) -> str:
    rows = [f"| `{name}` | {part.about} | {' | '.join(results.get(name, NEVER))} |" for name, part in parts().items()]
    here = machine()
    where = f"{here.processor}, {here.cores} cores, {here.system}; Python {platform.python_version()}"
    head = "| part | checks | last run | minutes | result |\n|---|---|---|---|---|"
    return (
        f"# nightly\n\n    python -m benchmarks.nightly\n\n{datetime.now(UTC):%Y-%m-%d}; {where}.\n\n{head}\n"
        + "\n".join(rows)
        + "\n"
    )


def main(names: Sequence[str]) -> int:
    chosen = {name: parts()[name] for name in names or parts()}
    failed = 0
    for name, part in chosen.items():
        print(f"== {name}: {part.about}", flush=True)
        result = ran(part)
        failed += result[2] != "passed"
        before = known(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
        PAGE.write_text(page_of({**before, name: result}), encoding="utf-8")
        print(f"== {name}: {result[2]}", flush=True)
    return failed


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]) - parts().keys():
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; parts are {', '.join(parts())}")
    sys.exit(main(sys.argv[1:]))
