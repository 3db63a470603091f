"""The shims for Android's system libraries behave as code compiled for Android expects."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import bionic
from tests.cases.bionic import CHECKS, android_library, probe
from tests.toolchain import jvm

__all__ = ["probe"]

pytestmark = pytest.mark.usefixtures("stand_in_compiler")


@pytest.mark.parametrize("check", CHECKS)
def test_stand_in_keeps_androids_contract(probe: Path, check: str) -> None:
    done = call(probe, check)

    assert done.returncode == 0, f"{check} returned {done.returncode}: {done.stderr}"


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
