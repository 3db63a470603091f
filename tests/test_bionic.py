"""The shims for Android's system libraries behave as code compiled for Android expects."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import bionic, zig
from packager.engines.environments.arm64 import Arm64
from packager.files.processes import commands
from tests.toolchain import jvm
from tests.toolchain.environments import have

PROBE = Path(__file__).with_name("toolchain") / "bionic_probe.c"
CHECKS = re.findall(r"^int (\w+)\(void\) \{", PROBE.read_text(encoding="utf-8"), re.MULTILINE)


pytestmark = [pytest.mark.android, pytest.mark.usefixtures("stand_in_compiler")]


@pytest.fixture(scope="session")
def probe(stand_in_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_probe(tmp_path_factory.mktemp("probe"))


def built_probe(folder: Path, *, target: str = bionic.ZIG_TARGET) -> Path:
    names = re.findall(r"^extern .*?(\w+)(?:\(|\[|;)", PROBE.read_text(encoding="utf-8"), re.MULTILINE)
    objects = {"__sF", "stdout"}
    return android_library(
        folder, PROBE, functions=sorted(set(names) - objects), objects=sorted(objects), target=target
    )


@pytest.mark.parametrize("check", CHECKS)
def test_stand_in_keeps_androids_contract(probe: Path, check: str) -> None:
    done = call(probe, check)

    assert done.returncode == 0, f"{check} returned {done.returncode}: {done.stderr}"


@pytest.mark.environments
def test_shims_for_arm64_keep_it_too(tmp_path: Path) -> None:
    have(Arm64.NAME)
    probe = built_probe(tmp_path, target=bionic.PROCESSORS["arm64-v8a"].target)
    program = "import ctypes, sys; probe = ctypes.CDLL(sys.argv[1])\n"
    program += "for name in sys.argv[2:]: print(name, getattr(probe, name)(), file=sys.stderr, flush=True)"

    done = subprocess.run(
        [*Arm64().command(), "-c", program, str(probe), *CHECKS],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**Arm64().variables(), "LD_LIBRARY_PATH": str(bionic.shims([probe]))},
    )

    assert [line for line in done.stderr.splitlines() if line.startswith(tuple(CHECKS))] == [
        f"{name} 0" for name in CHECKS
    ], done.stderr
    assert done.stdout == "old new"


def test_binaries_of_two_processors_get_no_shims(probe: Path, tmp_path: Path) -> None:
    other = tmp_path / "libother.so"
    other.write_bytes(probe.read_bytes()[:18] + b"\xb7\0" + probe.read_bytes()[20:])  # e_machine: arm64

    with pytest.raises(ToolError, match="binaries of arm64-v8a, x86_64") as raised:
        bionic.shims([probe, other])
    assert raised.value.hint == "give binaries of one of these: x86_64, arm64-v8a"


def test_both_ways_to_name_the_standard_streams_reach_the_process(probe: Path) -> None:
    assert call(probe, "old_and_new_standard_streams_work").stdout == "old new"


def test_stand_ins_are_built_once_for_the_same_binaries(probe: Path) -> None:
    built = bionic.shims([probe])
    before = (built / "libc.so").stat().st_mtime_ns

    assert bionic.shims([probe]) == built
    assert (built / "libc.so").stat().st_mtime_ns == before


def test_a_name_that_glibc_does_not_have_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text("extern int android_only(void);\nint use(void) { return android_only(); }\n", encoding="utf-8")
    binary = android_library(tmp_path, source, functions=["android_only"], objects=[])

    with pytest.raises(ToolError, match="undefined symbol: android_only"):
        bionic.shims([binary])


def test_a_library_without_a_stand_in_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text("extern int vkCreate(void);\nint use(void) { return vkCreate(); }\n", encoding="utf-8")
    binary = android_library(tmp_path, source, functions=["vkCreate"], objects=[], library="libvulkan.so")

    with pytest.raises(ToolError, match=r"need libvulkan\.so, which has no shim"):
        bionic.shims([binary])


def test_onnxruntimes_libraries_are_the_published_ones_and_find_all_they_import(
    onnxruntime_android: jvm.AndroidRuntime,
) -> None:
    libraries = sorted(onnxruntime_android.libraries.iterdir())

    built = bionic.shims(libraries)  # raises ToolError when a name is missing

    assert {path.name for path in built.iterdir()} == {"libandroid.so", "libc.so", "libdl.so", "liblog.so", "libm.so"}
    with zipfile.ZipFile(onnxruntime_android.aar) as archive:
        assert [path.read_bytes() for path in libraries] == [
            archive.read(f"jni/x86_64/{name}") for name in ("libonnxruntime.so", "libonnxruntime4j_jni.so")
        ]


def android_library(
    folder: Path,
    source: Path,
    *,
    functions: list[str],
    objects: list[str],
    library: str = "libc.so",
    target: str = bionic.ZIG_TARGET,
) -> Path:
    """`source` compiled against an Android library of names alone, in version LIBC."""
    stub = folder / "stub.c"
    stub.write_text(
        "".join([*(f"void {name}(void) {{}}\n" for name in functions), *(f"char {name}[456];\n" for name in objects)]),
        encoding="utf-8",
    )
    versions = folder / "stub.map"
    versions.write_text("LIBC { global: *; };\n", encoding="utf-8")
    compiler: list[str | Path] = [
        zig.compiler(),
        "cc",
        "-target",
        target,
        "-shared",
        "-fPIC",
        "-nostdlib",
        "-fno-builtin",
        "-fno-sanitize=undefined",
        "-fno-stack-protector",
        "-w",
    ]
    commands.run(
        [*compiler, stub, f"-Wl,-soname,{library}", f"-Wl,--version-script={versions}", "-o", folder / library],
        what="building a library of names",
    )
    binary = folder / "libprobe.so"
    commands.run([*compiler, "-O1", source, folder / library, "-o", binary], what=f"compiling {source.name}")
    return binary


def call(binary: Path, function: str) -> subprocess.CompletedProcess[str]:
    """Calls a function without arguments in a process of its own; its result is the exit code."""
    program = f"import ctypes, sys; sys.exit(ctypes.CDLL({str(binary)!r}).{function}())"
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={"LD_LIBRARY_PATH": str(bionic.shims([binary]))},
    )
