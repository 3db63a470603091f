"""`mobpack device check`: compares what devices compute with the originals, and finds the node that differs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.core.findings import Failure, Parity, Report
from packager.core.values import Plan
from packager.engines.runners import Runner
from packager.files.store import Store
from packager.measuring.devices import Device, Link
from packager.measuring.devices import package as packages
from packager.measuring.devices.choosing import ChosenDevices, choose
from packager.measuring.devices.device_opening import Equipped
from packager.measuring.devices.document import DeviceEntry
from packager.measuring.devices.equipping import equip, equip_alone
from packager.measuring.devices.measuring import described
from packager.measuring.devices.package import AndroidRuntime, DevicePackage
from packager.measuring.devices.runner import device_runners
from packager.measuring.devices.shared_references import SharedReferences
from packager.render.pages.numbers import plural
from packager.verification.kept import refuse_other
from packager.verification.numbers import compare_all
from packager.workflows import bisect
from packager.workflows.bisect import Bisected
from packager.workflows.device.preparing import Bar, Wanted, absent_entries, failed, link, on_each
from packager.workflows.gates import keep_evidence, refuse_failed
from packager.workflows.planning import plan_all
from packager.workflows.requested import BuildRequest
from packager.workflows.shared_store import store_of

TARGET = "android"
DEVICE = "device"


@dataclass(frozen=True, kw_only=True)
class CheckedDevices:
    plans: tuple[Plan, ...]
    report: Report
    devices: tuple[DeviceEntry, ...]
    """all that were asked for, with the reason where one failed"""


@dataclass(frozen=True, kw_only=True)
class DeviceChecks:
    """The program that opens files on devices, and the devices."""

    link: Link
    chosen: ChosenDevices
    runtime: AndroidRuntime
    package: DevicePackage | None
    archives: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The comparisons of one device."""

    entry: DeviceEntry
    parities: tuple[Parity, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]


@dataclass
class Unprinted(Console):
    """Collects warnings, which are printed device by device once all are done."""

    quiet: bool = True

    def caution(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


@dataclass(frozen=True, kw_only=True)
class DeviceWork:
    """The work that is the same for every device."""

    config: Config
    plans: tuple[Plan, ...]
    wanted: Wanted
    program: DeviceChecks
    store: Store
    references: SharedReferences
    folder: Path
    evidence: Path


def check(config: Config, request: BuildRequest, wanted: Wanted, console: Console) -> CheckedDevices:
    """Compares every file that ships with its original, on all chosen devices at once with all providers: golden
    vectors' samples or the user's, with the tolerances of `mobpack check`. Evidence of failures goes to the folder of
    `request`.

    Nothing is judged yet. Raises ToolError if the only device cannot run anything.
    """
    refuse_other(request.rules.evidence)
    with (
        store_of(config, console) as store,
        store.in_use(),
        store.scratch() as scratch,
    ):
        plans = plan_all(config, (TARGET,), store, console).plans
        program = program_for(wanted, store, scratch, console)
        folder, evidence = scratch / "comparing", scratch / "evidence"
        folder.mkdir()
        evidence.mkdir()
        work = DeviceWork(
            config=config,
            plans=plans,
            wanted=wanted,
            program=program,
            store=store,
            references=SharedReferences(folder),
            folder=folder,
            evidence=evidence,
        )
        compared, entries = on_all(work, console)
        report = Report(
            kernels=(),
            parities=tuple(parity for each in compared for parity in each.parities),
            partitions=(),
            failures=tuple(failure for each in compared for failure in each.failures),
        )
        if report.failures:
            report = keep_evidence(plans, report, request.rules, console)
    return CheckedDevices(plans=plans, report=report, devices=entries)


def on_all(work: DeviceWork, console: Console) -> tuple[list[Compared], tuple[DeviceEntry, ...]]:
    """Comparisons of devices that can run something, in their order, and the entries of all. Raises the error of the
    project, if there is one, and KeyboardInterrupt if the user interrupts."""
    program = work.program
    devices = program.chosen.devices
    if len(devices) == 1:
        done, failures = on_each(devices, lambda device: on_device(work, device, console), program.link.halt)
    else:
        with console.progress(f"compare on {plural(len(devices), 'device')}") as show:
            bar = Bar(show)
            bar.add(len(devices))

            def counted(device: Device) -> Compared:
                found = on_device(work, device, Unprinted())
                bar.advance()
                return found

            done, failures = on_each(devices, counted, program.link.halt)
        for text in dict.fromkeys(text for _, each in done for text in each.warnings):
            console.warn(text)
    if program.link.halt.is_set():
        raise KeyboardInterrupt("no comparison was kept")
    for _, error in failures:
        if not isinstance(error, ToolError):  # it is the project's, not the device's
            raise error
    entries = {device.serial: each.entry for device, each in done}
    entries |= {device.serial: failed(device, error) for device, error in failures}
    listed = (*(entries[device.serial] for device in devices), *absent_entries(program.chosen.absent))
    return [each for _, each in done], listed


def on_device(work: DeviceWork, device: Device, console: Console) -> Compared:
    """Files that a device did not come to, because it went away, are skipped."""
    folder = work.folder / f"device-{work.program.chosen.devices.index(device)}"
    folder.mkdir()
    made = equipped(work.program, device, work.wanted, console)
    runners, losses = device_runners(made, providers(work.plans, work.wanted), shipped_files(work.plans))
    parities, failures, _ = compare_all(
        work.plans, work.config, work.references, work.store, console, folder, work.evidence, runners
    )
    entry = described(made)
    if losses:
        entry = replace(entry, state="failed", reason=losses[0])
    return Compared(entry=entry, parities=parities, failures=failures, warnings=tuple(console.warnings))


def bisected(
    config: Config, request: BuildRequest, wanted: Wanted, sides: tuple[str, str], console: Console
) -> tuple[Bisected, ...]:
    """Finds the first node where two sides diverge, one of which is `device:PROVIDER`. Raises ConfigError for other
    sides, and if several devices are meant."""
    refuse_other(request.rules.evidence)
    named = [side.removeprefix(f"{DEVICE}:") for side in sides if side.startswith(f"{DEVICE}:")]
    if not named:
        raise ConfigError(
            f"--bisect {' '.join(sides)}: no side is a device", hint="for example: --bisect cpu device:nnapi"
        )
    with (
        store_of(config, console) as store,
        store.in_use(),
        store.scratch() as scratch,
    ):
        program = program_for(wanted, store, scratch, console)
        if len(program.chosen.devices) != 1:
            raise ConfigError("--bisect runs on one device", hint="name one with --device")
        made = equipped(program, program.chosen.devices[0], wanted, console)
        runners, _ = device_runners(made, named)
        others: Mapping[str, Runner] = {f"{DEVICE}:{name}": runner for name, runner in zip(named, runners, strict=True)}
        return bisect.run(config, replace(request, targets=(TARGET,)), *sides, console, others)


def providers(plans: tuple[Plan, ...], wanted: Wanted) -> list[str]:
    """Providers that files ship for, the CPU last; or those that were asked for."""
    shipped = dict.fromkeys(choice.provider for plan in plans for choice in plan.choices)
    return list(wanted.providers or shipped)


def shipped_files(plans: tuple[Plan, ...]) -> frozenset[str]:
    """The sha256 of every file, which stay on the devices."""
    return frozenset(each.sha256 for plan in plans for each in plan.files)


def program_for(wanted: Wanted, store: Store, scratch: Path, console: Console) -> DeviceChecks:
    """The program, for all devices that are chosen. The classes and the library of a package that was built tell which
    provider takes which node; it is not needed."""
    joined = link()
    chosen = choose(joined, wanted.devices)
    folder = scratch / "runtime"
    folder.mkdir()
    package = None
    if wanted.package.exists():
        package = packages.read(packages.find(wanted.package), wanted.runtime, folder)
    runtime = package.runtime if package else packages.runtime_of(wanted.runtime, folder)
    with console.step("make the program for the devices"):
        archives = joined.archives([package.classes] if package else [], [runtime.classes], store)
    return DeviceChecks(link=joined, chosen=chosen, runtime=runtime, package=package, archives=archives)


def equipped(program: DeviceChecks, device: Device, wanted: Wanted, console: Console) -> Equipped:
    """Raises ToolError for a device that cannot run it."""
    with console.step(f"equip {device.name}"):
        if program.package:
            return equip(program.link, device, program.package, program.archives, timeout_s=wanted.timeout_s)
        return equip_alone(program.link, device, program.runtime, program.archives, timeout_s=wanted.timeout_s)


def judge(found: CheckedDevices) -> None:
    """Raises ParityError for a failed comparison, ModelError for a file that a device refuses, ToolError if
    nothing ran."""
    refuse_failed(found.report)
    refused = [each for each in found.report.parities if each.refusal]
    if refused:
        first = refused[0]
        raise ModelError(
            f"{first.label} refuses model '{first.model}' ({first.variant}, {first.style}): {first.refusal}",
            hint="leave the provider out of [target.android] providers, or ship another form of the model",
        )
    broken = [each for each in found.devices if each.state != "measured"]
    if broken:
        raise ToolError(
            f"device {broken[0].serial} is {broken[0].state}: {broken[0].reason}",
            hint="the results of the others are complete",
        )
    parities = found.report.parities
    if parities and all(each.skipped for each in parities):
        raise ToolError(f"nothing was compared: {parities[0].skipped}", hint="fix that, or name other providers")
