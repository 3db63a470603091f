"""Equips a device: finds the processor that both it and the package know, and copies what runs there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.measuring.devices.device_opening import ANSWER_S, Equipped
from packager.measuring.devices.link import Device, DeviceProgram, Link
from packager.measuring.devices.package import AndroidRuntime, DevicePackage
from packager.measuring.devices.storage import DeviceStorage, programs

OLDEST_API = 24
"""of Android, that ONNX Runtime has libraries for"""


def abi_of(device: Device, known: Sequence[str], words: str) -> str:
    """The best processor of the device that `words` has native code for. Raises ToolError if there is none, or Android
    is too old."""
    if 0 < device.api < OLDEST_API:
        raise ToolError(
            f"{device.name} has Android {device.release or device.api}, API level {device.api}",
            hint=f"ONNX Runtime needs Android 7.0, API level {OLDEST_API}: use a newer device",
        )
    found = next((abi for abi in device.abis if abi in known), "")
    if not found:
        raise ToolError(
            f"{device.name} runs code for {', '.join(device.abis) or 'unknown processors'}, "
            f"and {words} has {', '.join(known) or 'none'}",
            hint="build with the ONNX AndroidRuntime for that processor, or use another device",
        )
    return found


def equip(
    link: Link,
    device: Device,
    package: DevicePackage,
    archives: Sequence[Path],
    *,
    timeout_s: float = ANSWER_S,
) -> Equipped:
    """Copies the program, the native libraries, and all models and samples of the package, as far as they are not
    there.

    Raises ToolError for a device that cannot run it, or is full, and GoneError if it goes.
    """
    abi = abi_of(device, package.abis, package.path.name)
    native = {**package.runtime.libraries[abi], **package.libraries.get(abi, {})}
    assets = {f"files/{sha256}": path for sha256, path in package.assets.items()}
    return _equipped(
        link, device, abi, native, archives, assets, assignment_class=package.assignment_class, timeout_s=timeout_s
    )


def equip_alone(
    link: Link, device: Device, runtime: AndroidRuntime, archives: Sequence[Path], *, timeout_s: float = ANSWER_S
) -> Equipped:
    """Copies the program and ONNX Runtime, without a package."""
    abi = abi_of(device, tuple(runtime.libraries), runtime.words)
    return _equipped(link, device, abi, runtime.libraries[abi], archives, {}, assignment_class="", timeout_s=timeout_s)


def _equipped(
    link: Link,
    device: Device,
    abi: str,
    native: Mapping[str, Path],
    archives: Sequence[Path],
    assets: Mapping[str, Path],
    *,
    assignment_class: str,
    timeout_s: float,
) -> Equipped:
    storage = DeviceStorage(link=link, device=device)
    folder, libraries = storage.libraries(native)
    classes = programs(archives)
    copied = storage.put({**classes, **libraries, **assets})
    home = storage.home
    program = DeviceProgram(
        main_class=link.MAIN_CLASS,
        classes=tuple(f"{home}/{place}" for place in classes),
        libraries=f"{home}/{folder}",
        folder=home,
        abi=abi,
        arguments=(home,),
    )
    return Equipped(
        link=link,
        device=device,
        abi=abi,
        storage=storage,
        program=program,
        assignment_class=assignment_class,
        copied_bytes=copied,
        timeout_s=timeout_s,
    )
