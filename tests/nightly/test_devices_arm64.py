"""`mobpack device` on an arm64 device: Android's own arm64 libraries, and the package's, on an emulated processor.

adbd and the device tree are those of tests/toolchain/adbd.py. qemu runs Java for arm64, with the classes of which D8
made the files that are copied.
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from packager.files.hashes import sha256_of
from packager.measuring.devices.adb import Adb
from tests.cases.device_cases import write_net
from tests.toolchain import adbd, device_java, jvm
from tests.toolchain.adbd import Phone, Rack, classes_for
from tests.toolchain.device_commands import Run, commands
from tests.toolchain.environments import have

PIXEL = {
    "ro.product.model": "Pixel 9",
    "ro.soc.model": "Tensor G4",
    "ro.product.cpu.abilist": f"{device_java.ARM64},armeabi-v7a,armeabi",
}
SILERO = ("--model", "silero-vad")
GOLDEN = "assets/mobpack/models/silero-vad.golden.safetensors"
PACKAGE_BYTES = 1_000_000
"""More than the classes of a package or of the driver have, and less than Kotlin's."""


@dataclass(frozen=True)
class Lab:
    rack: Rack
    aar: Path
    phone: Phone


@pytest.fixture(scope="module")
def lab(built_aar: Path, onnxruntime_android: object) -> Iterator[Lab]:
    have("android")
    classes = {**classes_for(None), **classes_for(built_aar)}
    with adbd.rack() as rack:
        yield Lab(rack=rack, aar=built_aar, phone=rack.phone(PIXEL, classes=classes))


@pytest.fixture
def run(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    return commands(lab.rack, tmp_path, monkeypatch, capfd)


def test_a_package_tests_itself_with_the_libraries_of_arm64_phones(lab: Lab, run: Run) -> None:
    answer = run("self-test", "--package", lab.aar, *SILERO, "--provider", "cpu", "--provider", "xnnpack", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    (device,) = found["devices"]
    assert (device["model"], device["abi"], device["state"]) == ("Pixel 9", "arm64-v8a", "measured")
    rows = {each["provider"]: each for each in found["rows"]}
    assert {name: each["passed"] for name, each in rows.items()} == {"cpu": True, "xnnpack": True}
    outputs = [output for each in found["rows"] for output in each["outputs"]]
    assert {each["name"] for each in outputs} == {"output", "stateN"}
    assert all(each["max-rel-error"] < 1e-5 < each["tolerance"] for each in outputs)
    # The library of the package itself, which is there for arm64 alone, asks ONNX Runtime for these.
    nodes = {each["provider"]: each["nodes"] for each in rows["xnnpack"]["assigned"]}
    assert nodes["XNNPACK"] > 0 < nodes["CPU"]

    folder = f"{Adb.HOME}/libraries/*"
    sums = lab.rack.adb("-s", lab.phone.serial, "shell", f"cd {folder} && sha256sum *.so").stdout.split()
    copied = dict(zip(sums[1::2], sums[::2], strict=True))
    published = {path.name: sha256_of(path) for path in device_java.libraries().iterdir()}
    assert published.items() < copied.items()
    assert len(copied) == 3


def test_files_that_ship_are_compared_with_the_original_on_an_arm64_device(run: Run, tmp_path: Path) -> None:
    write_net(tmp_path / "net.onnx")
    provider = ("--set", 'target.android.providers=["xnnpack"]')  # the net is too small for a file by default
    answer = run("check", "net.onnx", "--package", "none", "--json", *provider)
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert {each["runner"].split()[-1] for each in found["parity"]} == {"cpu", "xnnpack"}
    assert all(output["max-rel-error"] < 1e-5 for each in found["parity"] for output in each["outputs"])
    assert found["failures"] == []


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
