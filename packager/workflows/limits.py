"""Limits of macOS and Windows, and their reasons: for `mobpack doctor`; docs/hosts.md says more."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Something that Linux has and this system lacks."""

    what: str
    reason: str


UNTRIED = Limit(what="mobpack itself", reason="nobody has run it here: it is made and tested on Linux")
EVERYWHERE_ELSE = (
    Limit(
        what="models in 16 bits",
        reason='an ARM core of Linux converts them: set float16 = "float32" in the table of the target',
    ),
    Limit(
        what="execution providers that are asked, not predicted",
        reason="QNN's simulator, WebGPU and Android's XNNPACK and NNAPI run on Linux only",
    ),
    Limit(what="emulated ARM and x86 cores", reason="qemu runs programs of Linux on Linux only"),
    Limit(what="NVIDIA GPUs", reason="tried on Linux only"),
)
INTEL = Limit(what="ONNX Runtime", reason="it has no wheels for Intel Macs since 1.24")
ONLY_ON: Mapping[str, tuple[Limit, ...]] = {
    "darwin": (),
    "win32": (
        Limit(what="a release replaced in one step", reason="Windows cannot swap folders: dist/ is gone for a moment"),
        Limit(what="results that are removed while in use", reason="Windows keeps files that are open"),
        Limit(what="frameworks with links in Swift packages", reason="Windows makes links in developer mode only"),
        Limit(what="mobpack xcode", reason="Xcode is a Mac's"),
    ),
}


def limits(system: str) -> tuple[Limit, ...]:
    """Limits of `system`, by Python's name of it; none on Linux."""
    if system not in ONLY_ON:
        return ()
    is_intel_mac = system == "darwin" and platform.machine() == "x86_64"
    return (UNTRIED, *([INTEL] if is_intel_mac else []), *EVERYWHERE_ELSE, *ONLY_ON[system])
