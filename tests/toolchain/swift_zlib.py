"""zlib's headers, which Apple's SDKs have, for Swift on Linux: Debian's, of the library that the toolchain runs with.

`python -m tests.toolchain.swift_zlib --lock` locks the version that Debian's mirror has now.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain.debian_root import make_alone, read_lock, unpack
from tests.toolchain.swift import SUITE

LOCK = Path(__file__).with_name("zlib_debs.txt")
REFRESH = "python -m tests.toolchain.swift_zlib --lock"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libz.so.1"
"""in the toolchain's root"""
NOT_UNPACKED = re.compile(r"usr/share/|.*\.a$")


def headers() -> tuple[Path, ...]:
    """zlib.h and what it includes."""
    folder = cache_folder() / "swift" / f"zlib-{key_of(LOCK.read_text(encoding='utf-8'))[:16]}"

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(LOCK), Path(scratch), refresh=REFRESH)
            unpack(debs, Path(scratch) / "root", NOT_UNPACKED)
            for header in (Path(scratch) / "root/usr/include").rglob("z*.h"):
                shutil.copy(header, made)

    folder.parent.mkdir(parents=True, exist_ok=True)
    make_alone(folder, make)
    return tuple(sorted(folder.iterdir()))


def with_zlib(package: Path) -> None:
    """Adds zlib's headers to a package that uses them, and what a linker finds the library by."""
    [include] = (each.parent for each in package.glob("Sources/C*/include/inflate.h"))
    for header in headers():
        shutil.copy(header, include)
    (package / "zlib").mkdir()
    (package / "zlib" / "libz.so").write_text(f"INPUT({LIBRARY})\n", encoding="utf-8", newline="\n")
    manifest = package / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    plain = '[.linkedLibrary("z")]'
    assert text.count(plain) == 1
    text = text.replace(plain, '[.linkedLibrary("z"), .unsafeFlags(["-Lzlib"])]')
    manifest.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(("zlib1g-dev",), re.compile(r"(?!zlib1g-dev$)")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
