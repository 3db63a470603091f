"""A library whose uname(2) names the chip that a test wants, in the place of the machine's."""

from collections.abc import Mapping
from pathlib import Path

from tests.toolchain import cxx
from tests.toolchain.kept import kept

SOURCE = Path(__file__).with_suffix(".cpp")


def library() -> Path:
    """The library, for LD_PRELOAD."""

    def make(folder: Path) -> None:
        options = ["-target", cxx.TARGET, "-shared", "-fPIC", "-nostdlib", "-O2", "-fno-sanitize=all"]
        cxx.compiler([*options, SOURCE, "-o", folder / "libchip.so"], what="the chip")

    return kept("chip", make, SOURCE, cxx.TARGET) / "libchip.so"


def variables(chip: str) -> Mapping[str, str]:
    """Environment of a program on a device with that chip, or that identifier; it must see the library's folder."""
    return {"LD_PRELOAD": str(library()), "CHIP": chip}
