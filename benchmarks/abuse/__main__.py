"""`python -m benchmarks.abuse`: attacks the tool and writes the results to docs/validation.md."""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.abuse import builds, caches, children, hostile, mirrors, sealed, signatures, texts, trickles
from benchmarks.abuse.command import Place, load_modules, new_cache
from benchmarks.abuse.fuzzing import fuzz
from benchmarks.abuse.result import Result, table

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
BEGIN, END = "<!-- written by python -m benchmarks.abuse -->", "<!-- end of what it wrote -->"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Number of tries of each attack."""

    inspected: int
    converted: int
    kills: int
    damages: int
    disks: int
    has_builds: bool


WHOLE = Plan(inspected=300, converted=12, kills=4, damages=8, disks=2, has_builds=True)
SHORT = Plan(inspected=25, converted=1, kills=2, damages=3, disks=1, has_builds=False)


def attack(plan: Plan, seed: int, folder: Path, kept: Path) -> Iterator[Result]:
    """Every attack, one after the other; files that did harm are copied to `kept`."""
    load_modules()
    place = Place(folder=folder / "files", cache=new_cache(folder / "cache"))
    place.folder.mkdir()
    yield from hostile.attack(place)
    yield from caches.attack(place)
    yield from children.attack(place)
    yield from signatures.attack(place)
    yield from sealed.attack(place, plan.inspected, seed)
    yield from mirrors.attack(place)
    yield from texts.attack(place)
    yield from fuzz("inspect", plan.inspected, seed, place, kept)
    yield from fuzz("convert", plan.converted, seed, place, kept)
    converted = builds.subject(builds.CONVERT, "m.ort", folder / "convert")
    yield builds.damaged(converted, plan.damages, seed)
    yield builds.killed(converted, plan.kills, seed)
    if plan.has_builds:
        built = builds.subject(builds.BUILD, "dist", folder / "build")
        yield builds.damaged(built, plan.damages, seed)
        if builds.can_mount():
            yield from builds.full_disks(built, plan.disks, seed)
            yield from builds.read_only(built)
        yield builds.killed(built, plan.kills, seed)
        yield from trickles.attack(folder / "trickles")


def write(results: list[Result], seed: int, page: Path) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    said = f"\n`python -m benchmarks.abuse --seed {seed}`:\n\n{table(results)}\n"
    page.write_text(before + BEGIN + said + END + after, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.abuse", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="half a minute of it; writes nothing")
    parser.add_argument("--keep", type=Path, help="folder for models that did harm")
    asked = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kept = asked.keep or folder / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        for result in attack(SHORT if asked.short else WHOLE, asked.seed, folder, kept):
            results.append(result)
            print(f"{time.monotonic() - began:6.0f} s  {result.held:5,} of {result.tries:5,} held  {result.attack}")
            for each in result.exceptions:
                print(f"          {each}", flush=True)
    if not asked.short:
        write(results, asked.seed, PAGE)
    return 1 if any(result.exceptions for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
