"""Complaints of the C++ compiler about a source in a temporary folder, kept by content as compilations are.

Its key has the source, the options, and the headers in the folders that are named; all other headers are those of
toolchains and of locked packages, whose paths name their version.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments.bionic import builder
from packager.files.processes import downloads
from tests.toolchain import cxx, jsc
from tests.toolchain.kept import kept

SAID = "said.txt"
MISTAKE = re.compile(r"^\S+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
"""A complaint about a place in a source: any other failure may be the machine's."""
HEADERS = ("*.h", "*.hpp")
APPLE = Path(__file__).with_name("apple")
"""Headers in the place of Apple's, as far as packages include them."""
FOR_APPLE = ("-target", "aarch64-macos", "-std=c++20", "-fobjc-arc", "-Wall", "-Wextra", "-Werror")


def complaints_for_apple(source: Path, package: Path, specs: Path) -> str:
    """Of a source of a package that is compiled as for an app on a Mac: with React Native's headers, codegen's and the
    package's."""
    own = (specs, APPLE, package / "cpp", package / "cpp" / "include")
    return complaints(source, [*FOR_APPLE, *jsc.includes(specs, APPLE), *jsc.own_headers(package)], own)


def complaints(source: Path, options: Sequence[str | Path], own: Sequence[Path]) -> str:
    """Errors of a source that does not compile; no text if it does.

    `own` are folders of headers whose paths do not tell what is in them. Raises ToolError where the compiler fails
    otherwise.
    """

    def make(made: Path) -> None:
        said = ""
        with tempfile.TemporaryDirectory() as scratch:
            try:
                command = [*options, *cxx.WITHOUT_CODE, "-c", source, "-o", Path(scratch, "made.o")]
                cxx.compiler(command, what=f"compiling {source.name}")
            except ToolError as error:
                if not MISTAKE.search(error.message):
                    raise
                said = error.message
        (made / SAID).write_text(said, encoding="utf-8")

    headers = sorted({path for folder in own for kind in HEADERS for path in folder.rglob(kind)})
    words = [_without_places(str(each), own) for each in options]
    names = [path.name for path in headers]
    compiler = downloads.pin(builder.COMPILER).sha256
    found = kept("cpp-complaints", make, compiler, *words, *names, source, *headers)
    return (found / SAID).read_text(encoding="utf-8")


def _without_places(option: str, own: Sequence[Path]) -> str:
    """An option with numbers in place of the folders `own`."""
    for number, folder in enumerate(own):
        option = option.replace(str(folder), f"<{number}>")
    return option
