"""Fills the matrix of models and writes docs/matrix.md and docs/matrix.json: `python -m benchmarks.matrix`.

Cells are kept by row in the user's cache: a run that was stopped goes on where it was. Rows with cells that have not
run come first, then those of other code of mobpack; families take turns. `mobpack fleet` runs projects of mobpack, no
exports and imports: machines share the matrix by --shard. The program ends with 1 where a cell is wrong, has failed, or
is refused for a reason that `faults.toml` does not know.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.matrix import page
from benchmarks.matrix.cells import CELLS, QUANTIZERS, Cell, Filling, environments
from benchmarks.matrix.rows import Row, in_turns, rows
from benchmarks.models import default_folder
from benchmarks.zoo.__main__ import code

DOCS = Path(__file__).parents[2] / "docs"
LIMIT_S = 600


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="FAMILY or FAMILY/NET")
    parser.add_argument("--cells", default="made,packages,int8,dynamic,float16,int4", help=f"of {','.join(CELLS)}")
    parser.add_argument("--shard", default="1/1", metavar="K/N", help="the K-th of N parts of the rows")
    parser.add_argument("--minutes", type=float, help="begin no row after so many minutes")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="end a command after this many seconds")
    parser.add_argument("--again", action="store_true", help="fill the cells of --only, whatever is kept")
    parser.add_argument("--page-only", action="store_true", help="write the page from what is kept")
    parser.add_argument("--folder", type=Path, help="where models and results are kept; default: the user's cache")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of matrix.md and matrix.json")
    arguments = parser.parse_args()
    folder = (arguments.folder or default_folder() / "matrix").absolute()
    listed = rows()
    chosen = [row for row in listed if not arguments.only or {row.name, row.family} & set(arguments.only)]
    part, parts = map(int, arguments.shard.split("/"))
    chosen = in_turns(chosen)[part - 1 :: parts]
    if not arguments.page_only:
        if missing := list(environments(chosen)):
            parser.error("; ".join(missing))
        end = time.monotonic() + arguments.minutes * 60 if arguments.minutes else float("inf")
        names = arguments.cells.split(",")
        for row, cells in wanted(chosen, names, folder, is_again=arguments.again):
            if time.monotonic() > end:
                break
            fill(row, cells, folder, arguments.limit_s)
    results = {row.name: kept(row, folder) for row in listed}
    if not arguments.only or arguments.page_only:
        arguments.docs.joinpath("matrix.json").write_text(page.document(listed, results), encoding="utf-8")
        arguments.docs.joinpath("matrix.md").write_text(page.page(listed, results), encoding="utf-8")
    return int(any(page.faults(row, results[row.name]) for row in chosen))


def wanted(chosen: list[Row], asked: list[str], folder: Path, *, is_again: bool) -> list[tuple[Row, list[str]]]:
    """Cells to fill, by row: rows with absent cells, then those whose cells are of other code."""
    absent, old = [], []
    for row in chosen:
        found = kept(row, folder)
        names = [name for name in asked if row.has_layers or name not in QUANTIZERS]
        if missing := [name for name in names if name not in found and is_possible(found)]:
            absent.append((row, names if is_again else missing))
        elif others := [name for name in names if name in found and (is_again or found[name].code != code())]:
            old.append((row, others))
    return absent + old


def is_possible(found: Mapping[str, Cell]) -> bool:
    """Whether the row has a model, or may get one."""
    return "made" not in found or found["made"].state == "ok"


def fill(row: Row, names: list[str], folder: Path, limit_s: float) -> None:
    """Fills cells of a row, in a folder that goes with its model when they are full."""
    place, zoo = folder / "models", folder.parent / "zoo"
    for each in (place, zoo, result_file(row, folder).parent):
        each.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        work = Filling(row=row, folder=Path(scratch), zoo=zoo, code=code(), limit_s=limit_s)
        for name in dict.fromkeys(("made", *names)):  # the others need the model
            found = {**kept(row, folder), name: work.fill(name)}
            said = {key: asdict(cell) for key, cell in found.items()}
            result_file(row, folder).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
            report(row, name, found[name])
            if found["made"].state != "ok":
                return


def report(row: Row, name: str, cell: Cell) -> None:
    number = "" if cell.number is None else f", {cell.number:.3g}"
    print(f"{row.name} {name}: {cell.state}, {cell.wall_s:.0f} s{number} {cell.reason}", file=sys.stderr, flush=True)


def kept(row: Row, folder: Path) -> dict[str, Cell]:
    file = result_file(row, folder)
    if not file.is_file():
        return {}
    found: Mapping[str, dict[str, object]] = json.loads(file.read_text(encoding="utf-8"))
    return {name: Cell(**cell) for name, cell in found.items()}  # type: ignore[arg-type]


def result_file(row: Row, folder: Path) -> Path:
    return folder / "results" / f"{row.name}.json"


if __name__ == "__main__":
    sys.exit(main())
