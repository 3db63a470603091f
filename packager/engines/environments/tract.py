"""tract: tract, an engine in Rust that reads ONNX by itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import ARM_LINUX, LINUX, MAC, Wheels


@dataclass(frozen=True, kw_only=True)
class Tract(Wheels):
    NAME: ClassVar[str] = "tract"
    about: ClassVar[str] = "tract, an engine in Rust that reads ONNX by itself (never shipped; 105 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("tract.txt")
    TRY: ClassVar[str] = "import tract; tract.onnx()"
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX, ARM_LINUX, MAC)
