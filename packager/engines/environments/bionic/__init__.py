"""Glibc shims for the Android system libraries, with which Android's x86_64 and arm64 binaries load on Linux."""

from packager.engines.environments.bionic.builder import (
    PROCESSORS,
    SOURCES,
    ZIG_TARGET,
    build,
    build_one,
    content_key,
    shims,
)

__all__ = ["PROCESSORS", "SOURCES", "ZIG_TARGET", "build", "build_one", "content_key", "shims"]
