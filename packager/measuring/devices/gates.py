"""Gates on what devices measure: `--fail-on p90=12ms@SM8650`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from packager.core.errors import ConfigError
from packager.measuring.bench import gates as bench_gates
from packager.measuring.bench.document import ComparisonEntry
from packager.measuring.bench.gates import Gate
from packager.measuring.devices.choosing import matches, refuse_malformed
from packager.measuring.devices.document import DeviceEntry, DeviceRow
from packager.measuring.devices.link import Device
from packager.providers import PROVIDERS


@dataclass(frozen=True, kw_only=True)
class DeviceGate:
    text: str
    """as given"""
    gate: Gate
    """for all providers; `provider` says for which"""
    provider: str = ""
    device: str = ""
    """pattern; empty for every device"""


def parse(texts: Iterable[str], *, has_baseline: bool) -> tuple[DeviceGate, ...]:
    """`p90=12ms`, `p90@nnapi=12ms`, `p90=12ms@SM8650`, `slower@SM8650`. Raises ConfigError for anything else."""
    return tuple(_parsed(text.strip(), has_baseline=has_baseline) for text in texts)


def _parsed(text: str, *, has_baseline: bool) -> DeviceGate:
    head, at, device = text.rpartition("@")
    if not at or ("=" in device and "=" not in head):  # `p90@nnapi=12ms`
        head, device = text, ""
    (gate,) = bench_gates.parse((head,), has_baseline=has_baseline)
    if device:
        refuse_malformed((device,))
    if gate.runner and gate.runner not in ("cpu", *PROVIDERS):
        raise ConfigError(
            f"--fail-on {text}: unknown provider '{gate.runner}'", hint="a device stands at the end: p90=12ms@SM8650"
        )
    plain = Gate(text=text, name=gate.name, limit=gate.limit)
    return DeviceGate(text=text, gate=plain, provider=gate.runner, device=device)


def failures(
    gates: Sequence[DeviceGate],
    devices: Sequence[DeviceEntry],
    rows: Sequence[DeviceRow],
    comparisons: Sequence[ComparisonEntry],
) -> Iterator[str]:
    """Sentences about gates that are not met, or that nothing was measured for."""
    for gate in gates:
        serials = {each.serial for each in devices if not gate.device or matches(_device(each), gate.device)}
        own = [each.row for each in rows if each.device in serials and gate.provider in ("", each.provider)]
        if own:
            yield from bench_gates.failures((gate.gate,), own, comparisons)
        else:
            where = " ".join(filter(None, (gate.provider, f"on {gate.device}" if gate.device else "")))
            yield f"{gate.text}: nothing was measured {where or 'at all'}"


def _device(each: DeviceEntry) -> Device:
    return Device(
        serial=each.serial,
        maker=each.maker,
        model=each.model,
        soc=each.soc,
        api=each.api,
        release=each.release,
        abis=(each.abi,) if each.abi else (),
        fingerprint=each.fingerprint,
    )
