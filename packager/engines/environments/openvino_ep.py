"""openvino-ep: ONNX Runtime with its OpenVINO provider."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import LINUX, Wheels


@dataclass(frozen=True, kw_only=True)
class OpenVinoProvider(Wheels):
    NAME: ClassVar[str] = "openvino-ep"
    about: ClassVar[str] = "ONNX Runtime with its OpenVINO provider (never shipped; 330 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("openvino_ep.txt")
    TRY: ClassVar[str] = (
        "import onnxruntime; assert 'OpenVINOExecutionProvider' in onnxruntime.get_available_providers()"
    )
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX,)
