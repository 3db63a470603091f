"""The part of an Android package that is in C: contents of each processor's library, and its answer about a runtime."""

import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature, Style
from packager.engines.environments import zig
from packager.files import elf
from packager.files.processes import commands, downloads
from packager.files.store import Store
from packager.targets.android import Android, assembly, native
from packager.targets.android.view import AndroidView
from tests.golden.cases import PLAIN_FILE, choice, plan, specs

pytestmark = pytest.mark.usefixtures("stand_in_compiler")

ABIS = ("arm64-v8a", "armeabi-v7a", "x86", "x86_64")
OLD_RUNTIME = """\
typedef struct { const void *(*GetApi)(unsigned); const char *(*GetVersionString)(void); } Base;
static const void *none(unsigned version) { (void)version; return 0; }
static const Base BASE = {none, 0};
const Base *OrtGetApiBase(void) { return &BASE; }
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def view_of(target: Android, file: Path = PLAIN_FILE) -> AndroidView:
    """A model whose providers open `file`."""
    tensor = specs("input", ("x", ElementType.FLOAT, (1, 2)))
    choices = [choice(provider, path=Path(file.name)) for provider in target.providers]
    described = plan("m", Signature(inputs=tensor, outputs=tensor), *choices, choice("cpu", Style.UNFUSED))
    return target.view(Package(name="m", version="1.0.0", license=""), (described,), Report(parities=()))


def test_each_processor_has_a_library_that_needs_onnx_runtime_alone(store: Store) -> None:
    made = native.libraries("com.example.page_models", "ai.onnxruntime", ABIS, store)
    name = "libmobpack_com_example_page_1models.so"
    assert list(made) == [PurePosixPath("jni", abi, name) for abi in ABIS]
    for abi, file in zip(ABIS, made.values(), strict=True):
        found = elf.read(file.read_bytes(), name)
        assert (found.abi, found.soname, found.needed) == (abi, name, ("libonnxruntime.so",))
        assert found.page_bytes == 16384
        assert found.has_gnu_hash
        names = {(symbol.name, symbol.is_defined) for symbol in elf.symbols(file.read_bytes(), name)}
        assert names == {("OrtGetApiBase", False), ("Java_com_example_page_1models_NativeAssignment_read", True)}
        assert file.stat().st_size < 4096


def test_libraries_are_the_same_bytes_wherever_they_are_made(store: Store, tmp_path: Path) -> None:
    first, second = (
        [file.read_bytes() for file in native.libraries("com.example.a", "ai.onnxruntime", ABIS, each).values()]
        for each in (store, Store(tmp_path / "another"))
    )
    assert first == second


def test_libraries_are_compiled_once(store: Store) -> None:
    first = native.libraries("com.example.a", "ai.onnxruntime", ABIS, store)
    before = [file.stat().st_mtime_ns for file in first.values()]
    again = native.libraries("com.example.a", "ai.onnxruntime", ABIS, store)
    assert [file.stat().st_mtime_ns for file in again.values()] == before


def test_a_library_needs_the_renamed_onnx_runtime_of_its_package(store: Store) -> None:
    [file] = native.libraries("com.example.a", "ai.acmexxxx123", ("arm64-v8a",), store).values()
    assert elf.read(file.read_bytes(), file.name).needed == ("libacmexxxx123.so",)


@pytest.mark.parametrize(("one", "other"), [("a.b_c", "a_b.c"), ("a.b", "a_b"), ("com.a.x", "com.b.x")])
def test_no_two_packages_have_a_library_of_one_name(one: str, other: str) -> None:
    assert native.library_name(one) != native.library_name(other)


def test_a_runtime_that_is_too_old_answers_null(store: Store, tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text(OLD_RUNTIME, encoding="utf-8")
    runtime = tmp_path / "libonnxruntime.so"
    command: list[str | Path] = [zig.compiler(), "cc", "-target", "x86_64-linux-gnu", "-shared", "-fPIC", "-nostdlib"]
    commands.run([*command, tmp_path / "old.c", "-o", runtime], what="compiling an old runtime")
    [file] = native.libraries("com.example.a", "ai.onnxruntime", ("x86_64",), store).values()
    program = f"""
import ctypes
read = ctypes.CDLL({str(file)!r}).Java_com_example_a_NativeAssignment_read
read.restype = ctypes.c_void_p
assert read(None, None, ctypes.c_int64(0)) is None
"""
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300, env=environment)


def test_a_package_has_the_processors_of_its_runtime_and_one_for_the_cpu_alone_has_none(store: Store) -> None:
    found = {
        providers: [path.parts[1] for path in assembly.libraries(view_of(Android(providers=providers)), store)]
        for providers in ((), ("xnnpack",), ("qnn", "xnnpack"))
    }
    assert found == {(): [], ("xnnpack",): list(ABIS), ("qnn", "xnnpack"): ["arm64-v8a"]}


def test_a_package_of_files_in_ort_format_has_none(store: Store) -> None:
    target = Android(providers=("xnnpack",))
    view = view_of(target, Path("model.ort"))
    assert not assembly.libraries(view, store)
    rendered = target.render(view).texts
    assert not [name for name, text in rendered.items() if "NativeAssignment" in text]


def test_the_compiler_is_pinned_for_every_host_in_one_version() -> None:
    packages = {downloads.pin(name).package.removesuffix(".post0") for name in zig.PINS.values()}
    assert packages == {f"ziglang=={zig.version()}"}
    assert zig.installed() == zig.version()
