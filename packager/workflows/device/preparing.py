"""The beginning of all commands for devices: the devices, the package, and the program in the devices' form."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from packager.core.console import Console, size
from packager.core.errors import MobpackError, ToolError
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.measuring.devices import LINKS, Device, Link
from packager.measuring.devices import package as packages
from packager.measuring.devices.choosing import Absent, ChosenDevices, choose
from packager.measuring.devices.device_answers import PackagedModel
from packager.measuring.devices.device_opening import ANSWER_S, Equipped
from packager.measuring.devices.device_session import describe
from packager.measuring.devices.document import DeviceEntry, PackageEntry
from packager.measuring.devices.equipping import equip
from packager.measuring.devices.measuring import INTERRUPTED
from packager.measuring.devices.package import DevicePackage

HALT_S = 30.0
"""Longest wait for devices after an interruption: they end what they run, and remove its files."""
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Options that all commands for devices have."""

    package: Path
    devices: tuple[str, ...] = ()
    """patterns"""
    providers: tuple[str, ...] = ()
    """empty for all of the package"""
    models: tuple[str, ...] = ()
    """empty for all of the package"""
    runtime: Path | None = None
    """library archive with another ONNX Runtime"""
    timeout_s: float = ANSWER_S


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A package and the devices that it runs on."""

    link: Link
    chosen: ChosenDevices
    package: DevicePackage
    archives: tuple[Path, ...]
    store: Store
    scratch: Path

    @property
    def entry(self) -> PackageEntry:
        return PackageEntry(file=self.package.path.name, sha256=self.package.sha256, runtime=self.package.runtime.words)


def link() -> Link:
    """The link to devices. Raises ToolError if its program is missing."""
    (made,) = LINKS.values()
    return made()


@contextmanager
def ready(wanted: Wanted, console: Console, over: Link | None = None) -> Iterator[Ready]:
    """Chooses the devices, takes the package apart, and makes the program; files of the block are removed after it.
    Several packages that are used at once share the link `over`, and so its interruption."""
    path = packages.find(wanted.package)
    joined = over or link()
    chosen = choose(joined, wanted.devices)
    store = Store(cache_folder() / "store")
    with store.in_use(), store.scratch() as scratch:
        folder = scratch / "package"
        folder.mkdir()
        with console.step(f"take {path.name} apart"):
            package = packages.read(path, wanted.runtime, folder)
        with console.step("make the program for the devices"):
            archives = joined.archives([package.classes], [package.runtime.classes], store)
        yield Ready(link=joined, chosen=chosen, package=package, archives=archives, store=store, scratch=scratch)


def equipped(found: Ready, device: Device, wanted: Wanted, console: Console) -> Equipped:
    """Raises ToolError for a device that cannot run the package."""
    with console.step(f"copy {found.package.path.name} to {device.name}") as say:
        made = equip(found.link, device, found.package, found.archives, timeout_s=wanted.timeout_s)
        say(size(made.copied_bytes))
    return made


def models_of(found: Ready, made: Equipped, wanted: Wanted, folder: Path) -> tuple[PackagedModel, ...]:
    """The models of the package that are wanted. Raises ToolError for names that it does not have."""
    known = describe(made, found.package.class_names, folder)
    names = {each.name for each in known}
    if unknown := [name for name in wanted.models if name not in names]:
        raise ToolError(f"the package has no model '{unknown[0]}'", hint=f"known: {', '.join(sorted(names))}")
    return tuple(each for each in known if not wanted.models or each.name in wanted.models)


def providers_of(model: PackagedModel, wanted: Wanted) -> list[str]:
    """The CPU first: others are compared with it."""
    chosen = wanted.providers or model.providers
    return sorted(dict.fromkeys(chosen), key=lambda name: (name != "cpu", chosen.index(name)))


def on_each(
    devices: Sequence[Device], work: Callable[[Device], Result], halt: threading.Event
) -> tuple[list[tuple[Device, Result]], list[tuple[Device, MobpackError]]]:
    """Does `work` on all devices at once: results, and failures, each in the order of `devices`. Raises the failure of
    the only device.

    When the user interrupts, `halt` is set, on which `work` should end, and what was not done is a failure.
    """
    outcomes: dict[str, Result | BaseException] = {}
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()
    started: list[threading.Thread] = []

    def tried(device: Device) -> None:
        try:
            outcomes[device.serial] = work(device)
        except BaseException as error:  # is raised or reported in the main thread
            outcomes[device.serial] = error
        finally:
            ended.put(None)

    def wait(longest_s: float) -> None:
        """Waits for all threads, in short steps: some systems notice an interruption between them alone. Not by
        `Thread.join`: Python 3.11 takes a thread for ended whose `join` was interrupted."""
        end = time.monotonic() + longest_s
        while len(outcomes) < len(started) and time.monotonic() < end:
            with suppress(queue.Empty):
                ended.get(timeout=0.1)

    try:
        for device in devices:
            thread = threading.Thread(target=tried, args=(device,), daemon=True)
            thread.start()
            started.append(thread)
        wait(float("inf"))
    except KeyboardInterrupt:
        halt.set()
        wait(HALT_S)
    done: list[tuple[Device, Result]] = []
    failures: list[tuple[Device, MobpackError]] = []
    for device in devices:
        outcome = outcomes.get(device.serial, KeyboardInterrupt())
        if isinstance(outcome, KeyboardInterrupt):
            failures.append((device, ToolError(INTERRUPTED, hint="run again")))
        elif isinstance(outcome, MobpackError):
            failures.append((device, outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            done.append((device, outcome))
    if len(devices) == 1 and failures and not halt.is_set():
        raise failures[0][1]
    return done, failures


def is_interrupted(devices: Sequence[DeviceEntry]) -> bool:
    """Whether the user has interrupted the work on one of `devices`."""
    return any(each.reason.startswith(INTERRUPTED) for each in devices)


class Bar:
    """Progress of all devices together."""

    def __init__(self, show: Callable[[int, int], None]) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._done = self._total = 0

    def add(self, count: int) -> None:
        with self._lock:
            self._total += count

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            self._show(self._done, self._total)


def failed(device: Device, error: MobpackError) -> DeviceEntry:
    """The entry of a device on which nothing could be done."""
    return DeviceEntry(
        serial=device.serial,
        state="failed",
        reason=f"{error.message} ({error.hint})" if error.hint else error.message,
        maker=device.maker,
        model=device.model,
        soc=device.soc,
        api=device.api,
        release=device.release,
        abi=device.abis[0] if device.abis else "",
        fingerprint=device.fingerprint,
    )


def absent_entries(absent: Sequence[Absent]) -> tuple[DeviceEntry, ...]:
    return tuple(DeviceEntry(serial=each.serial, state=each.state, reason=each.advice) for each in absent)
