"""Glibc stand-ins for the Android system libraries, with which Android's own x86_64 binaries load on Linux."""

from packager.environments.bionic.builder import SOURCES, ZIG_TARGET, build, build_one, compiler, content_key, stand_ins

__all__ = ["SOURCES", "ZIG_TARGET", "build", "build_one", "compiler", "content_key", "stand_ins"]
