"""`mobpack device bench`: times what ships on devices, all devices at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager import __version__
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, MobpackError, ToolError
from packager.files.atomic import atomic_file
from packager.measuring.bench.statistics import CONFIDENCE
from packager.measuring.devices import Device, GoneError, comparing, gates
from packager.measuring.devices.comparing import DeviceBaseline
from packager.measuring.devices.device_opening import Equipped
from packager.measuring.devices.document import DeviceDocument, DeviceRow, MethodEntry, NotMeasured, Verdict
from packager.measuring.devices.gates import DeviceGate
from packager.measuring.devices.measuring import DeviceMethod, MeasuredDevice, measure
from packager.measuring.devices.proving import prove
from packager.measuring.devices.rows import DeviceContender
from packager.measuring.devices.samples import sample_of
from packager.render.pages import parts
from packager.render.pages.numbers import plural
from packager.workflows.device.preparing import (
    Bar,
    Ready,
    Wanted,
    absent_entries,
    equipped,
    failed,
    models_of,
    on_each,
    providers_of,
    ready,
)


@dataclass(frozen=True, kw_only=True)
class DeviceBenchRequest:
    wanted: Wanted
    method: DeviceMethod = field(default_factory=DeviceMethod)
    sample: Path | None = None
    """the user's inputs, .npz keyed by input name; None for the package's own"""
    gates: tuple[DeviceGate, ...] = ()
    baseline: DeviceBaseline | None = None


def bench(request: DeviceBenchRequest, console: Console) -> DeviceDocument:
    """Times the models of a package on all chosen devices at once.

    Raises ToolError if nothing could be timed; devices that fail or go away are in the results with the reason.
    """
    with ready(request.wanted, console) as found:
        devices = found.chosen.devices
        with console.progress(f"time on {plural(len(devices), 'device')}") as show:
            bar = Bar(show)
            done, failures = on_each(devices, lambda device: _on_device(found, device, request, bar), found.link.halt)
        entries = {device.serial: measured.device for device, measured in done}
        entries |= {device.serial: failed(device, error) for device, error in failures}
        rows = numbered([row for _, measured in done for row in measured.rows])
        skipped = tuple(each for _, measured in done for each in measured.skipped)
        if not rows:
            if found.link.halt.is_set():
                raise KeyboardInterrupt("no round was complete")
            raise _nothing(failures, skipped)
        listed = (*(entries[device.serial] for device in devices), *absent_entries(found.chosen.absent))
        compared = (
            tuple(comparing.compared(listed, rows, request.baseline, request.method.threads))
            if request.baseline
            else ()
        )
        return DeviceDocument(
            schema_version=1,
            mobpack=__version__,
            is_partial=any(each.state == "failed" for each in listed),
            package=found.entry,
            method=method_of(request.method),
            devices=listed,
            rows=rows,
            skipped=skipped,
            baseline=request.baseline.name if request.baseline else "",
            comparisons=compared,
            verdicts=tuple(each for _, measured in done for each in measured.verdicts),
            failed_gates=tuple(gates.failures(request.gates, listed, rows, compared)),
        )


def _on_device(found: Ready, device: Device, request: DeviceBenchRequest, bar: Bar) -> MeasuredDevice:
    made = equipped(found, device, request.wanted, Console(quiet=True))
    folder = found.scratch / f"device-{found.chosen.devices.index(device)}"
    folder.mkdir()
    contenders: list[DeviceContender] = []
    lacking: list[NotMeasured] = []
    for model in models_of(found, made, request.wanted, folder):
        try:
            sample = sample_of(found.package, model, request.sample, folder)
        except ConfigError as error:
            if request.sample:
                raise
            lacking += [
                NotMeasured(device=device.serial, model=model.name, provider=provider, reason=error.message)
                for provider in providers_of(model, request.wanted)
            ]
            continue
        for provider in providers_of(model, request.wanted):
            own = folder / f"{len(contenders)}"
            own.mkdir()
            contenders.append(DeviceContender(model=model, provider=provider, sample=sample, folder=own))
    bar.add(len(contenders) * request.method.rounds)
    measured = measure(made, contenders, request.method, bar.advance)
    verdicts = _verdicts(made, contenders) if measured.device.state == "measured" else ()
    return replace(measured, skipped=(*measured.skipped, *lacking), verdicts=verdicts)


def _verdicts(made: Equipped, contenders: Sequence[DeviceContender]) -> tuple[Verdict, ...]:
    """The proofs of a device that was measured; those that it made until it went away, if it does."""
    found: list[Verdict] = []
    try:
        for each in contenders:
            found += prove(made, each.model, each.provider, each.folder)
    except GoneError:
        pass
    return tuple(found)


def numbered(rows: Sequence[DeviceRow]) -> tuple[DeviceRow, ...]:
    """The rows of several devices, with numbers of their own."""
    return tuple(replace(each, row=replace(each.row, number=number)) for number, each in enumerate(rows, 1))


def _nothing(failures: Sequence[tuple[Device, MobpackError]], skipped: Sequence[NotMeasured]) -> MobpackError:
    if failures:
        return failures[0][1]
    reason = f"{skipped[0].model} with {skipped[0].provider}: {skipped[0].reason}" if skipped else "it has no model"
    return ToolError(f"nothing could be timed: {reason}", hint="fix that, or name other providers")


def method_of(method: DeviceMethod) -> MethodEntry:
    """The entry that says how times were taken."""
    return MethodEntry(
        threads=method.threads,
        rounds=method.rounds,
        seconds=method.pace.seconds,
        runs=method.pace.runs,
        warm_up_seconds=method.pace.warm_up_seconds,
        cool_down_s=method.cool_down_s,
        confidence=CONFIDENCE,
    )


def write_report(path: Path, found: DeviceDocument) -> None:
    """Writes the results as a page at `path`, and as JSON beside it. Raises ToolError if they cannot be written."""
    from packager.measuring.bench.writing import in_lines
    from packager.measuring.devices import page

    parts.write(path, page.page(found))
    with atomic_file(path.with_suffix(".json")) as file:
        file.write(in_lines(found).encode())


def judge(found: DeviceDocument) -> None:
    """Raises GateError for gates that were not met, ToolError for a device that failed."""
    if found.failed_gates:
        first, *others = found.failed_gates
        more = f"; {plural(len(others), 'gate')} more failed" if others else ""
        raise GateError(f"--fail-on {first}{more}", hint="see the measurements and their noise in the table")
    broken = [each for each in found.devices if each.state != "measured"]
    if broken:
        raise ToolError(
            f"device {broken[0].serial} is {broken[0].state}: {broken[0].reason}",
            hint="the results of the others are complete",
        )
