"""Plants faults and runs the test of each: `python -m tests.nightly.planted [--together] [NAME...]`.

NAME is that of a fault, of a room or of a language. A line tells of each fault whether it was found, by which test, and
the time that it took. `(fixture)` follows a test whose fixture failed: a fault that does not compile fails every test.
With --together all faults of a test file are planted at once, and its sources are compiled once: a test may then fail
for another fault than its own.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from tests.nightly.planted import ROOT, Fault, faults

TOGETHER = "--together"
FAILED, TIMEOUT_S = 1, 3600
FIRST_FAILURE = re.compile(r"^(FAILED|ERROR) (\S+)", re.MULTILINE)


def main(arguments: Sequence[str]) -> int:
    names = {*arguments} - {TOGETHER}
    chosen = [each for each in faults() if not names or {each.name, each.room, each.language} & names]
    groups: Iterable[Iterable[Fault]] = [[each] for each in chosen]
    if TOGETHER in arguments:
        groups = (each for _, each in groupby(sorted(chosen, key=lambda each: each.test), lambda each: each.test))
    found: Counter[str] = Counter()
    missed = []
    with worktree() as root:
        for group in map(list, groups):
            with planted(group, root):
                for fault in group:
                    began = time.monotonic()
                    finder = first_failure(fault, root)
                    seconds = time.monotonic() - began
                    print(f"{finder or 'NOT FOUND':9} {fault.room} {fault.name} {seconds:.0f} s", flush=True)
                    found[fault.room] += bool(finder)
                    missed += [] if finder else [fault.name]
    print(", ".join(f"{room} {count}" for room, count in sorted(found.items())))
    print(f"{len(chosen) - len(missed)} of {len(chosen)} found; not found: {', '.join(missed) or 'none'}")
    return int(bool(missed) or not chosen)


@contextmanager
def worktree() -> Iterator[Path]:
    """The last commit, with an environment of its own, from which its programs import mobpack."""
    with tempfile.TemporaryDirectory(prefix="mobpack-planted-") as scratch:
        root = Path(scratch, "mobpack")
        _run("git", "-C", str(ROOT), "worktree", "add", "--quiet", "--detach", str(root))
        try:
            _run("bash", "-c", ". scripts/environment; make_test_environment", cwd=root)
            yield root
        finally:
            _run("git", "-C", str(ROOT), "worktree", "remove", "--force", str(root))


@contextmanager
def planted(group: Sequence[Fault], root: Path) -> Iterator[None]:
    """Has the faults in the worktree `root`. TypeScript is compiled, as for a release."""
    for fault in group:
        path = root / fault.file
        path.write_text(fault.planted(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
    try:
        if any(each.file.endswith(".ts") for each in group):
            _run(str(root / ".venv/bin/python"), "-m", "tests.toolchain.typescript", "--write", cwd=root)
        yield
    finally:
        _run("git", "checkout", "--quiet", ".", cwd=root)


def first_failure(fault: Fault, root: Path) -> str:
    """The first test of the fault that fails; empty where none does. Raises RuntimeError where none ran."""
    command = [".venv/bin/python", "-m", "pytest", "-n0", "-x", "-q", *fault.test_files(root)]
    done = subprocess.run(
        [*command, *(("-k", fault.only) if fault.only else ())],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    failure = FIRST_FAILURE.search(done.stdout)
    if done.returncode not in (0, FAILED) or bool(failure) != (done.returncode == FAILED):
        raise RuntimeError(f"{fault.name}: pytest ended with {done.returncode}\n{done.stdout}{done.stderr}")
    if not failure:
        return ""
    file, _, test = failure[2].partition("::")
    return f"{Path(file).name}::{test}" + (" (fixture)" if failure[1] == "ERROR" else "")


def _run(*command: str, cwd: Path = ROOT) -> None:
    subprocess.run(command, cwd=cwd, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
