"""Native code of React Native packages where the system refuses something, and when JavaScript ends amid work."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import cxx, delivered, jsc
from tests.toolchain.react_native import native

SOURCES = Path(__file__).parents[1] / "toolchain" / "react_native" / "host" / "unsteady"
MODEL = "orientation.ort.tflite"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.code(tmp_path_factory)


@pytest.fixture
def app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "installed")


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that stands before the system's: the files in its environment say what it refuses."""
    library = tmp_path_factory.mktemp("system") / "libsystem.so"
    cxx.build([SOURCES / "system.cpp"], ["-fPIC"], library, "-shared", what="a system that refuses")
    return library


@pytest.fixture(scope="module")
def runtime(code: native.Code, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an ONNX Runtime of which no session starts while a file is there."""
    folder = tmp_path_factory.mktemp("runtime")
    headers = ("-I", code.models.parent / "cpp")
    cxx.build([SOURCES / "runtime.cpp"], ["-fPIC", *headers], folder / "libonnxruntime.so", "-shared", what="a runtime")
    return folder


def refusing(real: Path, file: Path, words: str = "") -> dict[str, str]:
    """Variables for `runtime`: the folder of what it simulates, the file, and what it says."""
    return {"REAL_RUNTIME": str(real / "libonnxruntime.so"), "REFUSED": str(file), "WORDS": words}


WORDS = {
    "std::bad_alloc": "out-of-memory",
    "/a/bfc_arena.cc:376 f(size_t) Failed to allocate memory for requested buffer of size 9": "out-of-memory",
    "Available memory of 9 is smaller than requested bytes of 10": "out-of-memory",
    "pthread_create failed, error code: 11": "out-of-memory",
    "This is an invalid model": "runtime",
}


def test_memory_that_onnx_runtime_does_not_get_is_no_error_of_the_model(
    app: native.App, runtime: Path, tmp_path: Path
) -> None:
    (tmp_path / "refused").touch()
    for words, code_of_it in WORDS.items():
        variables = refusing(jsc.onnxruntime(), tmp_path / "refused", words)
        found = app.run("opensNot", onnxruntime=runtime, environment=variables, file=str(app.bundle / MODEL))
        assert found == f"[{code_of_it}] {words}"


def test_a_thread_that_finds_no_room_rejects_the_promise(app: native.App, system: Path, tmp_path: Path) -> None:
    variables = {"LD_PRELOAD": str(system), "NO_THREADS": str(tmp_path / "full")}
    file = str(app.bundle / MODEL)
    assert app.run("opensWithoutThreads", environment=variables, file=file, full=str(tmp_path / "full")) is None


def test_threads_of_models_do_not_have_the_priority_of_javascripts(
    app: native.App, system: Path, tmp_path: Path
) -> None:
    priorities = tmp_path / "priorities"
    app.run("loads", environment={"LD_PRELOAD": str(system), "PRIORITIES": str(priorities)})
    found = set(priorities.read_text(encoding="utf-8").split("\n")) - {""}
    assert found == {"own 0"}, "that of this thread alone, and the usual one"


def test_javascript_that_ends_does_not_wait_for_work_on_other_threads(
    app: native.App, system: Path, tmp_path: Path
) -> None:
    paths: dict[str, Any] = {name: str(tmp_path / name) for name in ("part", "path", "waiting", "go")}
    variables = {"LD_PRELOAD": str(system), "WAITING": paths["waiting"], "GO": paths["go"]}
    following = app.plan("endsWhatWasBegun", **paths)
    assert app.run("endsAmidFiles", environment=variables, next=str(following), **paths) is None
    assert (tmp_path / "path").exists()


def test_a_model_that_javascript_has_left_open_is_released_on_its_own_thread(
    app: native.App, runtime: Path, tmp_path: Path
) -> None:
    plan: dict[str, Any] = {"file": str(app.bundle / MODEL), "released": str(tmp_path / "released")}
    variables = {**refusing(jsc.onnxruntime(), tmp_path / "nothing"), "RELEASED": plan["released"]}
    following = app.plan("waitsForTheRelease", **plan)
    assert app.run("endsWithAModel", onnxruntime=runtime, environment=variables, next=str(following), **plan) is None
    assert (tmp_path / "released").read_text(encoding="utf-8") == "other"


def test_a_lock_lasts_until_what_was_begun_with_it_has_ended(system: Path, tmp_path: Path) -> None:
    made = delivered.program(tmp_path / "program")
    native.bundle(tmp_path / "program" / "app", tmp_path / "locks.js", "locks.js")
    app = replace(made.code, script=tmp_path / "locks.js").app(tmp_path / "installed")
    paths: dict[str, Any] = {name: str(tmp_path / name) for name in ("lock", "text", "waiting", "go")}
    variables = {"LD_PRELOAD": str(system), "WAITING": paths["waiting"], "GO": paths["go"]}
    following = app.plan("waitsForTheLock", **paths)
    assert app.run("endsWithALock", environment=variables, next=str(following), **paths) is None
    assert (tmp_path / "text").read_text(encoding="utf-8") == "written"


@pytest.mark.parametrize(("name", "is_emptied"), [(f"{'a' * 64}-1.30.0", True), ("of-the-apps-own", False)])
def test_a_provider_that_fails_on_what_it_compiled_before_is_started_anew(
    app: native.App, runtime: Path, tmp_path: Path, name: str, is_emptied: bool
) -> None:
    folder = tmp_path / "compiled" / name
    variables = refusing(jsc.other_onnxruntime(), folder / "damaged", "the compiled model is damaged")
    other = folder.with_name(f"{'b' * 64}-1.30.0")
    plan: dict[str, Any] = {"file": str(app.bundle / MODEL), "folder": str(folder), "other": str(other)}
    case = "startsAnew" if is_emptied else "leavesTheAppsOwn"
    assert app.run(case, onnxruntime=runtime, environment=variables, **plan) is None
