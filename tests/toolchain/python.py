"""A newer Python for Linux, Debian's own, in a folder of the cache: runs what is installed from a wheel.

`python -m tests.toolchain.python --lock` locks the versions that Debian's mirror has now.
"""

import re
import sys
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from tests.toolchain.debian_root import Suite
from tests.toolchain.require import require
from tests.toolchain.swift import Swift

SUITE = Suite("trixie")
LOCK = Path(__file__).with_name("python_debs.txt")
REFRESH = "python -m tests.toolchain.python --lock"
PROGRAM = "/usr/bin/python3.13"
VERSION = "3.13"
WANTED = ("python3.13", "libstdc++6", "coreutils", "dash")
NOT_NEEDED = re.compile(r"(debianutils|libc-gconv-modules-extra|openssl-provider-legacy)$")
"""Dependencies of these that are not used here."""
NOT_UNPACKED = re.compile(r"usr/share/(doc|info|lintian|locale|man)/")


@cache
def newer_python() -> Swift:
    """A root with PROGRAM, made on first use; skips the test if it is not available."""
    require(sys.platform == "linux", "Debian's Python runs on Linux")
    try:
        return Swift(SUITE.installed("python", LOCK, NOT_UNPACKED, refresh=REFRESH))
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
