"""Effects of the Kotlin library on the process of its app: environment variables, threads, a word on telemetry."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.toolchain import jvm
from tests.toolchain.device import Device, device, library

Use = Callable[..., Mapping[str, str]]

TELEMETRY = "ORT_DISABLE_TELEMETRY=1 once early"
A_PHONE = (1_700_000, 1_700_000, 1_700_000, 2_400_000, 2_400_000, 2_900_000)
"""clocks of cores in kHz: those of the first three are below 60 % of the last one's"""
SNAPDRAGON_8_ELITE = (*[3_532_800] * 6, *[4_320_000] * 2)
INITIALIZER = "dev.mobpack.device.onnxruntime_telemetry_initializer=ai.onnxruntime.TelemetryInitializer"


@pytest.fixture(scope="module")
def phone(built_aar: Path, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory) -> Device:
    built = library(built_aar, tmp_path_factory.mktemp("library"), apps="Process")
    made = device(built, tmp_path_factory.mktemp("device"))
    write_cores(made.folder / "files" / "phone", *A_PHONE)
    write_cores(made.folder / "files" / "fast", *SNAPDRAGON_8_ELITE)
    write_cores(made.folder / "files" / "equals", 2_000_000, 2_000_000, 2_000_000)
    return made


def write_cores(folder: Path, *speeds: int) -> None:
    """A folder as Linux's /sys/devices/system/cpu."""
    (folder / "cpufreq").mkdir(parents=True)
    for number, speed in enumerate(speeds):
        core = folder / f"cpu{number}" / "cpufreq"
        core.mkdir(parents=True)
        (core / "cpuinfo_max_freq").write_text(f"{speed}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def use(phone: Device) -> Use:
    def use(*, first: str = "package", providers: str = "CPU", registered: str = "") -> Mapping[str, str]:
        properties = {"device.provider": registered}
        return phone.run("Process", first=first, providers=providers, properties=properties).facts

    return use


@pytest.fixture(scope="module")
def alone(use: Use) -> Mapping[str, str]:
    """The process of an app whose packages are the only ones with ONNX Runtime."""
    return use()


def test_telemetry_is_off_before_the_native_code_is_loaded(alone: Mapping[str, str]) -> None:
    assert TELEMETRY in alone["variables"].split("|")


def test_models_of_all_packages_share_one_pool_of_threads(alone: Mapping[str, str]) -> None:
    assert (alone["threads of one model"], alone["threads of another package"]) == ("0", "0")


def test_a_model_with_a_number_of_threads_or_spinning_ones_has_its_own(alone: Mapping[str, str]) -> None:
    assert alone["threads of five"] == "4", "the thread that calls is the fifth"
    assert alone["threads of spinning"] == str(min(4, int(alone["processors"])) - 1)


def test_where_the_app_made_the_environment_each_model_has_threads_of_its_own(use: Use) -> None:
    facts = use(first="app")
    own = str(min(4, int(facts["processors"])) - 1)
    assert (facts["threads of one model"], facts["threads of another package"]) == (own, own)
    assert facts["threads of five"] == "4"


def test_the_app_and_two_packages_may_ask_for_the_environment_at_once(use: Use) -> None:
    for _ in range(3):
        facts = use(first="all")
        assert facts["threads of one model"] == facts["threads of another package"]


def test_big_cores_have_at_least_60_percent_of_the_fastest_clock(alone: Mapping[str, str]) -> None:
    assert alone["big cores of a phone"] == "3"
    assert alone["big cores of a phone whose cores are all fast"] == "8"
    assert alone["big cores of equals"] == "3"
    assert alone["big cores of a folder that is not there"] == alone["processors"]


def test_qnn_is_told_where_the_native_libraries_of_the_app_are(use: Use, phone: Device) -> None:
    folder = phone.folder / "data" / "lib"
    assert f"ADSP_LIBRARY_PATH={folder} once late" in use(providers="QNN,CPU")["variables"].split("|")


def test_an_app_that_starts_telemetry_is_told_once_for_each_package_how_to_stop_it(
    use: Use, alone: Mapping[str, str]
) -> None:
    warned = [line for line in use(registered=INITIALIZER)["log"].split("|") if "telemetry" in line]
    assert len(warned) == 2
    assert '<provider android:name="ai.onnxruntime.TelemetryInitializer"' in warned[0]
    assert "telemetry" not in alone["log"]
