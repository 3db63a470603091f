"""`mobpack device self-test`: the packages' own tests, by their own code, on devices."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from packager import __version__
from packager.core.console import Console
from packager.core.errors import ModelError, ParityError, ToolError
from packager.measuring.devices import Device, GoneError
from packager.measuring.devices.device_answers import PackagedModel
from packager.measuring.devices.device_opening import Equipped, of_package
from packager.measuring.devices.device_session import DeviceSession
from packager.measuring.devices.document import DeviceEntry, TestDocument, TestRow, Verdict
from packager.measuring.devices.measuring import INTERRUPTED, described
from packager.measuring.devices.proving import prove
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


def self_test(wanted: Wanted, console: Console) -> TestDocument:
    """Lets every model test itself on every device with every provider that starts there.

    Raises ToolError if nothing could be tested.
    """
    with ready(wanted, console) as found:
        devices = found.chosen.devices
        with console.progress(f"test on {plural(len(devices), 'device')}") as show:
            bar = Bar(show)
            work = partial(_on_device, found, wanted=wanted, bar=bar)
            done, failures = on_each(devices, work, found.link.halt)
        entries = {device.serial: entry for device, (entry, _, _) in done}
        entries |= {device.serial: failed(device, error) for device, error in failures}
        return TestDocument(
            schema_version=1,
            mobpack=__version__,
            package=found.entry,
            devices=(
                *(entries[device.serial] for device in devices),
                *absent_entries(found.chosen.absent),
            ),
            rows=tuple(row for _, (_, rows, _) in done for row in rows),
            verdicts=tuple(each for _, (_, _, verdicts) in done for each in verdicts),
        )


Tested = tuple[DeviceEntry, tuple[TestRow, ...], tuple[Verdict, ...]]


def _on_device(found: Ready, device: Device, *, wanted: Wanted, bar: Bar) -> Tested:
    """The rows of a device that goes away, or on which the user interrupts, are those that it had until then."""
    made = equipped(found, device, wanted, Console(quiet=True))
    folder = found.scratch / f"device-{found.chosen.devices.index(device)}"
    folder.mkdir()
    rows: list[TestRow] = []
    verdicts: list[Verdict] = []
    try:
        models = models_of(found, made, wanted, folder)
        tests = [(model, provider) for model in models for provider in providers_of(model, wanted)]
        bar.add(len(tests))
        for model, provider in tests:
            rows.append(_tested(made, model, provider, folder))
            verdicts += prove(made, model, provider, folder)
            bar.advance()
    except (GoneError, KeyboardInterrupt) as error:
        if not rows:
            raise
        reason = error.message if isinstance(error, GoneError) else INTERRUPTED
        return replace(described(made), state="failed", reason=reason), tuple(rows), tuple(verdicts)
    return described(made), tuple(rows), tuple(verdicts)


def _tested(made: Equipped, model: PackagedModel, provider: str, folder: Path) -> TestRow:
    """Raises GoneError for a device that goes away."""
    known = TestRow(device=made.device.serial, model=model.name, provider=provider, passed=False, reason="")
    if not model.tests_itself:
        return replace(known, reason="the package has no samples of it")
    data = f"{made.storage.home}/data/{model.class_name}.{provider}"
    try:
        made.storage.done(f"mkdir -p {data}")
        with DeviceSession(made, of_package(made, model.class_name, provider, data), folder) as session:
            if session.opened.provider != provider:
                why = "; ".join(session.opened.fallbacks) or f"{session.opened.provider} started in its place"
                return replace(known, reason=why)
            outputs = session.self_test()
            passed = all(not each.failure for each in outputs)
            return replace(known, passed=passed, outputs=outputs, assigned=session.opened.assigned)
    except GoneError:
        raise
    except (ModelError, ToolError) as error:
        return replace(known, reason=error.message)


def judge(found: TestDocument) -> None:
    """Raises ParityError for a test that failed, ToolError for devices that failed or if nothing was tested."""
    wrong = [row for row in found.rows if row.outputs and not row.passed]
    if wrong:
        first = wrong[0]
        output = next(each for each in first.outputs if each.failure)
        more = f"; {len(wrong) - 1} more failed" if len(wrong) > 1 else ""
        raise ParityError(
            f"{first.model} with {first.provider} on {first.device}: {output.name}, sample {output.sample}: "
            f"{output.failure}{more}",
            hint=f"find the node: mobpack device check --device {first.device} --bisect cpu device:{first.provider}",
        )
    if not any(row.outputs for row in found.rows):
        reasons = [row.reason for row in found.rows if row.reason] + [each.reason for each in found.devices]
        raise ToolError(
            f"nothing was tested: {next(filter(None, reasons), 'no model')}", hint="fix that, then run again"
        )
    broken = [each for each in found.devices if each.state != "measured"]
    if broken:
        raise ToolError(f"device {broken[0].serial} is {broken[0].state}: {broken[0].reason}", hint="then run again")
