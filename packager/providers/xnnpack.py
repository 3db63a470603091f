"""XNNPACK: fast kernels for the processor's own cores, on any device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Xnnpack:
    NAME: ClassVar[str] = "xnnpack"

    def options(self) -> Mapping[str, str]:
        """None: the number of threads, all there is to set, is the app's to choose."""
        return {}
