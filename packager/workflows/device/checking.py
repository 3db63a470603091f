"""`mobpack device check`: compares what devices compute with the originals, and finds the node that differs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ModelError, ToolError
from packager.core.findings import Report
from packager.core.values import Plan
from packager.devices import package as packages
from packager.devices.choosing import choose
from packager.devices.device_session import Equipped
from packager.devices.equipping import equip, equip_alone
from packager.devices.runner import device_runner
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.runners import Runner
from packager.verification.kept import refuse_other
from packager.verification.numbers import compare_all
from packager.verification.parity import References
from packager.workflows import bisect
from packager.workflows.bisect import Found
from packager.workflows.device.preparing import Wanted, link
from packager.workflows.gates import keep_evidence, refuse_failed
from packager.workflows.planning import plan_all
from packager.workflows.requested import Request

TARGET = "android"
DEVICE = "device"


@dataclass(frozen=True, kw_only=True)
class Checked:
    plans: tuple[Plan, ...]
    report: Report
    devices: tuple[str, ...]
    """names of the devices that ran"""
    broken: tuple[str, ...]
    """devices that could not, with the reason"""


def check(config: Config, request: Request, wanted: Wanted, console: Console) -> Checked:
    """Compares every file that ships with its original, on all chosen devices with all providers: golden vectors'
    samples or the user's, with the tolerances of `mobpack check`. Evidence of failures goes to the folder of `request`.

    Nothing is judged yet. Raises ToolError if no device can run anything.
    """
    refuse_other(request.rules.evidence)
    store = Store(cache_folder() / "store")
    with store.in_use(), store.scratch() as scratch:
        plans = plan_all(config, (TARGET,), store, console).plans
        shipped = frozenset(each.sha256 for plan in plans for each in plan.files)
        with equipped_all(wanted, store, scratch, console) as (devices, broken):
            runners = [
                device_runner(made, provider, shipped) for made in devices for provider in providers(plans, wanted)
            ]
            folder, evidence = scratch / "comparing", scratch / "evidence"
            folder.mkdir()
            evidence.mkdir()
            parities, failures, _ = compare_all(
                plans, config, References(folder), store, console, folder, evidence, runners
            )
        report = Report(kernels=(), parities=parities, partitions=(), failures=failures)
        if failures:
            report = keep_evidence(plans, report, request.rules, console)
    names = tuple(each.device.name for each in devices)
    return Checked(plans=plans, report=report, devices=names, broken=broken)


def bisected(
    config: Config, request: Request, wanted: Wanted, sides: tuple[str, str], console: Console
) -> tuple[Found, ...]:
    """Finds the first node where two sides diverge, one of which is `device:PROVIDER`. Raises ConfigError for other
    sides, and if several devices are meant."""
    refuse_other(request.rules.evidence)
    named = [side.removeprefix(f"{DEVICE}:") for side in sides if side.startswith(f"{DEVICE}:")]
    if not named:
        raise ConfigError(
            f"--bisect {' '.join(sides)}: no side is a device", hint="for example: --bisect cpu device:nnapi"
        )
    store = Store(cache_folder() / "store")
    with store.in_use(), store.scratch() as scratch, equipped_all(wanted, store, scratch, console) as (devices, _):
        if len(devices) != 1:
            raise ConfigError("--bisect runs on one device", hint="name one with --device")
        others: Mapping[str, Runner] = {
            f"{DEVICE}:{provider}": device_runner(devices[0], provider) for provider in named
        }
        return bisect.run(config, replace(request, targets=(TARGET,)), *sides, console, others)


def providers(plans: tuple[Plan, ...], wanted: Wanted) -> list[str]:
    """Those that files ship for, the CPU last; or those that were asked for."""
    shipped = dict.fromkeys(choice.provider for plan in plans for choice in plan.choices)
    return list(wanted.providers or shipped)


@contextmanager
def equipped_all(
    wanted: Wanted, store: Store, scratch: Path, console: Console
) -> Iterator[tuple[tuple[Equipped, ...], tuple[str, ...]]]:
    """The devices with the program, and why others have it not. The classes and the library of a package that was built
    tell which provider takes which node; it is not needed. Raises the failure of the only device."""
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
    devices: list[Equipped] = []
    failures: list[MobpackError] = []
    for device in chosen.devices:
        try:
            with console.step(f"equip {device.name}"):
                devices.append(
                    equip(joined, device, package, archives, timeout_s=wanted.timeout_s)
                    if package
                    else equip_alone(joined, device, runtime, archives, timeout_s=wanted.timeout_s)
                )
        except MobpackError as error:
            failures.append(error)
    if not devices:
        raise failures[0]
    absent = [f"{each.serial} is {each.state}: {each.advice}" for each in chosen.absent]
    yield tuple(devices), (*(each.message for each in failures), *absent)


def judge(found: Checked) -> None:
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
    if found.broken:
        raise ToolError(found.broken[0], hint="the results of the others are complete")
    parities = found.report.parities
    if parities and all(each.skipped for each in parities):
        raise ToolError(f"nothing was compared: {parities[0].skipped}", hint="do as it says, or name other providers")
