"""webgpu: ONNX Runtime with its WebGPU provider, on the CPU through Mesa's lavapipe."""

import ctypes.util
import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core import parsing
from packager.core.errors import ToolError
from packager.engines.environments.environment import (
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)
from packager.files.processes import commands, downloads

LOCK = Path(__file__).with_name("webgpu.txt")
LAVAPIPE = "mesa-vulkan-drivers"
DEBIAN = (
    LAVAPIPE,  # Debian 12's own (22.3) cannot index uniform arrays dynamically, as WebGPU requires
    "libbsd0",
    "libdrm2",
    "libedit2",
    "libexpat1",
    "libicu72",
    "libllvm15",
    "libvulkan1",
    "libwayland-client0",
    "libx11-xcb1",
    "libxau6",
    "libxcb-dri3-0",
    "libxcb-present0",
    "libxcb-randr0",
    "libxcb-shm0",
    "libxcb-sync1",
    "libxcb-xfixes0",
    "libxcb1",
    "libxdmcp6",
    "libxml2",
    "libxshmfence1",
    "libz3-4",
)
"""Vulkan, and those of its dependencies that a bare Debian 12 lacks"""
SYSTEM_DRIVERS = Path("/usr/share/vulkan/icd.d")
CHOSEN = "VK_DRIVER_FILES"
"""Vulkan's own variable: the description file of the driver that the user wants, in place of lavapipe."""
LIBRARIES = "x86_64-linux-gnu"
RELU = (
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08"
    "080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
"""y = Relu(x) on float[1], as a serialized ModelProto"""
TRY = f"""
import onnxruntime, onnxruntime_ep_webgpu as webgpu
onnxruntime.register_execution_provider_library(webgpu.get_ep_name(), webgpu.get_library_path())
device = next(device for device in onnxruntime.get_ep_devices() if device.ep_name == webgpu.get_ep_name())
options = onnxruntime.SessionOptions()
options.add_provider_for_devices([device], {{}})
onnxruntime.InferenceSession(bytes.fromhex("{RELU}"), options, enable_fallback=0)
"""


@dataclass(frozen=True, kw_only=True)
class WebGpu:
    """onnxruntime, onnxruntime-ep-webgpu and a Vulkan that needs no graphics card."""

    NAME: ClassVar[str] = "webgpu"
    about: ClassVar[str] = "WebGPU on this machine's processor, through Mesa's lavapipe (350 MB)"

    def unsupported(self) -> str:
        if sys.platform != "linux" or platform.machine() != "x86_64":
            return f"tried on Linux on x86_64 only; this is {sys.platform} on {platform.machine()}"
        return ""

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        if reason := self.unsupported():
            raise ToolError(f"the environment webgpu cannot be installed: {reason}")
        folder = _folder()
        make_once(folder, lambda made: _make(made, folder))

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return _variables(_folder())


def system_driver() -> Path | None:
    """Description file of the machine's own lavapipe, if it has one and a Vulkan loader."""
    found = sorted(SYSTEM_DRIVERS.glob("lvp_icd*.json"))
    return found[0] if found and ctypes.util.find_library("vulkan") else None


def in_words() -> str:
    """Description of the runtime, with a place for the version of the plug-in, and of the driver."""
    chosen = os.environ.get(CHOSEN)
    return "WebGPU {plugin} on " + (f"the driver of {Path(chosen).name}" if chosen else "Mesa's lavapipe")


def _folder() -> Path:
    parts = [] if system_driver() else [downloads.pin(f"lavapipe-{name}").sha256 for name in DEBIAN]
    return folder_for(WebGpu.NAME, [LOCK.read_text(encoding="utf-8"), parts])


def _variables(folder: Path) -> dict[str, str]:
    own = system_driver()
    driver = os.environ.get(CHOSEN) or str(own or folder / "lavapipe.json")
    return {
        **isolated_variables(folder / "site"),
        **({} if own else {"LD_LIBRARY_PATH": f"{folder}/usr/lib/{LIBRARIES}:{folder}/lib/{LIBRARIES}"}),
        CHOSEN: driver,
        "VK_ICD_FILENAMES": driver,  # the same for loaders before 1.3.207
        "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER": "1",
    }


def _make(made: Path, folder: Path) -> None:
    """Fills `made`, which becomes `folder`."""
    install_locked(LOCK, made / "site")
    if not system_driver():
        for name in DEBIAN:
            deb = downloads.fetch(f"lavapipe-{name}")
            commands.run(["dpkg-deb", "--extract", deb, made], what=f"unpacking {name}")
        _describe_driver(made, made)
    try_out(WebGpu.NAME, TRY, _variables(made))
    if not system_driver():
        _describe_driver(made, folder)


def _describe_driver(made: Path, folder: Path) -> None:
    """Writes lavapipe.json with the driver's final path below `folder`."""
    described = next((made / "usr" / "share" / "vulkan" / "icd.d").glob("lvp_icd*.json"))
    document = parsing.json_of(described.read_text(encoding="utf-8"))
    library = Path(document["ICD"]["library_path"]).name
    document["ICD"]["library_path"] = str(folder / "usr" / "lib" / LIBRARIES / library)
    (made / "lavapipe.json").write_text(json.dumps(document), encoding="utf-8", newline="\n")
