"""Devices without one: patterns, gates, comparisons, pages, releases, and a device that is full or far away."""

import json
import os
import signal
import sys
import threading
import time
import traceback
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.engines.runners import Times
from packager.measuring.devices import (
    Device,
    DeviceProgram,
    Finished,
    GoneError,
    ListedDevice,
    comparing,
    gates,
    measuring,
    merging,
    page,
    words,
)
from packager.measuring.devices import package as packages
from packager.measuring.devices.choosing import choose, matches, refuse_malformed
from packager.measuring.devices.comparing import DeviceBaseline
from packager.measuring.devices.conditions import Conditions, read
from packager.measuring.devices.device_answers import OpenedModel, PackagedModel, Timed
from packager.measuring.devices.device_opening import Equipped
from packager.measuring.devices.document import Verdict
from packager.measuring.devices.equipping import abi_of
from packager.measuring.devices.rows import DeviceContender, DeviceRound, DeviceSample, rows_of
from packager.measuring.devices.storage import DeviceStorage
from packager.workflows import reference
from packager.workflows.device.preparing import on_each
from tests.cases.bench_cases import row
from tests.cases.device_cases import SHA256, device, document, measured
from tests.cases.schemas import jsonschema

SCHEMA = Path(__file__).parents[2] / "docs" / "devices.schema.json"
PHONE = Device(
    serial="A1",
    maker="Samsung",
    model="SM-S928B",
    soc="SM8650",
    api=34,
    release="14",
    abis=("arm64-v8a",),
    fingerprint="samsung/e3q",
)


class Fake:
    """A link to devices of a table."""

    NAME = "fake"
    HOME = "/home"
    MAIN_CLASS = "Main"

    def __init__(self, states: dict[str, str], output: str = "") -> None:
        self.states, self.output = states, output

    def listed(self) -> tuple[ListedDevice, ...]:
        return tuple(ListedDevice(serial=serial, state=state) for serial, state in self.states.items())

    def advice(self, found: ListedDevice) -> str:
        return f"mend {found.state}"

    def describe(self, serial: str) -> Device:
        return Device(**{**vars(PHONE), "serial": serial})

    def reconnect(self, serial: str) -> None:
        pass

    def shell(self, serial: str, script: str, *, timeout_s: float = 1.0) -> Finished:
        return Finished(code=0, output=self.output, complaints="")


def test_patterns_name_serial_numbers_models_chips_and_levels() -> None:
    for pattern, fits in [
        ("A1", True),
        ("sm-s9*", True),
        ("SM8650", True),
        ("soc=sm86*", True),
        ("model=Pixel*", False),
        ("api>=33", True),
        ("api<34", False),
        ("api=34", True),
        ("abi=arm64*", True),
        ("maker=samsung", True),
        ("B?", False),
    ]:
        assert matches(PHONE, pattern) is fits


@pytest.mark.parametrize("pattern", ["cpu=4", "api>=new", "soc>SM8650"])
def test_patterns_that_can_fit_nothing_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="--device"):
        refuse_malformed([pattern])


def test_a_choice_that_is_not_one_says_so() -> None:
    for states, patterns, error, words_of_it in [
        ({}, (), ToolError, "no device is connected"),
        ({"A1": "unauthorized"}, (), ToolError, "A1 is unauthorized"),
        ({"A1": "offline", "B2": "offline"}, ("*",), ToolError, "A1 is offline, and 1 more"),
        ({"A1": "device", "B2": "device"}, (), ConfigError, "2 devices are connected: A1"),
        ({"A1": "device"}, ("Pixel*",), ConfigError, "no device fits"),
    ]:
        with pytest.raises(error, match=words_of_it) as raised:
            choose(Fake(states), patterns)  # type: ignore[arg-type]
        assert getattr(raised.value, "hint", "")


def test_devices_are_chosen_that_are_ready_and_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Fake({"A1": "device", "B2": "offline", "C3": "device"})
    found = choose(link, ("*",))  # type: ignore[arg-type]
    assert [each.serial for each in found.devices] == ["A1", "C3"]
    assert [(each.serial, each.state, each.advice) for each in found.absent] == [("B2", "offline", "mend offline")]
    monkeypatch.setenv("ANDROID_SERIAL", "C3")
    assert [each.serial for each in choose(link, ()).devices] == ["C3"]  # type: ignore[arg-type]
    found = choose(Unsteady({"A1": "device", "B2": "device"}), ("*",))  # type: ignore[arg-type]
    assert [each.serial for each in found.devices] == ["A1"]
    assert [(each.serial, each.state, each.advice) for each in found.absent] == [("B2", "gone", "is it asleep?")]


def test_a_device_gets_the_code_for_its_best_processor_or_none() -> None:
    phone = replace(PHONE, abis=("arm64-v8a", "armeabi-v7a"))
    assert abi_of(phone, ("x86_64", "armeabi-v7a", "arm64-v8a"), "the package") == "arm64-v8a"
    with pytest.raises(ToolError, match="runs code for arm64-v8a, armeabi-v7a, and the package has x86_64"):
        abi_of(phone, ("x86_64",), "the package")


def test_gates_are_for_devices_providers_or_all() -> None:
    devices = (device("A1", soc="SM8650"), device("B2"))
    rows = (
        measured(row(1, rounds=[[5.0] * 100] * 2), device="A1", provider="qnn"),
        measured(row(2, rounds=[[20.0] * 100] * 2), device="B2", provider="cpu"),
    )

    def failed(*texts: str) -> list[str]:
        return list(gates.failures(gates.parse(texts, has_baseline=False), devices, rows, ()))

    assert failed("p90=12ms@SM8650", "p90@cpu=30ms", "p50@qnn=6ms@A1") == []
    assert len(failed("p90=12ms")) == 1
    assert "20.0 ms" in failed("p90=12ms@Pixel*")[0]
    assert failed("p90=12ms@SM9999") == ["p90=12ms@SM9999: nothing was measured on SM9999"]
    for wrong in ("p95=1ms", "p90=12", "p90@gpu=1ms", "p90=1ms@api>=x", "slower@SM8650"):
        with pytest.raises(ConfigError):
            gates.parse([wrong], has_baseline=False)


def test_an_earlier_run_is_compared_on_the_same_device_or_one_like_it() -> None:
    fast = [[1.0 + 0.001 * (number % 7) for number in range(100)] for _ in range(5)]
    slow = [[2 * each for each in times] for times in fast]
    before = DeviceBaseline(name="before.json", document=document(measured(row(rounds=fast))))
    for serial in ("A1", "Z9"):
        (found,) = comparing.compared((device(serial),), (measured(row(rounds=slow), device=serial),), before, 0)
        assert (found.verdict, round(found.ratio, 1)) == ("slower", 2.0)
    other = device("Z9", soc="SM8650")
    assert list(comparing.compared((other,), (measured(row(rounds=slow), device="Z9"),), before, 0)) == []
    with pytest.raises(ConfigError, match="--threads 0"):
        list(comparing.compared((other,), (), before, 2))


def test_verdicts_of_many_devices_are_one_table() -> None:
    """A device for which there is no verdict on a provider has an empty cell."""
    slow = Verdict(device="A1", model="net", provider="nnapi", is_proved=False, reason="did not answer within 3.0 s")
    good = replace(slow, provider="xnnpack", is_proved=True, reason="")
    devices = (device(), device("Z9", model="Galaxy"))
    [(title, columns, rows)] = words.verdict_tables(devices, (slow, good, replace(good, device="Z9")))
    assert "Proofs" in title
    assert columns == ("model", "provider", *map(words.name_of, devices))
    assert rows == [["net", "nnapi", slow.reason, ""], ["net", "xnnpack", "proved", "proved"]]
    skipped = replace(document(), verdicts=(replace(slow, provider="qnn"),))
    assert [cell.note for line in page.matrix(skipped).lines for cell in line.cells][1:] == [slow.reason]


def test_the_json_has_its_schema_and_is_read_as_a_baseline(tmp_path: Path) -> None:
    from packager.measuring.bench.writing import in_lines

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert schema == reference.devices_schema()
    text = in_lines(document())
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    path = tmp_path / "before.json"
    path.write_text(text, encoding="utf-8")
    assert comparing.read(path).document == document()
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds no results"):
        comparing.read(path)


def test_the_page_has_every_row_and_what_was_not_measured() -> None:
    rows = (measured(row(1)), measured(row(2, is_noisy=True, differs=True), provider="nnapi"))
    found = document(*rows, devices=(device(), device("B2", state="offline", reason="plug it in", before=None)))
    text = page.page(found)
    assert text.count("<tr>") >= 4
    for expected in ("3 of 4", "not in this build", "offline", "has other outputs", "is noisy"):
        assert expected in text, expected
    assert page.page(found) == text


def test_results_are_merged_into_a_release_by_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": [{"sha256": SHA256}]}), encoding="utf-8")
    (tmp_path / "report.html").write_text("<main>\n<p>x</p>\n</main>\n</html>\n", encoding="utf-8")
    for serial in ("A1", "B2", "A1"):
        merging.merge(tmp_path, document(measured(device=serial), devices=(device(serial),), skipped=()))
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert [each["fingerprint"] for each in manifest["devices"]] == ["google/shiba/A1", "google/shiba/B2"]
    assert "A1" not in json.dumps(manifest["devices"][0]["results"])
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report.count("<h2>On devices</h2>") == 1
    assert report.endswith("</main>\n</html>\n")
    other = document(package=packages_entry("b" * 64))
    with pytest.raises(ConfigError, match="others than"):
        merging.merge(tmp_path, other)
    with pytest.raises(ConfigError, match="holds no release"):
        merging.refuse_unfit(tmp_path / "none")


def packages_entry(sha256: str) -> object:
    from packager.measuring.devices.document import PackageEntry

    return PackageEntry(file="other.aar", sha256=sha256, runtime="onnxruntime.aar")


@pytest.mark.parametrize("content", [b"no archive", None])
def test_what_is_no_package_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.aar"
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("classes.jar", b"")
    else:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        packages.read(path, None, tmp_path)
    assert "mobpack build" in raised.value.hint
    with pytest.raises(ConfigError, match="no package at"):
        packages.find(tmp_path / "nothing")


def test_readings_that_a_device_does_not_give_are_named() -> None:
    found = read(Fake({}, "@battery\n@thermal\n@power\n@boot\nx\n@load\n0.5 1\n@clocks\n@end\n"), "A1")  # type: ignore[arg-type]
    assert [each.split(":")[0] for each in found.skipped] == ["thermal status", "battery", "screen", "clocks"]
    full = read(
        Fake(  # type: ignore[arg-type]
            {},
            "@battery\n  USB powered: true\n  Charge counter: 12\n  level: 9\n  temperature: 412\n"
            "@thermal\nThermal Status: 3\n@power\n mWakefulness=Asleep\n@boot\nb\n@load\n1.5 0 0\n"
            "@clocks\n0 1800000 2000000 schedutil 2000000\n7 2100000 3000000 schedutil 2400000\n@end\n",
        ),
        "A1",
    )
    assert (full.thermal_status, full.battery_temperature_c, full.is_awake, full.skipped) == (3, 41.2, False, ())
    assert (full.clocks[0].mhz, full.clocks[0].governor, full.is_charging) == (1800, "schedutil", True)
    hot = document(devices=(device(before=full, after=full),))
    assert [text for text in words.warnings(hot) if "thermal status severe" in text]
    assert [text for text in words.warnings(hot) if "screen is off" in text]
    assert len([text for text in words.warnings(hot) if "limited to 2400 of 3000 MHz" in text]) == 2
    assert "fastest core at 2100, then 2100 of 3000 MHz, governor schedutil" in "\n".join(words.notes(hot))


@pytest.mark.parametrize(
    ("before", "after", "used"),
    [
        ({"charge_uah": 5000}, {"charge_uah": 4200}, 800),
        ({"charge_uah": 5000, "is_charging": True}, {"charge_uah": 4200}, None),
        ({}, {"charge_uah": 4200}, None),
    ],
)
def test_charge_counts_unless_the_battery_charges(
    before: dict[str, object], after: dict[str, object], used: int | None
) -> None:
    assert measuring.charge_used(Conditions(**before), Conditions(**after)) == used  # type: ignore[arg-type]


@pytest.mark.parametrize(("boot", "restarts"), [("first", 0), ("second", 1)])
def test_a_device_that_comes_back_has_restarted_or_not(boot: str, restarts: int) -> None:
    link = Fake({"A1": "device"}, f"@boot\n{boot}\n@end\n")
    start = DeviceProgram(main_class="Main", classes=("a.jar",), libraries="l", folder="/home", abi="arm64-v8a")
    storage = DeviceStorage(link=link, device=PHONE)  # type: ignore[arg-type]
    equipped = Equipped(link=link, device=PHONE, abi="arm64-v8a", storage=storage, program=start)  # type: ignore[arg-type]
    watch = measuring.Watch(boot="first")
    measuring.come_back(equipped, 1.0, watch)
    assert (watch.reconnects, watch.restarts) == (1, restarts)


def test_outliers_cold_loads_and_throughput_are_shown() -> None:
    times_ns = (*(1_000_000 + 1000 * (number % 7) for number in range(99)), 30_000_000)
    timed = Timed(times=Times(times_ns=times_ns), first_ns=2_000_000)
    model = PackagedModel(
        class_name="a.Net", name="net", version="", inputs=(), outputs=(), providers=("cpu",), tests_itself=True
    )
    contender = DeviceContender(
        model=model,
        provider="cpu",
        sample=DeviceSample(path=Path(), expected={}),
        folder=Path(),
        rounds=[DeviceRound(timed=timed, load_s=load_s, base_bytes=None) for load_s in (0.5, 0.1)],
        about=OpenedModel(runtime="1.29.0", provider="cpu"),
    )
    (found,) = rows_of(PHONE, [contender], 0)
    assert (found.cold_load_ms, found.row.load_ms, found.first_run_ms) == (500, 100, 2)
    assert (found.row.outliers, found.row.slowest_ms) == (2, 30)
    (note, *_) = words.notes(document(found))
    for expected in ("200 runs in 2 rounds", "997 items per s", "2 outliers, the slowest 30.0 ms"):
        assert expected in note, note


class Unsteady(Fake):
    """One of its devices hangs when it is asked."""

    def describe(self, serial: str) -> Device:
        if serial == "B2":
            raise GoneError(f"{serial} did not answer within 30 s", hint="is it asleep?")
        return super().describe(serial)


def test_an_interruption_waits_for_a_device_that_still_removes_its_files() -> None:
    """`Thread.join` would take its thread for ended in Python 3.11."""
    halt = threading.Event()
    cleaned: list[str] = []
    main = threading.main_thread().ident or 0

    def is_waiting() -> bool:
        """Whether the main thread waits for this one."""
        calls = traceback.extract_stack(sys._current_frames()[main])
        return [each.name for each in calls if each.name in ("on_each", "wait")] == ["on_each", "wait"]

    def work(found: Device) -> None:
        while not is_waiting():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        halt.wait(120)
        time.sleep(0.3)
        cleaned.append(found.serial)
        raise KeyboardInterrupt

    done, failures = on_each([PHONE], work, halt)
    assert (done, cleaned) == ([], [PHONE.serial])
    assert "interrupted" in failures[0][1].message
