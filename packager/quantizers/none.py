"""Ships the model's own numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class NoQuantizer:
    NAME: ClassVar[str] = "none"

    def quantize(self, graph: bytes, data_folder: Path) -> bytes:
        return graph
