"""CMake's part of an app's build for Android, configured by React Native's own files with what autolinking made.

The NDK and the .aar files of React Native are on no package registry: `prefab/` declares their libraries, and the
compiler that CMake knows is a script. So paths, names of targets and the commands are checked; for some,
`complaints` has zig's Clang do what they say.
"""

import json
import re
import shlex
import subprocess
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.files.atomic import install_once
from packager.files.processes import downloads
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain import cxx
from tests.toolchain.react_native import cpp_complaints
from tests.toolchain.react_native.bare import BareApp
from tests.toolchain.react_native.gradle_plugin import Generated

PREFAB = Path(__file__).with_name("prefab")
NOT_UNPACKED = re.compile(r"cmake/data/(bin/(ccmake|ctest)|doc/)")
FOLDER = re.compile(r"(?:-I|-isystem)?(/.+)")
"""an option that names a folder, or the word after such an option"""
QUIET = ("--no-warn-unused-cli", "-Wno-dev")
STAND_IN = """\
#!/bin/sh
# Leaves an empty file for each -o: enough for CMake to learn that link-time optimization is there, as in the NDK.
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then : > "$2"; fi
  shift
done
"""
CLANG = {
    "COMPILER_ID": "Clang",
    "COMPILER_ID_RUN": "1",
    "COMPILER_VERSION": "18.0.1",
    "COMPILER_WORKS": "1",
    "STANDARD_COMPUTED_DEFAULT": "17",
}
"""facts that CMake would find out by running the NDK's compiler"""


@dataclass(frozen=True)
class Configured:
    """CMake's output, and the build that it made."""

    returncode: int
    output: str
    commands: dict[Path, str]
    """how each source would be compiled"""

    def source(self, name: str) -> Path:
        """The one source of that name."""
        [found] = [path for path in self.commands if path.name == name]
        return found


def configure(app: BareApp, generated: Generated) -> Configured:
    """Runs React Native's CMakeLists.txt of an app. Raises ToolError when a tool cannot be fetched."""
    react = app.folder / "node_modules" / "react-native" / "ReactAndroid"
    build = app.folder / "cmake"
    found = programs()
    done = subprocess.run(
        [
            found / "cmake" / "data" / "bin" / "cmake",
            *("-S", react / "cmake-utils" / "default-app-setup", "-B", build, "-G", "Ninja", *QUIET),
            f"-DCMAKE_MAKE_PROGRAM={found / 'bin' / 'ninja'}",
            *_compiler(found / "bin" / "compiler"),
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            f"-DREACT_ANDROID_DIR={react}",
            f"-DPROJECT_BUILD_DIR={generated.native.parents[4]}",
            f"-DReactAndroid_DIR={PREFAB}",
            f"-Dfbjni_DIR={PREFAB}",
        ],
        cwd=app.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return Configured(done.returncode, done.stdout + done.stderr, _commands(build / "compile_commands.json"))


def complaints(done: Configured, source: Path) -> str:
    """Clang's errors for a source that is compiled with CMake's options for it; no text if there are none."""
    _, *options = shlex.split(done.commands[source])
    given = ["-target", cxx.TARGET, *map(_followed, options[: options.index("-o")])]  # after it: an object, the source
    folders = [Path(found[1]) for each in given if (found := FOLDER.fullmatch(each))]
    return cpp_complaints.complaints(source, given, [each for each in folders if cache_folder() not in each.parents])


def _followed(option: str) -> str:
    """An option with the folder that a link leads to: those of locked packages have their version in their path."""
    found = FOLDER.fullmatch(option)
    return option.replace(found[1], str(Path(found[1]).resolve())) if found else option


def _compiler(program: Path) -> list[str]:
    known = [f"-DCMAKE_{language}_{name}={value}" for language in ("C", "CXX") for name, value in CLANG.items()]
    kinds = ("C_COMPILER", "CXX_COMPILER", "C_COMPILER_AR", "CXX_COMPILER_AR", "AR", "RANLIB")
    return [*known, *(f"-DCMAKE_{kind}={program}" for kind in kinds)]


def _commands(database: Path) -> dict[Path, str]:
    if not database.is_file():
        return {}
    entries = json.loads(database.read_text(encoding="utf-8"))
    return {Path(entry["file"]).resolve(): entry["command"] for entry in entries}


@cache
def programs() -> Path:
    """A folder of the cache with CMake, Ninja and what stands in for a compiler. Raises ToolError."""
    wheels = [downloads.fetch(name) for name in ("cmake", "ninja")]
    folder = cache_folder() / "cmake" / key_of([*(wheel.name for wheel in wheels), STAND_IN, NOT_UNPACKED.pattern])[:16]

    def unpack(made: Path) -> None:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(made, [name for name in archive.namelist() if not NOT_UNPACKED.match(name)])
        (made / "bin").mkdir()
        [ninja] = made.glob("ninja-*.data/scripts/ninja")
        ninja.rename(made / "bin" / "ninja")
        (made / "bin" / "compiler").write_text(STAND_IN, encoding="utf-8")
        for program in (*(made / "cmake/data/bin").iterdir(), *(made / "bin").iterdir()):
            program.chmod(0o755)  # a zip file's rights are lost on extraction

    install_once(folder, unpack)
    return folder
