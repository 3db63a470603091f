"""Time of builds with a shared cache: `python -m benchmarks.shared_cache MODEL [--s3] [--target NAME]... [--delay MS]`.

Builds a project of MODEL, each time in a new folder and with an empty cache: without a shared cache, sending to one
that is empty, as a new machine after that, and as one that fetches the results of all steps but not the whole build
(`--verify`); at last the new machine builds again. The store is a folder, or moto's server for S3 here, before
which a proxy waits for `--delay` milliseconds at each request, as a distant store does. Isolated environments and
downloaded files are the user's. Seconds of the clock; the ratio is to the build without a shared cache.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.files.user_cache import cache_folder
from tests.toolchain import stores
from tests.toolchain.unsteady import Behaviour, before

TARGETS = ("android", "ios", "react_native")
OWN = ("environments", "files", "bionic")
"""Folders of the user's cache that a machine has that has built before."""


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    time_s: float
    requests: int
    words: str
    """what mobpack says about the shared cache"""


@contextlib.contextmanager
def shared(folder: Path, *, is_s3: bool, delay_s: float) -> Iterator[tuple[str, Mapping[str, str], Behaviour]]:
    """Address, variables, and the proxy's count of requests."""
    behaviour = Behaviour(delay_s=delay_s)
    if not is_s3:
        yield str(folder / "shared"), {}, behaviour
        return
    with stores.s3(folder) as store, before(store.variables["AWS_ENDPOINT_URL"], behaviour) as address:
        clients = os.pathsep.join([str(stores.ROOT), str(stores.packages())])
        yield "s3://models/cache", {**store.variables, "AWS_ENDPOINT_URL": address, "PYTHONPATH": clients}, behaviour


def project(folder: Path, model: Path, targets: Sequence[str]) -> Path:
    """A new checkout."""
    folder.mkdir(parents=True)
    shutil.copyfile(model, folder / "model.onnx")
    tables = "".join(f"[target.{name}]\n" for name in targets)
    text = f'[package]\nname = "measured"\n[model.measured]\npath = "model.onnx"\n{tables}'
    (folder / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    return folder


def cache(folder: Path) -> Path:
    """An empty cache with what was installed before."""
    (folder / "mobpack").mkdir(parents=True)
    for name in OWN:
        (folder / "mobpack" / name).symlink_to(cache_folder() / name)
    return folder


def timed(
    name: str, place: Path, home: Path, arguments: Sequence[str], variables: Mapping[str, str]
) -> tuple[float, str]:
    """Seconds of a build, and its line about the shared cache."""
    known = {key: value for key, value in os.environ.items() if not key.startswith("MOBPACK_CACHE")}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", *arguments],
        cwd=place,
        env={**known, **variables, "XDG_CACHE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    took_s = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return took_s, next((line.strip() for line in done.stderr.splitlines() if line.startswith("  cache ")), "")


def rows(model: Path, targets: Sequence[str], folder: Path, *, is_s3: bool, delay_s: float) -> Iterator[Row]:
    with shared(folder, is_s3=is_s3, delay_s=delay_s) as (url, variables, behaviour):
        given = ("--cache", url)

        def row(name: str, home: Path, *arguments: str, place: Path | None = None) -> Row:
            behaviour.requests = 0
            where = place or project(folder / name.replace(" ", "-") / "checkout", model, targets)
            took_s, words = timed(name, where, home, arguments, variables)
            return Row(name=name, time_s=took_s, requests=behaviour.requests, words=words.partition(": ")[2])

        yield row("no shared cache", cache(folder / "cold"))
        yield row("sends to an empty one", cache(folder / "first"), *given)
        yield row("new machine", cache(folder / "second"), *given)
        yield row("new machine, --verify", cache(folder / "third"), *given, "--verify")
        yield row("unchanged", folder / "second", *given, place=folder / "new-machine" / "checkout")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--s3", action="store_true")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--delay", type=float, default=0.0, metavar="MS")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mobpack-shared-") as folder:
        found = list(
            rows(
                chosen.model,
                chosen.target or TARGETS,
                Path(folder),
                is_s3=chosen.s3,
                delay_s=chosen.delay / 1000,
            )
        )
    sys.stdout.write("| build | s | of the first | requests | |\n|---|---|---|---|---|\n")
    for each in found:
        share = each.time_s / found[0].time_s
        sys.stdout.write(f"| {each.name} | {each.time_s:.1f} | {share:.2f} | {each.requests} | {each.words} |\n")


if __name__ == "__main__":
    main()
