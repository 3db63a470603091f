"""The process that fuzzes one target, with Atheris (libFuzzer), or replays inputs and counts branches.

usage: python -m benchmarks.fuzz.child fuzz TARGET CORPUS KEPT SECONDS
       python -m benchmarks.fuzz.child branches TARGET CORPUS KEPT
       python -m benchmarks.fuzz.child replay TARGET FILE
"""

import json
import os
import resource
import sys
import traceback
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from random import Random
from types import TracebackType

from benchmarks.fuzz import seeds
from benchmarks.fuzz.targets import TARGETS, Target
from packager.core.errors import MobpackError

PACKAGE = seeds.ROOT / "packager"
TIMEOUT_S = 10
MEMORY_MIB = 2048
DEPTH = 3
"""Number of lines of a traceback that tell one fault from another."""


def tried(target: Target, content: bytes) -> Exception | None:
    """The exception of an input that is none of mobpack's own."""
    with seeds.scratch() as folder:
        try:
            target.read(content, folder)
        except MobpackError as error:
            return None if error.message else error
        except Exception as error:  # whatever it is, it is a fault
            return error
    return None


def place_of(error: Exception) -> str:
    """The kind of an exception, and the lines of mobpack that it came from."""
    lines = [line for line in _lines(error.__traceback__) if "packager/" in line]
    return f"{type(error).__name__} at {', '.join(lines[-DEPTH:])}"


def _lines(trace: TracebackType | None) -> Iterable[str]:
    for frame in traceback.extract_tb(trace):
        yield f"{frame.filename.removeprefix(f'{seeds.ROOT}/')}:{frame.lineno}"


def fuzz(name: str, corpus: Path, kept: Path, seconds: int) -> None:
    """Fuzzes until the time is over; what does harm is written to `kept`, one input for each place."""
    import atheris

    target = TARGETS[name]
    known: set[str] = set()

    def one(content: bytes) -> None:
        error = tried(target, content)
        if error and place_of(error) not in known:
            known.add(place_of(error))
            (kept / f"fault-{sha256(content).hexdigest()[:12]}").write_bytes(content)
            print(f"fault: {place_of(error)}: {str(error)[:200]!r}", file=sys.stderr, flush=True)

    with atheris.instrument_imports(include=["packager", "tuf.api"]):
        with seeds.scratch() as folder:
            made = seeds.of(name, target.seeds(folder))
        for content in made.values():  # imports the modules that functions import
            one(content)
    for content in made.values():
        (corpus / sha256(content).hexdigest()).write_bytes(content)
    words = kept / "words"
    words.write_text("\n".join(f'"{_quoted(word)}"' for word in sorted(target.words())) or "#", encoding="utf-8")
    options = {
        "dict": words,
        "max_total_time": seconds,
        "timeout": TIMEOUT_S,
        "rss_limit_mb": MEMORY_MIB,
        "max_len": target.longest_bytes,
        "artifact_prefix": f"{kept}/",
        "print_final_stats": 1,
    }
    changed = {"custom_mutator": _mutator(target.change)} if target.change else {}
    atheris.Setup([name, *(f"-{key}={value}" for key, value in options.items()), str(corpus)], one, **changed)
    atheris.Fuzz()


def _quoted(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')


def _mutator(change: Callable[[bytes, Random], bytes]) -> Callable[[bytes, int, int], bytes]:
    """Changes every second input within its format, the others as libFuzzer does."""
    import atheris

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        if seed % 2:
            try:
                return change(content, Random(seed))[:most]
            except Exception:  # no longer in its format
                return bytes(atheris.Mutate(content, most))
        return bytes(atheris.Mutate(content, most))

    return mutate


def branches(name: str, corpus: Path, kept: Path) -> None:
    """Prints the number of branches in the modules of a target, and of those that its inputs take."""
    import coverage

    target = TARGETS[name]
    files = [
        str(path)
        for each in target.modules
        for path in [PACKAGE / each, *(PACKAGE / each).rglob("*.py")]
        if path.is_file()
    ]
    counter = coverage.Coverage(branch=True, include=files, data_file=None)
    counter.start()
    with seeds.scratch() as folder:
        made = seeds.of(name, target.seeds(folder))
    for content in (*made.values(), *(path.read_bytes() for path in sorted(corpus.iterdir()))):
        tried(target, content)
    counter.stop()
    report = kept / "branches.json"
    counter.json_report(outfile=str(report))
    found = json.loads(report.read_text(encoding="utf-8"))["totals"]
    print(json.dumps({"all": found["num_branches"], "taken": found["covered_branches"]}))


def replay(name: str, path: Path) -> None:
    """Prints the seconds of processors and the memory that an input takes in a process of its own."""
    content = path.read_bytes()
    tried(TARGETS[name], content)  # imports modules
    began = sum(os.times()[:4])  # other work on the machine adds nothing
    error = tried(TARGETS[name], content)
    seconds, mib = sum(os.times()[:4]) - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"seconds": seconds, "mib": mib, "fault": place_of(error) if error else ""}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fuzz", name, corpus, kept, seconds]:
            fuzz(name, Path(corpus), Path(kept), int(seconds))
        case ["branches", name, corpus, kept]:
            branches(name, Path(corpus), Path(kept))
        case ["replay", name, path]:
            replay(name, Path(path))
        case _:
            sys.exit(__doc__)
