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

from packager import models
from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Package, Plan, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.toolchain import device

NAME = "orientation"
"""the name that the app in tests/toolchain/apps loads"""
PACKAGE = Package(name="models", version="1.0.0", license="MIT")
REPEATS = 7
TIMEOUT_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Megabytes on the device, and milliseconds of processor time."""

    apk: str
    apk_megabytes: float
    copied_megabytes: float
    first: float
    later: float


def costs(model: Path, folder: Path) -> Iterator[Cost]:
    aar = library(model, folder)
    built = device.library(aar, folder, apps="LoadTimes")
    for is_stored in (True, False):
        place = folder / ("stored" if is_stored else "compressed")
        place.mkdir()
        yield cost(device.device(built, place, is_stored=is_stored), place.name)


def library(path: Path, folder: Path) -> Path:
    """The .aar of the model, for the CPU alone."""
    model, store = models.load(path, NAME), Store(folder / "store")
    compiled = compile_variant(baseline(model), store)
    plan = Plan(model=model, target=Android.NAME, choices=(Choice(provider="cpu", compiled=compiled, reason=""),))
    target = Android(providers=())
    view = target.view(PACKAGE, (plan,), Report(parities=()))
    return target.assemble(view, target.render(view), store)[0].path


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
