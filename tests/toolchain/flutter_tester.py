"""Flutter's engine without a screen, Debian's own: compiles and runs tests of widgets.

`python -m tests.toolchain.flutter_tester --lock` locks the versions that Debian's mirror has now.

The tool `flutter` is not in Debian. Its part of a test is done here: the compiler of kernels from Dart's SDK, with the
declarations of Flutter's engine, then the engine itself. The engine exits with 0 whatever happens, so results are the
lines of its output.
"""

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain.dart import LANGUAGE, Dart, dart
from tests.toolchain.debian_root import Suite, make_alone, read_lock, unpack
from tests.toolchain.require import require
from tests.toolchain.swift import Swift

SUITE = Suite("sid")
LOCK = Path(__file__).with_name("flutter_tester_debs.txt")
REFRESH = "python -m tests.toolchain.flutter_tester --lock"
WANTED = ("flutter-tester", "flutter-test", "flutter-patched-sdk", "coreutils", "dash")
NOT_NEEDED = re.compile(r"(debianutils|libc-gconv-modules-extra|openssl-provider-legacy)$")
"""Dependencies of these that are not used here."""
NOT_UNPACKED = re.compile(r"usr/share/(doc|info|lintian|locale|man)/")
DART_SDK = "/usr/lib/dart"
PACKAGES = Path("usr/share/dart/packages")
TIMEOUT_S = 300


def install(lock: Path) -> Path:
    """The folder with all packages of `lock` unpacked, made once. Raises ToolError."""
    folder = cache_folder() / "flutter-tester" / key_of([lock.read_text(encoding="utf-8"), NOT_UNPACKED.pattern])[:16]

    def make(made: Path) -> None:
        (made / "shared").mkdir()
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(lock), Path(scratch), refresh=REFRESH)
            unpack(debs, made / "root", NOT_UNPACKED)
        (made / "root" / DART_SDK.lstrip("/")).mkdir()  # Dart's own folder is mounted there

    make_alone(folder, make)
    return folder


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
