"""A library with functions of Objective-C's runtime that write down what is asked of them, for programs on Linux."""

from pathlib import Path

from tests.toolchain import cxx
from tests.toolchain.kept import kept

SOURCE = Path(__file__).with_suffix(".cpp")


def library() -> Path:
    """The library, which a program opens for all of its parts."""

    def make(folder: Path) -> None:
        options = ["-target", cxx.TARGET, "-shared", "-fPIC", "-nostdlib", "-O1", "-fno-sanitize=all", "-fno-builtin"]
        cxx.compiler([*options, SOURCE, "-o", folder / "libobjective_c.so"], what="Objective-C")

    return kept("objective-c", make, SOURCE, cxx.TARGET) / "libobjective_c.so"
