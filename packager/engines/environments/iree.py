"""iree: IREE's compiler, which imports ONNX, and its runtime."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.wheels import ARM_LINUX, LINUX, MAC, Wheels


@dataclass(frozen=True, kw_only=True)
class Iree(Wheels):
    NAME: ClassVar[str] = "iree"
    about: ClassVar[str] = "IREE, a compiler that reads ONNX, and its runtime (never shipped; 490 MB)"
    LOCK: ClassVar[Path] = Path(__file__).with_name("iree.txt")
    TRY: ClassVar[str] = (
        "import iree.runtime, iree.compiler.api, iree.compiler.extras.onnx_importer; iree.runtime.Config('local-sync')"
    )
    MACHINES: ClassVar[tuple[tuple[str, str], ...]] = (LINUX, ARM_LINUX, MAC)
