"""`mobpack device app`, `xcode` and `read`: devices that others operate, and their results."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from packager import __version__
from packager.core.console import Console
from packager.core.errors import ToolError
from packager.engines.runners import Pace
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.measuring.devices import comparing, gates, iphones
from packager.measuring.devices import package as packages
from packager.measuring.devices.adb import dexing
from packager.measuring.devices.comparing import DeviceBaseline
from packager.measuring.devices.document import DeviceDocument
from packager.measuring.devices.farms import collecting, results
from packager.measuring.devices.farms.app import FarmApp, FarmProgram, make_app
from packager.measuring.devices.farms.job import write_job
from packager.measuring.devices.gates import DeviceGate
from packager.measuring.devices.measuring import DeviceMethod
from packager.workflows.device.benching import method_of, numbered

ABIS = ("arm64-v8a", "armeabi-v7a", "x86_64", "x86")


@dataclass(frozen=True, kw_only=True)
class AppRequest:
    package: Path
    output: Path
    runtime: Path | None = None
    """library archive with another ONNX Runtime"""
    abis: tuple[str, ...] = ABIS[:2]
    """phones of farms have these; emulators the others"""
    rounds: int = 3
    threads: int = 0
    pace: Pace = field(default_factory=Pace)


def app(request: AppRequest, console: Console) -> tuple[FarmApp, tuple[str, ...]]:
    """Writes the app of a package for device farms; and the names of the models that it runs."""
    path = packages.find(request.package)
    store = Store(cache_folder() / "store")
    with store.in_use(), store.scratch() as scratch:
        (scratch / "package").mkdir()
        (scratch / "job").mkdir()
        with console.step(f"take {path.name} apart"):
            package = packages.read(path, request.runtime, scratch / "package")
        models = write_job(package, scratch / "job", pace=request.pace, rounds=request.rounds, threads=request.threads)
        java_package = dexing.java_package(package.runtime.classes)
        native = {
            abi: (*package.runtime.libraries[abi].values(), *package.libraries.get(abi, {}).values())
            for abi in request.abis
            if abi in package.abis
        }
        if not native:
            raise ToolError(
                f"{path.name} runs on {', '.join(package.abis)}, not on {', '.join(request.abis)}",
                hint="name others with --abi",
            )
        with console.step("make the app and its test"):
            program = FarmProgram(
                job=scratch / "job",
                jars=(package.classes, package.runtime.classes, *dexing.libraries(store)),
                driver=dexing.driver(package.runtime.classes, java_package, store),
                onnxruntime=java_package,
                native=native,
            )
            made = make_app(program, f"mobpack: {path.stem}", request.output)
    return made, models


def read(path: Path, wanted: Sequence[DeviceGate], baseline: DeviceBaseline | None, console: Console) -> DeviceDocument:
    """The results in a file, an archive or a folder that came back, as those of `mobpack device bench`.

    Raises ToolError if there are none, or some of another package.
    """
    collected = collect(path, console)
    found = [
        results.measured(each, serial)
        for each, serial in zip(collected.results, serials(collected.results), strict=True)
    ]
    packages_ = {each.package.sha256: each.package for each in found}
    if len(packages_) > 1:
        raise ToolError(
            f"{path} has results of several packages: {', '.join(sorted(each.file for each in packages_.values()))}",
            hint="read the results of each alone",
        )
    rows = numbered([row for each in found for row in each.rows])
    skipped = tuple(one for each in found for one in each.skipped)
    if not rows:
        reason = skipped[0].reason if skipped else "the package has no models"
        raise ToolError(f"nothing was timed: {reason}", hint="fix that, then run the app again")
    if any(each.is_search for each in found):
        console.say(f"these are the first rounds of a search: `mobpack tune --from {path}` evaluates it")
    devices = tuple(each.device for each in found)
    method = DeviceMethod(rounds=max(each.rounds for each in found), threads=found[0].threads, cool_down_s=0)
    compared = tuple(comparing.compared(devices, rows, baseline, method.threads)) if baseline else ()
    return DeviceDocument(
        schema_version=1,
        mobpack=__version__,
        is_partial=bool(collected.problems),
        package=next(iter(packages_.values())),
        method=method_of(method),
        devices=devices,
        rows=rows,
        skipped=skipped,
        baseline=baseline.name if baseline else "",
        comparisons=compared,
        failed_gates=tuple(gates.failures(wanted, devices, rows, compared)),
        verdicts=tuple(one for each in found for one in each.verdicts),
    )


def collect(path: Path, console: Console) -> collecting.Collected:
    """The results in a file, an archive, a folder, or a result bundle of Xcode's; says what is incomplete.

    Raises ToolError if there are none, or if a bundle cannot be opened here.
    """
    with ExitStack() as stack:
        place = path
        if path.suffix == iphones.BUNDLE and path.is_dir():
            place = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve() / "attachments"
            iphones.export_attachments(path, place)
        collected = collecting.collect(place)
    for problem in collected.problems:
        console.caution(problem)
    return collected


def serials(found: Sequence[collecting.CollectedDocument]) -> list[str]:
    """Names of the devices: their models, with numbers where several are alike."""
    seen: dict[str, int] = {}
    names = []
    for each in found:
        device = each.document.get("device")
        name = str(device.get("model") or "device") if isinstance(device, dict) else "device"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names
