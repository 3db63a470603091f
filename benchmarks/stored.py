"""Cost of models that an APK compresses: `python -m benchmarks.stored MODEL...`.

Generated Kotlin loads each model on a desktop JVM, with ONNX Runtime's Android library: from an APK that stores the
model, as Android's Gradle plugin does because of its name, and from one that compresses it, so that the library copies
it. The figures of time are processor time of the calling thread, medians within one process; the files are in the
system's cache. Needs what the tests need that run generated Kotlin.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checking import NAME, TIMEOUT_S, library
from packager import models
from packager.compile.compile import compile_variant
from packager.core.values import baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from tests.toolchain import device

REPEATS = 7


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Megabytes on the device, and milliseconds of processor time."""

    apk: str
    apk_megabytes: float
    copied_megabytes: float
    first: float
    later: float


def costs(model: Path, folder: Path) -> Iterator[Cost]:
    described, store = models.load(model, NAME), Store(folder / "store")
    built = library(compile_variant(baseline(described), store), described, folder, store)
    for is_stored in (True, False):
        place = folder / ("stored" if is_stored else "compressed")
        place.mkdir()
        yield cost(device.device(built, place, is_stored=is_stored), place.name)


def cost(phone: device.Device, apk: str) -> Cost:
    found = phone.run("LoadTimes", providers="CPU", repeats=REPEATS, timeout_s=TIMEOUT_S).facts
    return Cost(
        apk=apk,
        apk_megabytes=phone.apk.stat().st_size / 1e6,
        copied_megabytes=sum(file.stat().st_size for file in phone.kept.rglob("*") if file.is_file()) / 1e6,
        first=float(found["first.ms"]),
        later=float(found["later.ms"]),
    )


def print_rows(model: Path, found: Sequence[Cost]) -> None:
    for each in found:
        sizes = f"{each.apk_megabytes:.1f} | {each.copied_megabytes:.1f}"
        print(f"| {model.stem} | {each.apk} | {sizes} | {each.first:.1f} | {each.later:.1f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    print("| model | in the APK | APK MB | copied MB | first load ms | later ms |\n|---|---|--:|--:|--:|--:|")
    for model in parser.parse_args().models:
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            print_rows(model, list(costs(model, Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
