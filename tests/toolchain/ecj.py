"""Eclipse's compiler of Java, in Debian's package: Java of Kotlin's toolchain runs programs and compiles none.

`python -m tests.toolchain.ecj --lock` locks the version that Debian's mirror has now.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packager.files.processes import commands
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from packager.targets.kotlin import kotlin
from tests.toolchain import jvm
from tests.toolchain.debian_root import make_alone, read_lock, unpack
from tests.toolchain.kept import kept
from tests.toolchain.swift import SUITE

LOCK = Path(__file__).with_name("ecj_debs.txt")
REFRESH = "python -m tests.toolchain.ecj --lock"
PACKAGE = "libeclipse-jdt-core-compiler-batch-java"
APPS = Path(__file__).with_name("java_apps")
MAIN = "org.eclipse.jdt.internal.compiler.batch.Main"
NOT_UNPACKED = re.compile(r"usr/share/doc/")


def compiler() -> Path:
    """The compiler's jar."""
    folder = cache_folder() / "ecj" / key_of(LOCK.read_text(encoding="utf-8"))[:16]

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(LOCK), Path(scratch), refresh=REFRESH)
            unpack(debs, Path(scratch) / "root", NOT_UNPACKED)
            [jar] = (each for each in (Path(scratch) / "root/usr/share/java").iterdir() if not each.is_symlink())
            shutil.copy(jar, made / "ecj.jar")

    folder.parent.mkdir(parents=True, exist_ok=True)
    make_alone(folder, make)
    return folder / "ecj.jar"


def compile_java(sources: Sequence[Path], *, classpath: Sequence[Path]) -> Path:
    """A folder with the classes of `sources`, from the cache when the same was compiled before. Warnings are errors."""
    options = ("-11", "-proc:none", "-failOnWarning")

    def make(folder: Path) -> None:
        java = kotlin.find_compiler().java
        path = jvm.path_of([*jvm.common(), *classpath])
        commands.run(
            [java, "-cp", compiler(), MAIN, *options, "-cp", path, "-d", folder, *sources],
            what="compiling " + ", ".join(source.name for source in sources),
        )

    content: list[Path | str] = [*sources, *classpath, LOCK.read_text(encoding="utf-8"), *options]
    return kept("java", make, *content)


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock((PACKAGE,), re.compile(rf"(?!{PACKAGE}$)")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
