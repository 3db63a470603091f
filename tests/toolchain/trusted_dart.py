"""A program in Dart whose model is loaded with every list of `tests/cases/trust_vectors.py`."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.flutter.view import AssetView, FlutterView
from tests.cases.trust_vectors import write_lists
from tests.delivery_drivers.dart import NAME, program
from tests.toolchain import trusted
from tests.toolchain.dart import dart

Facts = Mapping[str, Mapping[str, Any]]


def view(folder: Path, package: Package = trusted.PACKAGE) -> FlutterView:
    """The package with a file for the CPU, and one for XNNPACK whose weights are in another file."""
    target = Android(providers=("xnnpack",))
    plans = (trusted.plan(folder, Store(cache_folder() / "store"), "android", "xnnpack"),)
    report = Report(parities=())
    built = target.built(target.view(package, plans, report), plans)
    return Flutter().view(package, {"android": built}, report)


def file_of_cpu(view: FlutterView) -> AssetView:
    """The file that programs on this machine open."""
    [model] = view.names.models
    [setup] = model.setups
    [found] = (each.asset for each in setup.files if "cpu" in each.providers)
    return found


def archive(view: FlutterView, folder: Path) -> Path:
    target = Flutter()
    (made,) = target.assemble(view, target.render(view), Store(folder / "store"))
    return made.path


def ran(app: Path, *arguments: str | Path, mounts: tuple[Path, ...]) -> Facts:
    """Runs a program that prints a line of JSON for each case, and gives them by their names."""
    library = dart().onnxruntime()
    done = dart().run(
        [app / "App", library, *arguments], cwd=app, mounts={str(each): each for each in (library.parent, *mounts)}
    )
    assert done.returncode == 0, done.output
    return {each["case"]: each for each in map(json.loads, done.output.splitlines())}


def answers(folder: Path) -> Facts:
    """The answers to each list by its number, and how long a check takes (`milliseconds`)."""
    made = view(folder)
    app = program(archive(made, folder), folder / "program", "trust.dart")
    models = app / "data" / "flutter_assets" / "packages" / NAME / "models"
    digests = {name: sha256_of(file) for name, file in made.files.items()}
    lists, own, stranger, by_digest = (folder / name for name in ("lists", "own.ort", "stranger.ort", "by digest"))
    write_lists(lists, digests, trusted.PACKAGE)
    cpu = file_of_cpu(made)
    shutil.copy(made.files[cpu.name], own)
    stranger.write_bytes(own.read_bytes() + b"\0")
    by_digest.mkdir()
    shutil.copy(own, by_digest / cpu.sha256)
    return ran(app, lists, models, own, stranger, by_digest, cpu.name, mounts=(folder,))
