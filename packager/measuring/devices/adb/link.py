"""Android devices, through the program adb."""

import re
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ToolError
from packager.core.parsing import whole_number
from packager.files.processes import children
from packager.files.processes.commands import last_lines
from packager.files.store import Store
from packager.measuring.devices.adb import dexing
from packager.measuring.devices.adb.program import VARIABLES, adb
from packager.measuring.devices.link import READY, Device, DeviceProgram, Finished, GoneError, ListedDevice

PROPERTY = re.compile(r"^\[(.+?)\]: \[(.*)\]$", re.MULTILINE)
GONE = re.compile(
    r"device '.*' not found|device offline|no devices/emulators found|device still authorizing|connection reset|"
    r"error: closed|protocol fault|failed to read (?:command|copy response)|failed to get feature set|"
    r"couldn't read from device|Broken pipe|failed to stat remote object|unexpected EOF|connect failed"
)
"""Complaints of adb about a device that has gone, also in the middle of a copy."""
FULL = "No space left on device"
ADVICE = {
    "unauthorized": "unlock the device and allow USB debugging for this computer",
    "authorizing": "wait a moment, or unlock the device and allow USB debugging",
    "offline": "unplug and plug it in again, or: adb reconnect offline",
    "recovery": "restart it into Android: adb reboot",
    "sideload": "restart it into Android: adb reboot",
    "bootloader": "restart it into Android: fastboot reboot",
    "rescue": "restart it into Android: adb reboot",
    "connecting": "wait a moment, then run again",
    "no permissions": "let your user access USB devices: udev rules of Android, or a group such as plugdev",
}
PROGRAMS = {"arm64-v8a": "app_process64", "x86_64": "app_process64", "armeabi-v7a": "app_process32"}
"""Android's name of a processor -> the program that starts its Java; `app_process` itself is one of them."""
ANSWER_S = 30.0
"""Longest time of a short command."""
COPY_S = 600.0
MARK = "mobpack-exit-code:"
NOT_FOUND = 127
SAID = 500
"""Characters of a device's own words in messages."""


@dataclass(frozen=True, kw_only=True)
class Adb:
    NAME: ClassVar[str] = "adb"
    HOME: ClassVar[str] = "/data/local/tmp/mobpack"
    MAIN_CLASS: ClassVar[str] = dexing.MAIN_CLASS

    program: Path = field(default_factory=adb)
    halt: threading.Event = field(default_factory=threading.Event)

    def listed(self) -> tuple[ListedDevice, ...]:
        done = self._run(["devices"], ANSWER_S)
        if done.code:
            raise ToolError(
                f"adb does not work: {last_lines(done.complaints or done.output, 3)}",
                hint="end its server with `adb kill-server`, then run again",
            )
        lines = done.output.partition("List of devices attached")[2].splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        found = (ListedDevice(serial=serial, state=_state(state)) for serial, state in pairs)
        return tuple(sorted(found, key=lambda each: each.serial))

    def advice(self, found: ListedDevice) -> str:
        return ADVICE.get(found.state, "see `adb devices`")

    def describe(self, serial: str) -> Device:
        done = self.shell(serial, "getprop")
        values = dict(PROPERTY.findall(done.output.replace("\r", "")))
        if not values:
            raise ToolError(
                f"{serial} does not report properties: {last_lines(done.complaints, 1) or 'getprop printed nothing'}",
                hint="check that it is an Android device",
            )
        abis = values.get("ro.product.cpu.abilist") or values.get("ro.product.cpu.abi", "")
        api = values.get("ro.build.version.sdk", "")
        return Device(
            serial=serial,
            maker=values.get("ro.product.manufacturer", ""),
            model=values.get("ro.product.model", ""),
            soc=_soc(values),
            api=max(whole_number(api) or 0, 0),
            release=values.get("ro.build.version.release", ""),
            abis=tuple(filter(None, abis.split(","))),
            fingerprint=values.get("ro.build.fingerprint", ""),
        )

    def shell(self, serial: str, script: str, *, timeout_s: float = ANSWER_S) -> Finished:
        # The exit code in the output shows that the script came to its end: adb ends with 1 for a lost device, too.
        whole = f"({script}\n) </dev/null; c=$?; echo; echo {MARK}$c"
        done = self._run(["-s", serial, "shell", "-T", whole], timeout_s)
        output, _, said = done.output.rpartition(f"\n{MARK}")
        code = whole_number(said.strip())
        if code is None:
            raise self._failure(serial, done, "running a command")
        return Finished(code=code, output=output, complaints=done.complaints)

    def archives(self, classes: Sequence[Path], beside: Sequence[Path], store: Store) -> tuple[Path, ...]:
        """Two: what all packages use with the same ONNX Runtime, and the package with the driver."""
        runtime, *others = beside
        known = (runtime, *others, *dexing.libraries(store))
        driver = dexing.driver(runtime, dexing.java_package(runtime), store)
        return dexing.dexed(known, store), dexing.dexed((*classes, driver), store, classpath=known)

    def push(self, serial: str, source: Path, place: str) -> None:
        done = self._run(["-s", serial, "push", str(source.absolute()), place], COPY_S)
        if done.code:
            raise self._failure(serial, done, f"copying {source.name} to the device")

    def pull(self, serial: str, place: str, target: Path) -> None:
        done = self._run(["-s", serial, "pull", place, str(target.absolute())], COPY_S)
        if done.code:
            raise self._failure(serial, done, f"copying {place} from the device")

    def start(self, serial: str, program: DeviceProgram, folder: Path, stderr: Any) -> "subprocess.Popen[Any]":
        starter = PROGRAMS.get(program.abi, "app_process")
        variables = {
            **program.variables,
            "CLASSPATH": ":".join(program.classes),
            "LD_LIBRARY_PATH": program.libraries,
            # Where neural processors of Qualcomm's look for the files of their own libraries.
            "ADSP_LIBRARY_PATH": program.libraries,
        }
        words = [f"{name}={shlex.quote(text)}" for name, text in variables.items()]
        words += ["exec", '"$starter"', "/", program.main_class, *map(shlex.quote, program.arguments)]
        script = "\n".join(
            (
                f"cd {shlex.quote(program.folder)} || exit 1",
                f"starter=$(command -v {starter} || command -v app_process)",
                'if [ -z "$starter" ]; then echo "no app_process" >&2; exit 127; fi',
                f"export {' '.join(words[: len(variables)])}",
                " ".join(words[len(variables) :]),
            )
        )
        command: list[str | Path] = [self.program, "-s", serial, "shell", "-T", script]
        return children.start(
            command, folder, inherits=VARIABLES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )

    def reconnect(self, serial: str) -> None:
        if ":" in serial:  # a device on the network, which adb forgets
            self._run(["connect", serial], ANSWER_S)

    def _failure(self, serial: str, done: Finished, what: str) -> ToolError:
        said = last_lines(f"{done.output}\n{done.complaints}", 3)[-SAID:]
        if FULL in said:
            return ToolError(
                f"the disk of {serial} is full, while {what}",
                hint="free some space on it: `mobpack device clean` removes what mobpack left there",
            )
        if "unauthorized" in said:
            return GoneError(f"{serial} is not authorized", hint=ADVICE["unauthorized"])
        if GONE.search(said) or not said:
            return GoneError(
                f"{serial} has gone, while {what}: {said or 'adb says nothing'}",
                hint="check its cable and its battery, then run again",
            )
        return ToolError(f"{what} failed on {serial}: {said}", hint="see `adb devices`, then run again")

    def _run(self, arguments: Sequence[str], timeout_s: float) -> Finished:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                process = children.start([self.program, *arguments], Path(scratch), inherits=VARIABLES)
            except OSError as error:
                raise ToolError(f"cannot run {self.program}: {error.strerror}", hint="install adb again") from error
            try:
                output, complaints = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired as error:
                where = arguments[1] if arguments[0] == "-s" else "adb"
                raise GoneError(
                    f"{where} did not answer within {timeout_s:g} s",
                    hint="check that it is plugged in, awake and idle, then run again",
                ) from error
            finally:
                children.end(process)
                for stream in filter(None, (process.stdout, process.stderr)):
                    stream.close()
            return Finished(code=process.returncode, output=output.replace("\r\n", "\n"), complaints=complaints)


def _state(text: str) -> str:
    """adb explains some states in a sentence."""
    return "no permissions" if text.startswith("no permissions") else text.split(" ")[0].strip() or READY


def _soc(values: dict[str, str]) -> str:
    """Android tells the chip's name from version 12 on; before, names of the board replace it."""
    names = ("ro.soc.model", "ro.board.platform", "ro.hardware.chipname", "ro.product.board")
    return next((values[name] for name in names if values.get(name)), "")
