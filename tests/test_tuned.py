"""Settings by chip: packages follow those that were measured for theirs, unless the app sets its own."""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from packager.config import loading
from packager.core.errors import ConfigError
from tests.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, jvm
from tests.toolchain.device import Device, device, library
from tests.toolchain.forks import forked
from tests.toolchain.warm_apps import warm

__all__ = ["forked", "warm"]
pytestmark = pytest.mark.by_content

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"
PROJECT = """\
[package]
name = "models"

[model.chain]
path = "chain.onnx"

[model.plain]
path = "plain.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npz"

[check]
gain = "skip"
"""
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


def project(folder: Path, target: str) -> Path:
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    saved(folder / "plain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64, seed=1)}))
    numpy.savez(folder / "samples.npz", x=weight(16, 8, 64, seed=2))
    (folder / "mobpack.toml").write_text(PROJECT + target)
    return folder


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


@pytest.mark.kotlin
@pytest.mark.android
def test_kotlin_follows_the_settings_of_its_chip(phone: Device) -> None:
    facts = told(phone, "SM8650")
    assert (facts["usual.providers"], facts["usual.threads"]) == ("XNNPACK", "2")
    assert facts["usual.options"] == "{XNNPACK={intra_op_num_threads=3}}"
    assert (facts["provider"], facts["fallbacks"]) == ("XNNPACK", "")


@pytest.mark.kotlin
@pytest.mark.android
def test_what_an_app_sets_in_kotlin_stays(phone: Device) -> None:
    facts = told(phone, "SM8650")
    assert (facts["off.providers"], facts["off.threads"], facts["off.options"]) == ("NNAPI, XNNPACK, CPU", "0", "{}")
    assert (facts["own order.providers"], facts["own order.threads"]) == ("NNAPI", "2")
    assert (facts["own threads.providers"], facts["own threads.threads"]) == ("XNNPACK", "1")
    assert facts["own setting.options"] == "{XNNPACK={intra_op_num_threads=3, own=1}}"


@pytest.mark.kotlin
@pytest.mark.android
@pytest.mark.parametrize(
    ("chip", "sdk", "threads"), [("Tensor G3", 34, "3"), ("unknown", 34, "0"), ("SM8650", 30, "0")]
)
def test_other_chips_have_their_own_settings_or_the_packages(phone: Device, chip: str, sdk: int, threads: str) -> None:
    facts = told(phone, chip, sdk=sdk)
    assert (facts["usual.providers"], facts["usual.threads"]) == ("NNAPI, XNNPACK, CPU", threads)
    assert facts["fallbacks"].startswith("NNAPI") or facts["provider"] == "NNAPI"


@pytest.mark.kotlin
@pytest.mark.android
def test_kotlin_takes_the_cpu_alone_where_that_is_the_fastest(phone: Device) -> None:
    facts = told(phone, "MT6765")
    assert (facts["usual.providers"], facts["usual.threads"]) == ("CPU", "4")
    assert (facts["provider"], facts["fallbacks"]) == ("CPU", ""), "no other provider is tried"
    assert (facts["own order.providers"], facts["own order.threads"]) == ("NNAPI", "4")


def varied(phone: Device, chip: str, *, wrong: str = "no") -> Mapping[str, str]:
    return phone.run_warm("Varied", properties={"android.soc": chip, "android.sdk": 34}, wrong=wrong).facts


@pytest.mark.kotlin
@pytest.mark.android
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


@pytest.mark.kotlin
@pytest.mark.android
def test_a_wrong_file_fails_the_self_test_on_the_chip_that_opens_it(phone: Device, tmp_path: Path) -> None:
    wrong = replace(phone, apk=tmp_path / "wrong.apk", folder=tmp_path)
    with zipfile.ZipFile(phone.apk) as right, zipfile.ZipFile(wrong.apk, "w") as changed:
        for name in right.namelist():
            changed.writestr(name, right.read(name.replace("chain-int8.ort", "plain.ort")))
    facts = varied(wrong, "SM8475", wrong="yes")
    assert (facts["usual.file"], facts["usual.passed"]) == ("chain-int8.ort", "false")
    assert facts["off.passed"] == "true", "other devices do not open it"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[target.android.tuned.SM8650.net]\nthreads = 2", "target.android.tuned.SM8650: unknown model 'net'"),
        ('[target.android.tuned.SM8650.chain]\nproviders = ["qnn"]', "has the provider 'qnn'"),
        ('[target.android.tuned.SM8650.chain]\nproviders = ["cpu", "xnnpack"]', "has providers behind 'cpu'"),
        ('[target.android.tuned.SM8650.chain]\nprovider-options = { cpu = { a = "1" } }', "of 'cpu', which takes none"),
        ("[target.android.tuned.SM8650.chain]\nthreads = 1000", "threads is 1000"),
        ("[target.android.tuned.SM8650.chain]\nthread = 2", "thread"),
        ('[target.android.tuned."a\\nb".chain]\nthreads = 2', "is no name of a chip"),
        ('[target.android.tuned.SM8650.chain]\nvariant = "int4"', "SM8650.chain: unknown variant 'int4'"),
        ('[target.android.tuned.SM8650.chain]\nvariant = "source"', "which the target ships for every chip"),
        ('[target.web.tuned.SM8650.chain]\nvariant = "int8"', "unknown key 'tuned'"),
    ],
)
def test_settings_that_fit_nothing_are_refused(line: str, words: str, tmp_path: Path) -> None:
    folder = project(tmp_path, f"\n{line}\n")
    with pytest.raises(ConfigError) as refused:
        loading.load(folder / "mobpack.toml")
    assert words in refused.value.message
    assert refused.value.hint
