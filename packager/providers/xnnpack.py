"""XNNPACK: fast kernels for the processor's own cores, on any device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Xnnpack:
    NAME: ClassVar[str] = "xnnpack"

    threads: int = 0
    """threads of one run; 0 means what the app asks for, else one per core up to four"""

    def options(self) -> Mapping[str, str]:
        return {"intra_op_num_threads": str(self.threads)} if self.threads else {}
