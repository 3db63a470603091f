"""Settings by chip: packages follow those that were measured for theirs, unless the app sets its own."""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases.tuned import project
from tests.toolchain import command, jvm
from tests.toolchain.device import Device, device, library
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]

ANDROID = """
[target.android]
providers = ["nnapi", "xnnpack"]

[target.android.tuned.SM8650.chain]
providers = ["xnnpack"]
threads = 2
provider-options = { xnnpack = { intra_op_num_threads = "3" } }

[target.android.tuned.SM8650.plain]
threads = 4

[target.android.tuned."Tensor G3".chain]
threads = 3

[target.android.tuned.MT6765.chain]
providers = ["cpu"]
threads = 4

[target.android.tuned.SM8550.chain]
variant = "int8"
providers = ["xnnpack"]

[target.android.tuned.SM8475.chain]
variant = "int8"
providers = ["cpu"]
threads = 2
"""


@pytest.fixture(scope="module")
def phone(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Device:
    folder = project(tmp_path_factory.mktemp("tuned"), ANDROID)
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    [aar] = (folder / "dist/android").glob("*.aar")
    return device(library(aar, folder / "library", apps="tuned/*", has_task=False), folder)


def told(phone: Device, chip: str, *, sdk: int = 34) -> Mapping[str, str]:
    return phone.run_warm("Tuned", properties={"android.soc": chip, "android.sdk": sdk}).facts


def test_kotlin_follows_the_settings_of_its_chip(phone: Device) -> None:
    facts = told(phone, "SM8650")
    assert (facts["usual.providers"], facts["usual.threads"]) == ("XNNPACK", "2")
    assert facts["usual.options"] == "{XNNPACK={intra_op_num_threads=3}}"
    assert (facts["provider"], facts["fallbacks"]) == ("XNNPACK", "")


def test_what_an_app_sets_in_kotlin_stays(phone: Device) -> None:
    facts = told(phone, "SM8650")
    assert (facts["off.providers"], facts["off.threads"], facts["off.options"]) == ("NNAPI, XNNPACK, CPU", "0", "{}")
    assert (facts["own order.providers"], facts["own order.threads"]) == ("NNAPI", "2")
    assert (facts["own threads.providers"], facts["own threads.threads"]) == ("XNNPACK", "1")
    assert facts["own setting.options"] == "{XNNPACK={intra_op_num_threads=3, own=1}}"


@pytest.mark.parametrize(
    ("chip", "sdk", "threads"), [("Tensor G3", 34, "3"), ("unknown", 34, "0"), ("SM8650", 30, "0")]
)
def test_other_chips_have_their_own_settings_or_the_packages(phone: Device, chip: str, sdk: int, threads: str) -> None:
    facts = told(phone, chip, sdk=sdk)
    assert (facts["usual.providers"], facts["usual.threads"]) == ("NNAPI, XNNPACK, CPU", threads)
    assert facts["fallbacks"].startswith("NNAPI") or facts["provider"] == "NNAPI"


def test_kotlin_takes_the_cpu_alone_where_that_is_the_fastest(phone: Device) -> None:
    facts = told(phone, "MT6765")
    assert (facts["usual.providers"], facts["usual.threads"]) == ("CPU", "4")
    assert (facts["provider"], facts["fallbacks"]) == ("CPU", ""), "no other provider is tried"
    assert (facts["own order.providers"], facts["own order.threads"]) == ("NNAPI", "4")


def varied(phone: Device, chip: str, *, wrong: str = "no") -> Mapping[str, str]:
    return phone.run_warm("Varied", properties={"android.soc": chip, "android.sdk": 34}, wrong=wrong).facts


def test_kotlin_opens_the_variant_of_its_chip_and_tests_what_that_computes(phone: Device) -> None:
    facts = {chip: varied(phone, chip) for chip in ("SM8550", "SM8475", "SM8650", "unknown")}
    opened = {chip: (found["usual.file"], found["usual.provider"]) for chip, found in facts.items()}
    assert opened == {
        "SM8550": ("chain-int8.ort", "CPU"),  # XNNPACK takes no node of it: variants are not mixed
        "SM8475": ("chain-int8.ort", "CPU"),
        "SM8650": ("chain-unfused.onnx", "XNNPACK"),
        "unknown": ("chain-unfused.onnx", "XNNPACK"),
    }
    for chip, found in facts.items():
        assert {found[f"{how}.file"] for how in ("off", "own order")} == {"chain-unfused.onnx"}, chip
        assert {found[f"{how}.passed"] for how in ("usual", "off", "own order")} == {"true"}, chip
    assert [facts[chip]["usual.tolerance"] for chip in ("SM8475", "SM8650")] == ["0.05", "0.001"]


def test_a_wrong_file_fails_the_self_test_on_the_chip_that_opens_it(phone: Device, tmp_path: Path) -> None:
    wrong = replace(phone, apk=tmp_path / "wrong.apk", folder=tmp_path)
    with zipfile.ZipFile(phone.apk) as right, zipfile.ZipFile(wrong.apk, "w") as changed:
        for name in right.namelist():
            changed.writestr(name, right.read(name.replace("chain-int8.ort", "plain.ort")))
    facts = varied(wrong, "SM8475", wrong="yes")
    assert (facts["usual.file"], facts["usual.passed"]) == ("chain-int8.ort", "false")
    assert facts["off.passed"] == "true", "other devices do not open it"
