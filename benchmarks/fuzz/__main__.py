"""Fuzzes readers of files of others: `python -m benchmarks.fuzz [TARGET...] [--seconds N]`.

Each input works, or ends in an error of mobpack's own with a message, within 10 s and 2 GiB. One that does neither is a
fault: it is written to `.fuzz/`, named, and the exit code is 1. Once the fault is mended, its input goes to
benchmarks/fuzz/found/TARGET/, whose files a unit test reads. Inputs that reach new code stay in `.fuzz/` for the next
run. Atheris, which finds them, is there for Linux on x86-64.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fuzz.child import MEMORY_MIB, TIMEOUT_S
from benchmarks.fuzz.seeds import ROOT
from benchmarks.fuzz.targets import TARGETS

KEPT = ROOT / ".fuzz"
SUSPECTS = ("crash-", "timeout-", "oom-", "slow-unit-", "leak-")
"""Beginnings of the names that libFuzzer gives to inputs at which the process ended or took long."""
RUNS = re.compile(r"stat::number_of_executed_units: +([0-9]+)")
ENDING_S = 300
"""Time in which a process of fuzzing starts and ends on a busy machine, beside the seconds that it fuzzes."""


@dataclass(frozen=True, kw_only=True)
class Result:
    seconds: float
    inputs: int
    faults: tuple[str, ...]
    """where the inputs lie that do harm, and what they do"""
    branches: int
    taken: int


def fuzzed(name: str, seconds: int) -> Result:
    """Fuzzes a target for so many seconds: again from the inputs that it has found where a process ends before."""
    corpus, harm = KEPT / name / "inputs", KEPT / name / "harm"
    corpus.mkdir(parents=True, exist_ok=True)
    harm.mkdir(exist_ok=True)
    began, inputs, said = time.monotonic(), 0, []
    while (left := round(seconds - (time.monotonic() - began))) > 0:
        printed = _child("fuzz", name, corpus, harm, left, limit_s=left + ENDING_S)
        said += re.findall(r"^fault: .*", printed, re.MULTILINE)
        inputs += sum(map(int, RUNS.findall(printed)))
        if not RUNS.search(printed):
            said.append(f"fault: fuzzing ended: {printed.strip()[-1000:]}")
            break
    took = time.monotonic() - began
    suspects = [path for path in sorted(harm.iterdir()) if path.name.startswith(SUSPECTS)]
    found = [f"{path.relative_to(ROOT)}: {words}" for path in suspects if (words := harm_of(name, path))]
    counted = json.loads(_child("branches", name, corpus, harm, limit_s=1800).splitlines()[-1])
    faults = (*dict.fromkeys(said), *found)
    return Result(seconds=took, inputs=inputs, faults=faults, branches=counted["all"], taken=counted["taken"])


def harm_of(name: str, path: Path) -> str:
    """The harm of an input in a process of its own; empty if there is none: other inputs, or other work on the machine,
    took the memory or the time."""
    printed = _child("replay", name, path, limit_s=6 * TIMEOUT_S)
    try:
        took = json.loads(printed.splitlines()[-1])
    except (ValueError, IndexError):
        return printed.strip()[-200:] or "the process ended"
    if took["fault"] or took["seconds"] > TIMEOUT_S or took["mib"] > MEMORY_MIB:
        return f"{took['fault']} {took['seconds']:.0f} s, {took['mib']:,} MiB".strip()
    path.unlink()
    return ""


def _child(*arguments: object, limit_s: int) -> str:
    command = [sys.executable, "-m", "benchmarks.fuzz.child", *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        return f"it did not end within {error.timeout} s"
    return done.stderr + done.stdout


def row(name: str, result: Result) -> str:
    share = f"{result.taken} of {result.branches} ({result.taken / result.branches:.0%})"
    found = str(len(result.faults)) if result.faults else "none"
    return f"| {TARGETS[name].about} | {result.seconds / 60:.0f} | {result.inputs:,} | {share} | {found} |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    asked = parser.parse_args(arguments)
    if odd := set(asked.targets) - TARGETS.keys():
        parser.error(f"no such target: {', '.join(sorted(odd))}; targets are {', '.join(TARGETS)}")
    print(f"Each input works or is refused in words, within {TIMEOUT_S} s and {MEMORY_MIB} MiB.\n")
    print("| reads | minutes | inputs | branches taken of its modules | faults |\n|---|---|---|---|---|", flush=True)
    failed = False
    for name in asked.targets or TARGETS:
        result = fuzzed(name, asked.seconds)
        failed |= bool(result.faults)
        print(row(name, result), flush=True)
        for fault in result.faults:
            print(f"{name}: {fault}", file=sys.stderr, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
