"""iPhones and iPads at a Mac, through Apple's tools: `devicectl` lists them, `xcodebuild` runs a test on one, and
`xcresulttool` takes its attachments out of the result bundle.

The JSON of devicectl is that of `jsonVersion` 2 and of the versions before, which have no such key: keys that are
missing are unknown, others are passed over.
"""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.core import parsing
from packager.core.errors import ConfigError, ToolError
from packager.core.parsing import DAMAGE
from packager.files.processes import children, commands
from packager.files.processes.commands import last_lines
from packager.measuring.devices.choosing import Absent, matches
from packager.measuring.devices.link import Device

MAKER = "Apple"
JSON_VERSION = 2
"""Newest form of devicectl's JSON that is known."""
SYSTEMS = ("iOS", "iPadOS")
ATTEMPT_S = 10
"""Time in which devicectl looks for devices."""
UNPAIRED = "unlock it, connect it by cable and trust this Mac"
AWAY = "connect it by cable, or to the network of this Mac, and unlock it"
NO_DEVELOPER_MODE = "turn on Settings, Privacy & Security, Developer Mode"
SCHEME = "DeviceTests"
APPLE = ("DEVELOPER_DIR", "SDKROOT", "TOOLCHAINS")
"""Variables of Apple's tools: which Xcode they are of."""
BUNDLE = ".xcresult"
"""suffix of result bundles"""


@dataclass(frozen=True, kw_only=True)
class DeviceTestRun:
    """A test on a device that has ended."""

    code: int
    """of xcodebuild: not 0 if a test failed, or nothing could be built"""
    output: Path
    """folder with the log, and the attachments as far as they could be taken out"""
    said: str
    """last lines of the log"""


def has_apples_tools() -> bool:
    return bool(shutil.which("xcrun"))


def iphones() -> list[Device | Absent]:
    """Devices that this Mac knows, by name. Raises ToolError if Xcode's tools do not work."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "devices.json"
        listing: list[str | Path] = ["devicectl", "list", "devices", "--timeout", str(ATTEMPT_S), "--json-output", path]
        commands.run(
            ["xcrun", *listing], what="listing iPhones", inherits=APPLE, hint="devicectl is part of Xcode 15 and later"
        )
        try:
            document = parsing.json_of(path.read_text(encoding="utf-8"))
            version = document.get("info", {}).get("jsonVersion", 1)
            devices = document["result"]["devices"]
        except (OSError, *DAMAGE) as error:
            raise ToolError(
                f"devicectl has written something other than a list of devices: {error}",
                hint="name the device in Xcode, and run the project of `mobpack device xcode` there",
            ) from error
    if isinstance(version, int) and version > JSON_VERSION:
        raise ToolError(
            f"devicectl writes version {version} of its JSON, and mobpack knows {JSON_VERSION}",
            hint="name the device in Xcode, and run the project of `mobpack device xcode` there",
        )
    entries = devices if isinstance(devices, list) else []
    return sorted(filter(None, map(_read, entries)), key=lambda each: each.serial)


def _read(entry: Any) -> Device | Absent | None:
    """An iPhone; None for another device, and for an entry in another form."""
    try:
        return _described(entry) if _is_iphone(entry) else None
    except DAMAGE:
        return None


def _is_iphone(entry: dict[str, Any]) -> bool:
    hardware = entry.get("hardwareProperties", {})
    return hardware.get("platform") in SYSTEMS and hardware.get("reality", "physical") == "physical"


def _described(entry: dict[str, Any]) -> Device | Absent:
    hardware, known = entry.get("hardwareProperties", {}), entry.get("deviceProperties", {})
    connection = entry.get("connectionProperties", {})
    serial = str(hardware.get("udid") or entry.get("identifier", ""))
    name = str(known.get("name") or hardware.get("marketingName") or serial)
    if connection.get("pairingState", "paired") != "paired":
        return Absent(serial=serial, state="unpaired", advice=f"{name}: {UNPAIRED}")
    # A tunnel is open only while something uses it: a device without one can be reached if it has a transport.
    if connection.get("tunnelState") == "unavailable" or not connection.get("transportType"):
        return Absent(serial=serial, state="unavailable", advice=f"{name}: {AWAY}")
    if known.get("developerModeStatus", "enabled") == "disabled":
        return Absent(serial=serial, state="not for developers", advice=f"{name}: {NO_DEVELOPER_MODE}")
    return Device(
        serial=serial,
        maker=MAKER,
        model=name,
        soc=str(hardware.get("productType", "")),
        api=0,
        release=str(known.get("osVersionNumber", "")),
        abis=(str(hardware.get("cpuType", {}).get("name", "arm64")),),
        fingerprint=f"{hardware.get('productType', '')} {known.get('osBuildUpdate', '')}".strip(),
    )


def chosen(pattern: str) -> Device:
    """The device that fits a name, a udid or a type (`iPhone17,3`), with * and ?; without a pattern the only one.

    Raises ToolError if there is none that can be used, ConfigError if none fits, or several do.
    """
    if not has_apples_tools():
        raise ToolError(
            "xcrun not found: tests on an iPhone run on a Mac with Xcode",
            hint="omit --run to write the project, and open it on a Mac",
        )
    listed = iphones()
    ready = [each for each in listed if isinstance(each, Device)]
    fitting = [each for each in ready if not pattern or matches(each, pattern)]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"{each.model} ({each.soc}, {each.serial})" for each in fitting or ready)
    if len(fitting) > 1:
        raise ConfigError(f"{len(fitting)} devices fit: {names}", hint="say which with --device")
    if ready:
        raise ConfigError(f"--device {pattern}: no device fits", hint=f"connected: {names}")
    for each in listed:
        if isinstance(each, Absent):
            raise ToolError(f"device {each.serial} is {each.state}", hint=each.advice)
    raise ToolError("no iPhone is connected", hint="connect one by cable, unlock it and trust this Mac")


def run_tests(project: Path, device: Device, team: str, folder: Path) -> DeviceTestRun:
    """Builds the test of an Xcode project, runs it on a device, and collects its log and attachments below the empty
    `folder`."""
    output, bundle = folder / "output", folder / f"results{BUNDLE}"
    output.mkdir()
    log = output / "xcodebuild.txt"
    command: list[str | Path] = ["xcodebuild", "test", "-project", project.absolute(), "-scheme", SCHEME]
    command += ["-configuration", "Release"]
    command += ["-destination", f"platform=iOS,id={device.serial}", "-allowProvisioningUpdates"]
    command += ["-derivedDataPath", folder / "derived", "-resultBundlePath", bundle]
    code = _logged([*command, *([f"DEVELOPMENT_TEAM={team}"] if team else [])], log, folder)
    # The lines in the log are the same; a log may be cut, and older Xcodes take no attachments out.
    _logged(_exporting(bundle, output / "attachments"), folder / "attachments.txt", folder)
    return DeviceTestRun(
        code=code, output=output, said=last_lines(log.read_text(encoding="utf-8", errors="replace"), 6)
    )


def export_attachments(bundle: Path, output: Path) -> None:
    """Takes the attachments of a result bundle out, to the folder `output`, which must not exist.

    Raises ToolError without Apple's tools, or if they cannot read it.
    """
    by_hand = f"xcrun xcresulttool export attachments --path {bundle.name} --output-path results"
    if not has_apples_tools():
        raise ToolError(
            f"{bundle} is a result bundle, which only Apple's tools open: xcrun not found",
            hint=f"on a Mac: {by_hand}; then give the folder results",
        )
    command = _exporting(bundle.absolute(), output)
    commands.run(command, what=f"taking attachments out of {bundle.name}", inherits=APPLE, hint="it needs Xcode 16")


def _exporting(bundle: Path, output: Path) -> list[str | Path]:
    return ["xcrun", "xcresulttool", "export", "attachments", "--path", bundle, "--output-path", output]


def _logged(command: Sequence[str | Path], log: Path, folder: Path) -> int:
    """Runs a program to its end, with its output in `log`, and returns its exit code."""
    with log.open("wb") as file:
        try:
            process = children.start(command, folder, inherits=APPLE, stdout=file, stderr=file)
        except OSError as error:
            raise ToolError(f"cannot run {command[0]}: {error.strerror}", hint="install Xcode") from error
        try:
            return process.wait()
        finally:
            children.end(process)
