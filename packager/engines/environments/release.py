"""release: one release of ONNX Runtime out of a range that apps may bring, for this machine's processor."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.runtime import Runtime
from packager.files.processes import downloads

LOCK = Path(__file__).with_name("releases.txt")


@dataclass(frozen=True, kw_only=True)
class PinnedRuntime(Runtime):
    """pip's onnxruntime in one of the releases of pins.toml, made when a range is first proved with it."""

    NAME: ClassVar[str] = "release"
    about: ClassVar[str] = "a release of ONNX Runtime that an app may bring instead; made when first needed"
    lock: ClassVar[Path] = LOCK

    release: str

    @property
    def version(self) -> str:
        return self.release


def releases() -> tuple[str, ...]:
    """The last release of each minor version that ranges can begin with, the oldest first."""
    return tuple(downloads.pins()["runtime-range"]["releases"])
