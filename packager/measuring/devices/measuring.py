"""Takes times on one device: rounds of all models with all providers, each in a new process, cool before each."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from packager.core.errors import ModelError, ToolError
from packager.engines.runners import Pace
from packager.measuring.devices import conditions
from packager.measuring.devices.conditions import COOL, Conditions
from packager.measuring.devices.device_opening import Equipped, of_package
from packager.measuring.devices.device_session import DeviceSession
from packager.measuring.devices.document import DeviceEntry, DeviceRow, NotMeasured, Verdict
from packager.measuring.devices.link import READY, GoneError, pause
from packager.measuring.devices.rows import DeviceContender, DeviceRound, rows_of

NS_PER_MS = 1e6
LOOK_S = 5.0
"""Time between two looks at a device that cools down, or that has gone."""
AGAIN = 3
"""Number of times that a round is repeated for a device that went away in the middle of it."""
BOOTED = "getprop sys.boot_completed"
CPU = "cpu"
INTERRUPTED = "interrupted before all rounds were done"
SCREEN_OFF = "its screen is off: most devices keep their fast cores asleep"
HOT = "throttled when it began: thermal status {0}"


@dataclass(frozen=True, kw_only=True)
class DeviceMethod:
    """How times are taken."""

    rounds: int = 5
    threads: int = 0
    """0: as many as the package takes by itself"""
    pace: Pace = field(default_factory=Pace)
    cool_down_s: float = 60.0
    """longest wait for a device that is throttled, before each round"""
    wait_s: float = 120.0
    """longest wait for a device that has gone"""


@dataclass(kw_only=True)
class Watch:
    """Events of a device during the rounds."""

    restarts: int = 0
    reconnects: int = 0
    waited_s: float = 0.0
    boot: str = ""


@dataclass(frozen=True, kw_only=True)
class MeasuredDevice:
    device: DeviceEntry
    rows: tuple[DeviceRow, ...]
    skipped: tuple[NotMeasured, ...]
    verdicts: tuple[Verdict, ...] = ()


def measure(
    equipped: Equipped, contenders: Sequence[DeviceContender], method: DeviceMethod, advance: Callable[[], None]
) -> MeasuredDevice:
    """Takes all rounds on a device that is ready; one that goes and does not come back keeps the rounds it has, and so
    does one on which the user interrupts."""
    link, device = equipped.link, equipped.device
    watch = Watch()
    conditions.wake(equipped)
    before = conditions.read(link, device.serial)
    watch.boot = before.boot
    reason = ""
    after: Conditions | None = None
    try:
        for _ in range(method.rounds):
            for each in contenders:
                if not each.refusal:
                    _take(equipped, each, method, watch)
                advance()
        after = conditions.read(link, device.serial)
    except GoneError as error:
        reason = error.message
    except KeyboardInterrupt:
        reason = INTERRUPTED
    rows = rows_of(device, contenders, method.threads)
    entry = replace(
        described(equipped),
        state="failed" if reason else "measured",
        reason=reason,
        before=before,
        after=after,
        charge_used_uah=charge_used(before, after),
        restarts=watch.restarts,
        reconnects=watch.reconnects,
        waited_s=round(watch.waited_s, 1),
        skipped=tuple(_unread(before, after)),
    )
    refused = [each for each in contenders if not each.rounds]
    skipped = tuple(
        NotMeasured(
            device=device.serial,
            model=each.model.name,
            provider=each.provider,
            reason=each.refusal or reason or "no round was complete",
        )
        for each in refused
    )
    return MeasuredDevice(device=entry, rows=rows, skipped=skipped)


def described(equipped: Equipped) -> DeviceEntry:
    """The entry of a device that has run something."""
    device = equipped.device
    return DeviceEntry(
        serial=device.serial,
        state="measured",
        reason="",
        maker=device.maker,
        model=device.model,
        soc=device.soc,
        api=device.api,
        release=device.release,
        abi=equipped.abi,
        fingerprint=device.fingerprint,
        copied_bytes=equipped.copied_bytes,
    )


def _take(equipped: Equipped, contender: DeviceContender, method: DeviceMethod, watch: Watch) -> None:
    """One round, repeated if the device goes in the middle of it. Raises GoneError if it does not come back."""
    for attempt in range(AGAIN):
        try:
            _cool(equipped, method, watch)
            contender.rounds.append(_round(equipped, contender, method))
            return
        except GoneError:
            if attempt + 1 == AGAIN:
                raise
            come_back(equipped, method.wait_s, watch)
        except (ModelError, ToolError) as error:
            contender.refusal = error.message
            return


def come_back(equipped: Equipped, wait_s: float, watch: Watch) -> None:
    """Waits for a device that has gone, and looks whether it has restarted. Raises GoneError if it stays away."""
    link, serial = equipped.link, equipped.device.serial
    end = time.monotonic() + wait_s
    while True:
        try:
            link.reconnect(serial)
            is_ready = any(each.serial == serial and each.state == READY for each in link.listed())
            if is_ready and link.shell(serial, BOOTED).output.strip() != "0":
                break
        except GoneError:
            pass
        if time.monotonic() >= end:
            raise GoneError(
                f"{equipped.device.name} went away, and did not come back within {wait_s:g} s",
                hint="check its cable and its battery, then run again",
            )
        pause(link, min(LOOK_S, wait_s / 20))
    watch.reconnects += 1
    boot = conditions.read(link, serial).boot
    if watch.boot and boot != watch.boot:
        watch.restarts += 1
        watch.boot = boot
    _put_back(equipped)


def _put_back(equipped: Equipped) -> None:
    """Raises ToolError if the files of the program are gone, as on a device that forgets."""
    places = " ".join((*equipped.program.classes, equipped.program.libraries))
    if equipped.link.shell(equipped.device.serial, f"ls -d {places} >/dev/null").code:
        raise ToolError(
            f"{equipped.device.name} came back without mobpack's files", hint="run again: they are copied anew"
        )


def _cool(equipped: Equipped, method: DeviceMethod, watch: Watch) -> None:
    """Waits until the device throttles nothing, but not for ever."""
    began = time.monotonic()
    while True:
        status = conditions.read(equipped.link, equipped.device.serial).thermal_status
        waited = time.monotonic() - began
        if status is None or status <= COOL or waited >= method.cool_down_s:
            watch.waited_s += waited if waited >= 1 else 0.0
            return
        pause(equipped.link, min(LOOK_S, method.cool_down_s / 4))


def _round(equipped: Equipped, contender: DeviceContender, method: DeviceMethod) -> DeviceRound:
    """A load in a new process, the first run, a warm-up and timed runs. The first round begins without caches.

    Raises ModelError where the provider does not start, ToolError, GoneError.
    """
    storage = equipped.storage
    data = f"{storage.home}/data/{contender.data}"
    if not contender.rounds:
        storage.done(f"rm -rf {data} && mkdir -p {data}")
    opening = of_package(equipped, contender.model.class_name, contender.provider, data, threads=method.threads)
    with DeviceSession(equipped, opening, contender.folder) as session:
        contender.about = session.opened
        if session.opened.provider != contender.provider:
            raise ModelError("; ".join(session.opened.fallbacks) or f"{session.opened.provider} started in its place")
        timed = session.timed(contender.sample.path, method.pace)
        if timed.times.error:
            raise ModelError(timed.times.error)
        if not contender.rounds:
            _compare(session, contender)
        return DeviceRound(timed=timed, load_s=session.loading.seconds or 0.0, base_bytes=session.loading.base_bytes)


def _compare(session: DeviceSession, contender: DeviceContender) -> None:
    """Compares the outputs with the expected ones: a provider that computes something else is not fast."""
    import numpy

    folder = contender.folder / "outputs"
    folder.mkdir(exist_ok=True)
    outcome = session.run(contender.sample.path, folder)
    if outcome.outputs is None:
        raise ModelError(outcome.error)
    for index, name in enumerate(contender.model.outputs):
        expected = contender.sample.expected.get(name)
        actual = numpy.load(folder / f"{index}.npy")
        if expected is None:
            continue
        if actual.shape != expected.shape or actual.dtype.kind not in "fiub" or expected.dtype.kind not in "fiub":
            contender.differs = contender.differs or not numpy.array_equal(actual, expected)
            continue
        wide, wanted = actual.astype("float64"), expected.astype("float64")
        contender.differs = contender.differs or not numpy.array_equal(numpy.isfinite(wide), numpy.isfinite(wanted))
        both = numpy.isfinite(wide) & numpy.isfinite(wanted)
        scale = float(numpy.abs(wanted[both]).max(initial=0.0)) or 1.0
        error = float(numpy.abs(wide[both] - wanted[both]).max(initial=0.0)) / scale
        contender.error = max(contender.error or 0.0, error)


def charge_used(before: Conditions, after: Conditions | None) -> int | None:
    """Microampere-hours that left the battery; None if it charged, or does not tell."""
    if not after or before.charge_uah is None or after.charge_uah is None or before.is_charging or after.is_charging:
        return None
    return before.charge_uah - after.charge_uah


def _unread(before: Conditions, after: Conditions | None) -> Iterator[str]:
    yield from before.skipped
    if before.is_charging or (after and after.is_charging):
        yield "energy: the battery charges over the cable; connect by network (adb tcpip) to see it fall"


def disturbances(entry: DeviceEntry) -> Iterator[str]:
    """Sentences about what makes the times of a device uncertain."""
    before, after = entry.before, entry.after
    if before and before.thermal_status:
        yield HOT.format(conditions.words_of(before.thermal_status))
    if after and after.thermal_status:
        yield f"throttled at the end: thermal status {conditions.words_of(after.thermal_status)}"
    for moment, found in (("when it began", before), ("at the end", after)):
        core = conditions.fastest(found.clocks) if found and found.clocks else None
        if core and 0 < core.limit_mhz < core.max_mhz:
            yield f"its fastest core was limited to {core.limit_mhz} of {core.max_mhz} MHz {moment}"
    if before and before.is_awake is False:
        yield SCREEN_OFF
    if before and before.battery_level is not None and before.battery_level < 15:
        yield f"its battery is at {before.battery_level} %: many devices save power then"
    if entry.restarts:
        yield f"it restarted {entry.restarts} times during the rounds"
