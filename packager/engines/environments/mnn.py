"""mnn: MNN and its converter from ONNX."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import ARM_LINUX, LINUX, MAC, Wheels


@dataclass(frozen=True, kw_only=True)
class Mnn(Wheels):
    NAME: ClassVar[str] = "mnn"
    about: ClassVar[str] = "MNN, an engine for phones, and its converter from ONNX (never shipped; 130 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("mnn.txt")
    TRY: ClassVar[str] = "import _tools, MNN.expr, MNN.nn"
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX, ARM_LINUX, MAC)
