"""Results of devices in words, for the terminal and the page."""

from collections.abc import Iterator, Sequence

from packager.core.console import size
from packager.core.findings import Parity
from packager.measuring.bench.words import compared, digits, duration, median_of
from packager.measuring.devices.conditions import fastest
from packager.measuring.devices.device_answers import Assigned
from packager.measuring.devices.document import (
    DeviceDocument,
    DeviceEntry,
    DeviceRow,
    TestDocument,
    TestRow,
    Verdict,
)
from packager.measuring.devices.measuring import disturbances
from packager.render.pages.numbers import plural

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
COLUMNS = ("#", "model", "provider", "p50", "p90", "p99", "first", "load", "cold", "PSS", "nodes", "x CPU")
TEST_COLUMNS = ("model", "provider", "result", "largest error", "nodes")
PARITY_COLUMNS = ("model", "file", "runner", "result", "largest error", "allowed", "nodes")
LEAST_ERROR = 0.05
"""Share of the outputs' scale from which a row gets a warning."""


def name_of(device: DeviceEntry) -> str:
    known = (device.soc, f"API {device.api}" if device.api else "", device.serial)
    facts = ", ".join(each for each in known if each and each != device.model)
    return f"{device.model} ({facts})" if device.model and facts else device.model or device.serial


def tables(found: DeviceDocument) -> Iterator[Table]:
    for device in found.devices:
        rows = [row for row in found.rows if row.device == device.serial]
        if rows:
            yield name_of(device), COLUMNS, [cells(row) for row in rows]
    yield from verdict_tables(found.devices, found.verdicts)
    if found.comparisons:
        named = {row.row.number: row.row for row in found.rows}
        columns = ("#", "file", "where", "before", "now", "times", "99 % of it", "verdict")
        lines = [compared(named[each.number], each) for each in found.comparisons]
        yield f"Compared with {found.baseline}", columns, lines


def cells(each: DeviceRow) -> list[str]:
    row = each.row
    return [
        str(row.number),
        row.model,
        each.provider,
        median_of(row),
        duration(row.p90_ms),
        "-" if row.p99_ms is None else duration(row.p99_ms),
        duration(each.first_run_ms),
        "-" if row.load_ms is None else duration(row.load_ms),
        duration(each.cold_load_ms),
        "-" if each.pss_bytes is None else size(each.pss_bytes),
        nodes_of(each.assigned, each.provider),
        f"{row.ratio:.2f}",
    ]


def nodes_of(assigned: Sequence[Assigned] | None, provider: str) -> str:
    """`36 of 109`; `?` where ONNX Runtime does not tell."""
    if assigned is None:
        return "?"
    own = sum(each.nodes for each in assigned if each.provider.lower().startswith(provider))
    return f"{own} of {sum(each.nodes for each in assigned)}"


def notes(found: DeviceDocument) -> Iterator[str]:
    for each in found.rows:
        row = each.row
        parts = [row.about, row.file, f"{row.runs} runs in {len(row.rounds)} rounds"]
        parts.append(f"{digits(row.items_per_second)} items per s")
        if row.outliers:
            parts.append(f"{plural(row.outliers, 'outlier')}, the slowest {duration(row.slowest_ms)}")
        if row.peak_bytes:
            parts.append(f"at most {size(row.peak_bytes)} of memory")
        if each.mapped_bytes:
            parts.append(f"{size(each.mapped_bytes)} of it mapped")
        parts += [f"skipped: {reason}" for reason in each.skipped]
        yield f"#{row.number} {'; '.join(parts)}"
    for skipped in found.skipped:
        yield f"skipped: {skipped.model} with {skipped.provider} on {skipped.device}: {skipped.reason}"
    yield from device_notes(found.devices)


def device_notes(devices: Sequence[DeviceEntry]) -> Iterator[str]:
    for each in devices:
        if each.reason:
            yield f"{name_of(each)}: {each.state}: {each.reason}"
        if each.before:
            yield f"{name_of(each)}: {'; '.join(_state(each))}"
        for reason in each.skipped:
            yield f"{name_of(each)}: skipped: {reason}"


def _state(each: DeviceEntry) -> Iterator[str]:
    first, last = each.before, each.after or each.before
    assert first
    assert last
    if first.battery_temperature_c is not None and last.battery_temperature_c is not None:
        yield f"battery {first.battery_temperature_c:.1f} to {last.battery_temperature_c:.1f} °C"
    if first.battery_level is not None:
        yield f"{first.battery_level} % charged"
    if first.thermal_status is not None and last.thermal_status is not None:
        yield f"thermal status {first.thermal_status} to {last.thermal_status}"
    if first.clocks:
        core = fastest(first.clocks)
        then = f", then {fastest(last.clocks).mhz}" if last.clocks else ""
        yield f"fastest core at {core.mhz}{then} of {core.max_mhz} MHz, governor {core.governor}"
    if each.charge_used_uah is not None:
        yield f"{each.charge_used_uah} µAh used"
    if each.waited_s:
        yield f"cooled down for {each.waited_s:g} s"
    if each.reconnects:
        yield f"was gone and came back {each.reconnects} times"


def warnings(found: DeviceDocument) -> Iterator[str]:
    if found.is_partial:
        yield "some rounds are missing: a device failed, or the measurement was interrupted"
    for device in found.devices:
        for text in disturbances(device):
            yield f"{name_of(device)}: {text}"
    for each in found.rows:
        row = each.row
        if row.is_noisy:
            yield f"#{row.number} is noisy: medians of its rounds differ by a tenth or more"
        if row.differs or (row.error or 0.0) > LEAST_ERROR:
            words = "has other outputs" if row.differs else f"is off by {row.error:.2g} of its scale"
            yield f"#{row.number} {words}: mobpack device check shows where"


def test_tables(found: TestDocument) -> Iterator[Table]:
    for device in found.devices:
        rows = [row for row in found.rows if row.device == device.serial]
        if rows:
            yield (
                name_of(device),
                ("model", "provider", "result", "largest error", "nodes"),
                [test_cells(row) for row in rows],
            )
    yield from verdict_tables(found.devices, found.verdicts)


def verdict_tables(devices: Sequence[DeviceEntry], verdicts: Sequence[Verdict]) -> Iterator[Table]:
    """Models and providers below each other, devices beside each other."""
    if not verdicts:
        return
    known = {(each.model, each.provider, each.device): each for each in verdicts}
    lines = dict.fromkeys((each.model, each.provider) for each in verdicts)
    shown = [each for each in devices if any(each.serial == verdict.device for verdict in verdicts)]
    rows = [[*line, *(verdict_of(known.get((*line, each.serial))) for each in shown)] for line in lines]
    yield "Proofs by the package, as in an app", ("model", "provider", *map(name_of, shown)), rows


def verdict_of(verdict: Verdict | None) -> str:
    """`proved`, or why the package leaves the provider out; empty without a verdict."""
    return "" if verdict is None else "proved" if verdict.is_proved else verdict.reason


def test_cells(row: TestRow) -> list[str]:
    if not row.outputs:
        return [row.model, row.provider, "skipped", row.reason, ""]
    worst = max(row.outputs, key=lambda each: (bool(each.failure), each.max_rel_error))
    error = worst.failure or f"{worst.max_rel_error:.1e} of its scale in {worst.name}"
    return [row.model, row.provider, "passed" if row.passed else "FAILED", error, nodes_of(row.assigned, row.provider)]


def parity_cells(each: Parity) -> list[str]:
    """A comparison on a device, as a row."""
    place = f"{each.style} {each.sha256[:8]}"
    if each.skipped or each.refusal:
        return [
            each.model,
            place,
            each.label,
            "refused" if each.refusal else "skipped",
            each.skipped or each.refusal,
            "",
            "",
        ]
    worst = max((output.max_rel_error for output in each.outputs), default=0.0)
    nodes = "?" if each.placed is None else f"{each.placed} of {each.node_count}"
    result = "FAILED" if each.has_failed else "passed"
    return [each.model, place, each.label, result, f"{worst:.1e}", f"{each.tolerance:g}", nodes]
