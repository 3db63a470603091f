"""`mobpack device` on an arm64 device refuses an output that is another one, and code for another processor."""

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from packager.files.hashes import sha256_of
from packager.measuring.devices.adb import Adb
from tests.android.test_devices_arm64 import SILERO, Lab, lab, run
from tests.toolchain import jvm
from tests.toolchain.adbd import Phone
from tests.toolchain.device_commands import Run

__all__ = ["lab", "run"]

GOLDEN = "assets/mobpack/models/silero-vad.golden.safetensors"
PACKAGE_BYTES = 1_000_000
"""More than the classes of a package or of the driver have, and less than Kotlin's."""


def test_a_sample_with_another_output_fails_on_an_arm64_device(lab: Lab, run: Run, tmp_path: Path) -> None:
    """As of a package that was built with it: the classes on the device name it, too."""
    with zipfile.ZipFile(lab.aar) as archive:
        golden = archive.read(GOLDEN)
    wrong = tmp_path / "wrong"
    wrong.write_bytes(golden[:-4] + b"\0\0\x20\x41")  # the last value of the last output is 10
    place = f"{Adb.HOME}/files/{sha256_of(wrong)}"
    assert lab.rack.adb("-s", lab.phone.serial, "push", str(wrong), place).returncode == 0
    with renamed(lab.phone, sha256(golden).hexdigest().encode(), sha256_of(wrong).encode()):
        answer = run("self-test", "--package", lab.aar, *SILERO, "--provider", "cpu")
    assert answer.code == 5
    assert f"silero-vad with cpu on {lab.phone.serial}: stateN, sample 1:" in answer.err


@contextmanager
def renamed(phone: Phone, name: bytes, other: bytes) -> Iterator[None]:
    """Has the package's classes on the device name another file."""
    jars = [path for path in (phone.folder / "classes").glob("*.jar") if path.stat().st_size < PACKAGE_BYTES]
    before = {path: path.read_bytes() for path in jars}
    count = 0
    for path, content in before.items():
        with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.namelist():
                text = old.read(entry)
                count += text.count(name)
                new.writestr(entry, text.replace(name, other))
    try:
        assert count == 1
        yield
    finally:
        for path, content in before.items():
            path.write_bytes(content)


def test_onnx_runtime_for_another_processor_is_refused(lab: Lab, run: Run, tmp_path: Path) -> None:
    runtime = jvm.android_runtime()
    for abi in ("x86_64", "arm64-v8a"):
        with zipfile.ZipFile(tmp_path / f"{abi}.aar", "w") as archive:
            archive.write(runtime.classes, "classes.jar")
            for library in runtime.libraries.iterdir():  # for x86_64
                archive.write(library, f"jni/{abi}/{library.name}")
    known = ("self-test", "--package", lab.aar, *SILERO, "--provider", "cpu", "--runtime")
    none = run(*known, "x86_64.aar")
    assert none.code == 4
    assert "runs code for arm64-v8a, armeabi-v7a, armeabi, and" in none.err.replace("\n", " ")
    misnamed = run(*known, "arm64-v8a.aar")
    assert misnamed.code == 4
    assert "libonnxruntime" in misnamed.err
    shutil.rmtree(tmp_path)
