"""openvino: OpenVINO, which reads ONNX by itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import ARM_LINUX, LINUX, MAC, Wheels


@dataclass(frozen=True, kw_only=True)
class OpenVino(Wheels):
    NAME: ClassVar[str] = "openvino"
    about: ClassVar[str] = "OpenVINO, which reads ONNX by itself (never shipped; 250 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("openvino.txt")
    TRY: ClassVar[str] = "import openvino; assert 'CPU' in openvino.Core().available_devices"
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX, ARM_LINUX, MAC)
