"""Builds real models for phones and writes benchmarks/results/zoo.md: `python -m benchmarks.zoo`.

Results are kept by model in the user's cache, so that a run that was stopped goes on where it was. It ends with 1 when
a model cannot be fetched, or does not end as `models.toml` says: a refusal without a true reason, a failure, or one
over the time limit.
"""

import argparse
import hashlib
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchmarks.models import default_folder
from benchmarks.zoo import building, models, packages
from benchmarks.zoo.building import Result
from benchmarks.zoo.models import Entry
from benchmarks.zoo.page import page, verdict
from packager.engines.environments import ensure
from packager.engines.environments.android import Android

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "benchmarks" / "results" / "zoo.md"
LIMIT_S = 600


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="build this model, again")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="end a build after this many seconds")
    parser.add_argument("--warm", action="store_true", help="keep results of one build for the next")
    parser.add_argument("--keep-all", action="store_true", help="keep results of other code, too")
    parser.add_argument(
        "--page-only", action="store_true", help="write the page from the results there are, of any code"
    )
    parser.add_argument("--folder", type=Path, help="where models and results are kept; default: the user's cache")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    parser.add_argument("--describe", nargs=2, metavar=("CLIENT", "PACKAGE"), help="print lines for models.toml")
    arguments = parser.parse_args()
    folder = (arguments.folder or default_folder() / "zoo").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.describe:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            client, package = arguments.describe
            print(*packages.described(client, package, Path(scratch)), sep="\n")
        return 0
    zoo = models.read()
    if unknown := set(arguments.only) - {each.name for each in zoo.models}:
        parser.error(f"models.toml has no {', '.join(sorted(unknown))}")
    results = {
        entry.name: found
        for entry in zoo.models
        if entry.name not in arguments.only
        and (found := kept(entry, folder, any_code=arguments.keep_all or arguments.page_only))
    }
    wanted = arguments.only or [each.name for each in zoo.models if each.name not in results]
    if wanted and not arguments.page_only:
        ensure(Android())  # asks XNNPACK, too
    absent = []
    for entry in (each for each in zoo.models if each.name in wanted and not arguments.page_only):
        try:
            results[entry.name] = built(entry, zoo.models, folder, arguments.limit_s, is_warm=arguments.warm)
        except packages.PackageError as error:
            absent.append(entry.name)
            print(f"{entry.name}: not run: {error}", file=sys.stderr, flush=True)
    if not arguments.only or arguments.keep_all:
        arguments.page.write_text(page(zoo, results, f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")
    are_as_wanted = (verdict(each, results[each.name]).is_as_wanted for each in zoo.models if each.name in results)
    return int(bool(absent) or not all(are_as_wanted))


def kept(entry: Entry, folder: Path, *, any_code: bool) -> Result | None:
    """The result of an earlier run of the same model with the same code, or with any."""
    file = result_file(entry, folder)
    if not file.is_file():
        return None
    found = building.from_json(file.read_text(encoding="utf-8"))
    return found if found.sha256 == entry.sha256 and (any_code or found.code == code()) else None


def built(entry: Entry, all_models: Sequence[Entry], folder: Path, limit_s: float, *, is_warm: bool = False) -> Result:
    """The result of a build that is made now, kept for later runs."""
    model = packages.model_file(entry, all_models, folder)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        cache = building.empty_cache(folder / "warm") if is_warm else None
        found = building.result(entry.name, entry.sha256, code(), model, Path(scratch), limit_s=limit_s, cache=cache)
    file = result_file(entry, folder)
    file.parent.mkdir(exist_ok=True)
    file.write_text(building.to_json(found), encoding="utf-8")
    said = f"{entry.name}: {verdict(entry, found).kind}, {found.watched.wall_s:.0f} s"
    why = found.message or found.independent_reason
    print(f"{said}{': ' if why else ''}{why}", file=sys.stderr, flush=True)
    return found


def result_file(entry: Entry, folder: Path) -> Path:
    return folder / "results" / f"{entry.name}.json"


@cache
def code() -> str:
    """Hex sha256 of mobpack's code and templates: results of other code may be others."""
    digest = hashlib.sha256()
    for folder in (ROOT / "packager", ROOT / "templates"):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
