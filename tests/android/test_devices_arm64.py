"""`mobpack device` on an arm64 device: Android's own arm64 libraries, and the package's, on an emulated processor.

adbd and the device tree are those of tests/toolchain/adbd.py. qemu runs Java for arm64, with the classes of which D8
made the files that are copied.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from packager.files.hashes import sha256_of
from packager.measuring.devices.adb import Adb
from tests.cases.device_cases import write_net
from tests.toolchain import adbd, device_java
from tests.toolchain.adbd import Phone, Rack, classes_for
from tests.toolchain.device_commands import Run, commands
from tests.toolchain.environments import have

PIXEL = {
    "ro.product.model": "Pixel 9",
    "ro.soc.model": "Tensor G4",
    "ro.product.cpu.abilist": f"{device_java.ARM64},armeabi-v7a,armeabi",
}
SILERO = ("--model", "silero-vad")


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
