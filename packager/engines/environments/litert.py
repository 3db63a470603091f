"""litert: LiteRT, which runs .tflite files."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import ARM_LINUX, LINUX, MAC, Wheels


@dataclass(frozen=True, kw_only=True)
class LiteRt(Wheels):
    NAME: ClassVar[str] = "litert"
    about: ClassVar[str] = "LiteRT: runs the .tflite file that a model was imported from (never shipped; 130 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("litert.txt")
    TRY: ClassVar[str] = "from ai_edge_litert.interpreter import Interpreter"
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX, ARM_LINUX, MAC)
