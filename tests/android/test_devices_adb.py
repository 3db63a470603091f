"""`mobpack device` on Android's own adbd: what is copied, run, pulled and reported, and everything that goes wrong.

The devices are processes of this machine (tests/toolchain/adbd.py). Java and ONNX Runtime's Android libraries are
real; the files that D8 makes are copied, and the classes that they were made of run.
"""

import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.measuring.devices import GoneError
from packager.measuring.devices.adb import Adb
from packager.measuring.devices.storage import DeviceStorage
from tests.cases.device_cases import write_net
from tests.cases.waiting import until
from tests.toolchain import adbd
from tests.toolchain.adbd import Phone, Rack, classes_for, interruption
from tests.toolchain.device_commands import Run, commands
from tests.toolchain.environments import have

WITH_XNNPACK = ("--set", 'target.android.providers=["xnnpack"]')
"""The net is too small for a file by default."""
GALAXY = {
    "ro.product.manufacturer": "samsung",
    "ro.product.model": "SM-S928B",
    "ro.soc.model": "SM8650",
    "ro.build.version.sdk": "31",
    "ro.build.fingerprint": "samsung/e3q/e3q:12/release-keys",
}


@dataclass(frozen=True)
class Lab:
    rack: Rack
    aar: Path
    pixel: Phone
    galaxy: Phone


@pytest.fixture(scope="module")
def lab(built_aar: Path, onnxruntime_android: object) -> Iterator[Lab]:
    have("android")  # or no file for XNNPACK is made
    classes = {**classes_for(None), **classes_for(built_aar)}
    with adbd.rack() as rack:
        pixel = rack.phone(classes=classes)
        yield Lab(rack=rack, aar=built_aar, pixel=pixel, galaxy=rack.phone(GALAXY, classes=classes))


@pytest.fixture
def run(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command, in an empty folder, with the adb of the rack."""
    return commands(lab.rack, tmp_path, monkeypatch, capfd)


@pytest.fixture
def link(lab: Lab, run: Run) -> Adb:
    return Adb()


def test_devices_are_listed_with_what_they_are(lab: Lab, run: Run) -> None:
    found = json.loads(run("list", "--json").out)["devices"]
    facts = {each["serial"]: (each["model"], each["soc"], each["api"], each["abis"]) for each in found}
    assert facts[lab.pixel.serial] == ("Pixel 8", "Tensor G3", 34, ["x86_64"])
    assert facts[lab.galaxy.serial] == ("SM-S928B", "SM8650", 31, ["x86_64"])
    shown = run("list")
    assert (shown.code, "Google Pixel 8" in shown.out) == (0, True)


def test_commands_and_files_come_back_as_they_were(lab: Lab, link: Adb, tmp_path: Path) -> None:
    done = link.shell(lab.pixel.serial, "echo one; echo two >&2; exit 7")
    assert (done.code, done.output.strip(), done.complaints.strip()) == (7, "one", "two")
    source = tmp_path / "a file"
    source.write_bytes(bytes(range(256)) * 5000)
    storage = DeviceStorage(link=link, device=link.describe(lab.pixel.serial))
    assert storage.put({f"files/{sha256_of(source)}": source}) == source.stat().st_size
    assert storage.put({f"files/{sha256_of(source)}": source}) == 0
    link.pull(lab.pixel.serial, f"{link.HOME}/files/{sha256_of(source)}", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    with pytest.raises(GoneError, match="did not answer within"):
        link.shell(lab.pixel.serial, "sleep 20", timeout_s=0.5)


def test_models_of_a_package_test_themselves_on_all_devices(lab: Lab, run: Run) -> None:
    arguments = ("self-test", "--package", lab.aar, "--device", "*", "--json", "--model", "silero-vad")
    answer = run(*arguments, "--provider", "cpu", "--provider", "xnnpack")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert [each["state"] for each in found["devices"]] == ["measured"] * 2
    assert {(each["device"], each["provider"]): each["passed"] for each in found["rows"]} == {
        (phone.serial, provider): True for phone in (lab.pixel, lab.galaxy) for provider in ("cpu", "xnnpack")
    }
    # Which of them is faster on this machine is not the test's business.
    assert {(each["device"], each["provider"]) for each in found["verdicts"]} == {
        (phone.serial, "xnnpack") for phone in (lab.pixel, lab.galaxy)
    }
    for each in found["verdicts"]:
        assert each["is-proved"] == (each["reason"] == "")
        assert re.fullmatch("|slower than the CPU: .* ms instead of .* ms", each["reason"])
        assert min(each["ms"], each["cpu-ms"]) > 0
    outputs = [output for each in found["rows"] for output in each["outputs"]]
    assert {each["name"] for each in outputs} == {"output", "stateN"}
    assert all(0 < each["max-rel-error"] < 1e-4 for each in outputs if each["name"] == "stateN")
    left = Adb().shell(lab.pixel.serial, f"ls {Adb.HOME}/runs {Adb.HOME}/incoming").output.split()
    assert [each for each in left if not each.endswith(":")] == []


def test_times_of_two_devices_are_taken_compared_and_judged(lab: Lab, run: Run, tmp_path: Path) -> None:
    quick: list[str | Path] = ["bench", "--package", lab.aar, "--model", "silero-vad", "--provider", "cpu"]
    quick += ["--provider", "qnn", "--rounds", "2", "--seconds", "0.1"]
    answer = run(*quick, "--device", "*", "--report", "d.html", "--fail-on", "p90=9s@Tensor*", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert [(each["device"], each["provider"]) for each in found["rows"]] == [
        (lab.pixel.serial, "cpu"),
        (lab.galaxy.serial, "cpu"),
    ]
    assert {each["provider"] for each in found["skipped"]} == {"qnn"}
    for each in found["rows"]:
        row = each["row"]
        assert 0 < row["p50-ms"] <= row["p90-ms"] <= row["slowest-ms"]
        assert each["first-run-ms"] > 0
        assert row["load-ms"] > 0
        assert each["cold-load-ms"] > 0
        assert row["items-per-second"] > 0
        assert each["pss-bytes"] > each["mapped-bytes"] > 100_000
        assert (row["differs"], row["error"] < 1e-3, len(row["rounds"])) == (False, True, 2)
    first = found["devices"][0]
    assert (first["reconnects"], first["restarts"]) == (0, 0)
    assert (first["before"]["thermal-status"], first["before"]["battery-level"]) == (0, 87)
    assert [text for text in first["skipped"] if text.startswith("energy: the battery charges")]
    assert "Pixel 8" in (tmp_path / "d.html").read_text(encoding="utf-8")

    again = run(*quick, "--device", "api>=34", "--baseline", "d.json", "--fail-on", "p50=1ns@Pixel*")
    assert again.code == 6
    assert "p50=1ns@Pixel*" in again.err
    assert "Compared with d.json" in again.out


def test_a_sample_that_is_damaged_on_a_device_is_refused(lab: Lab, run: Run, link: Adb, tmp_path: Path) -> None:
    with zipfile.ZipFile(lab.aar) as archive:
        golden = archive.read("assets/mobpack/models/silero-vad.golden.safetensors")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(golden[:-1] + bytes([golden[-1] ^ 1]))
    place = f"{link.HOME}/files/{sha256(golden).hexdigest()}"
    link.push(lab.pixel.serial, damaged, place)
    answer = run(
        *("self-test", "--package", lab.aar, "--device", lab.pixel.serial),
        *("--model", "silero-vad", "--provider", "cpu"),
    )
    link.shell(lab.pixel.serial, f"rm {place}")
    assert answer.code == 4
    assert sha256_of(damaged) in answer.err.replace("\n", "")


def wait_for_a_round(phone: Phone) -> None:
    """Until Java runs in the first round, which makes a folder for what the package keeps."""
    data = phone.folder / "data" / "mobpack" / "data"
    until(lambda: data.is_dir() and any(data.iterdir()) and any(phone.running("java")))


def test_a_cable_that_is_pulled_and_put_back_costs_a_round(lab: Lab, run: Run) -> None:
    """The daemon dies in the middle, with all that it had started, as on a restart, and its disk stays."""
    phone = lab.rack.phone({"ro.product.model": "Loose"}, classes=classes_for(lab.aar), keeps_disk=True)

    def pull() -> None:
        wait_for_a_round(phone)
        phone.pull_cable()
        time.sleep(1)
        phone.start()

    for _ in range(5):
        pulling = threading.Thread(target=pull)
        pulling.start()
        answer = run(
            *("bench", "--package", lab.aar, "--model", "silero-vad", "--provider", "cpu", "--device", "Loose"),
            *("--rounds", "2", "--seconds", "1", "--wait", "120", "--json"),
        )
        pulling.join()
        assert answer.code == 0, answer.err
        (device,) = json.loads(answer.out)["devices"]
        if device["reconnects"]:  # unless the last round was over
            break
    phone.pull_cable()
    assert device["reconnects"] >= 1
    assert device["restarts"] >= 1


def test_a_device_that_goes_for_good_is_reported_beside_the_others(lab: Lab, run: Run) -> None:
    phone = lab.rack.phone({"ro.product.model": "Lost"}, classes=classes_for(lab.aar), keeps_disk=True)

    def pull() -> None:
        wait_for_a_round(phone)
        phone.pull_cable()

    for _ in range(5):
        pulling = threading.Thread(target=pull)
        pulling.start()
        answer = run(
            *("bench", "--package", lab.aar, "--model", "silero-vad", "--provider", "cpu"),
            *("--device", "Lost", "--device", "Pixel*", "--rounds", "2", "--seconds", "0.2", "--wait", "1", "--json"),
        )
        pulling.join()
        if answer.code:  # unless the last round was over
            break
        phone.start()
        phone.connect()
    assert answer.code == 4
    found = json.loads(answer.out)
    states = {each["serial"]: each["state"] for each in found["devices"]}
    assert states == {lab.pixel.serial: "measured", phone.serial: "failed"}
    assert phone.serial in answer.err
    assert [each["device"] for each in found["rows"]] == [lab.pixel.serial]
    listed = json.loads(run("list", "--json").out)["devices"]
    (gone,) = [each for each in listed if each["serial"] == phone.serial]
    assert (gone["state"], "unplug" in gone["advice"]) == ("offline", True)
    lone = run("self-test", "--package", lab.aar, "--device", phone.serial)
    assert (lone.code, "offline" in lone.err) == (4, True)


@pytest.mark.parametrize(
    ("properties", "disk_mb", "lacks", "code", "said"),
    [
        ({"ro.product.cpu.abilist": "riscv64"}, 50, (), 4, "runs code for riscv64"),
        ({"ro.build.version.sdk": "23"}, 50, (), 4, "API level 23"),
        ({}, 8, (), 4, "no room in /data/local/tmp/mobpack"),
        ({}, 400, ("app_process", "app_process64"), 4, "has no app_process"),
    ],
    ids=["other processor", "old Android", "full disk", "no app_process"],
)
def test_devices_that_cannot_run_a_package_say_why(
    lab: Lab, run: Run, properties: dict[str, str], disk_mb: int, lacks: tuple[str, ...], code: int, said: str
) -> None:
    phone = lab.rack.phone(
        {"ro.product.model": "Odd", **properties}, disk_mb=disk_mb, lacks=lacks, classes=classes_for(lab.aar)
    )
    answer = run("self-test", "--package", lab.aar, "--device", phone.serial)
    phone.pull_cable()
    assert answer.code == code, answer.err
    assert said in answer.err.replace("\n", " ")
    assert "hint:" in answer.err


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("echo no memory >&2; exit 9", 4, "ended with code 9, starting the program: no memory"),
        ("echo '{}'; kill -KILL $$", 4, "has killed the program, reading the package"),
        ("echo '{}'; kill -SEGV $$", 3, "(SIGSEGV)"),
        ("echo '{}'; exec sleep 60", 4, "gave no answer within {} s, reading the package"),
    ],
    ids=["exit code", "killed", "crashed", "silent"],
)
def test_how_the_program_on_a_device_ended_is_said(lab: Lab, run: Run, program: str, code: int, said: str) -> None:
    lab.pixel.write("app_process", program)
    for timeout_s in (1, 10, 60) if "sleep" in program else (60,):
        answer = run("self-test", "--package", lab.aar, "--device", lab.pixel.serial, "--timeout", str(timeout_s))
        if "starting the program" not in answer.err or code != 4:  # on a busy machine that takes a while
            break
    (lab.pixel.folder / "answers" / "app_process").unlink()
    assert answer.code == code, answer.err
    assert said.format(timeout_s) in answer.err.replace("\n", " ")
    assert "hint:" in answer.err


def test_a_disk_that_fills_up_in_the_middle_of_a_copy_is_named(lab: Lab, link: Adb, tmp_path: Path) -> None:
    phone = lab.rack.phone({"ro.product.model": "Small"}, disk_mb=8)
    large = tmp_path / "large"
    large.write_bytes(b"\1" * 12_000_000)
    with pytest.raises(ToolError, match="is full") as raised:
        link.push(phone.serial, large, "/data/local/tmp/large")
    phone.pull_cable()
    assert "mobpack device clean" in raised.value.hint


@pytest.fixture
def net(run: Run, tmp_path: Path) -> Path:
    """A small model in the folder in which `run` runs, of which nothing is in the store."""
    write_net(path := tmp_path / "net.onnx", name=uuid4().hex)
    return path


def test_files_that_ship_are_compared_on_many_devices_at_once(lab: Lab, run: Run, net: Path, tmp_path: Path) -> None:
    """One dies in the middle, and one cannot run anything: both are named, and the others are complete. Other machines
    get the files that were made, and no class that devices run."""
    lost = lab.rack.phone({"ro.product.model": "Lost"}, classes=classes_for(None), keeps_disk=True)
    old = lab.rack.phone({"ro.product.model": "Old", "ro.build.version.sdk": "23"})
    held = (lab.pixel, lab.galaxy, lost)
    for phone in held:
        phone.hold()
    met: list[bool] = []

    def watch() -> None:
        met.append(until(lambda: all(phone.is_held for phone in held)))
        lost.pull_cable()
        for phone in held:
            phone.let_go()

    watching = threading.Thread(target=watch)
    watching.start()
    patterns = [word for serial in (lab.pixel, lab.galaxy, lost, old) for word in ("--device", serial.serial)]
    options = (*patterns, *WITH_XNNPACK, "--cache", tmp_path / "shared", "--json")
    answer = run("check", net.name, "--package", "none", *options)
    watching.join()
    old.pull_cable()
    assert met == [True], "one device waited for the other to end"
    assert answer.code == 4
    assert lost.serial in answer.err
    found = json.loads(answer.out)
    states = [(each["serial"], each["state"]) for each in found["devices"]]
    assert states == [
        (lab.pixel.serial, "measured"),
        (lab.galaxy.serial, "measured"),
        (lost.serial, "failed"),
        (old.serial, "failed"),
    ]
    reasons = {each["serial"]: each["reason"] for each in found["devices"]}
    assert "API level 23" in reasons[old.serial]
    rows = [(each["runner"].split()[1], each["runner"].split()[2]) for each in found["parity"]]
    assert rows == sorted(rows, key=lambda row: list(reasons).index(row[0])), "rows are not in the order of the devices"
    for phone in (lab.pixel, lab.galaxy):
        own = [each for each in found["parity"] if phone.serial in each["runner"]]
        assert {each["runner"].split()[-1] for each in own} == {"cpu", "xnnpack"}
        assert all(each["outputs"] for each in own)
    assert any("skipped" in each for each in found["parity"] if lost.serial in each["runner"])
    sent = {path.name for path in (tmp_path / "shared").glob("*/results/*/*")}
    assert "compile" in sent, sent
    assert not [name for name in sent if name.startswith("device-")]


def test_a_file_that_computes_something_else_on_a_device_is_explained(
    lab: Lab, run: Run, net: Path, tmp_path: Path
) -> None:
    on_device = ("check", net.name, "--package", "none", "--device", "Pixel*", *WITH_XNNPACK)
    bisected = run(*on_device, "--bisect", "cpu", "device:xnnpack")
    assert bisected.code == 0, bisected.err
    assert "'device:xnnpack' gives what 'cpu' gives" in bisected.out

    strict = run(*on_device, "--set", "parity.tolerance=1e-9", "--set", "parity.atol=0.0")
    assert strict.code == 5
    assert "parts from the original at node" in strict.err
    evidence = [path.name for path in (tmp_path / "mobpack-evidence").rglob("*.npz")]
    assert {"inputs.npz", "expected.npz", "device.npz"} <= set(evidence)


@pytest.mark.parametrize("command", ["bench", "self-test"])
def test_an_interruption_ends_on_all_devices_and_leaves_nothing_there(lab: Lab, run: Run, command: str) -> None:
    """Results that were complete are printed, as with `mobpack bench`."""
    slow = ("--rounds", "100", "--seconds", "30", "--model", "silero-vad") if command == "bench" else ()
    with interruption(lab.pixel, lab.galaxy):
        answer = run(command, "--package", lab.aar, "--device", "*", "--json", *slow)
    assert (answer.code, "interrupted; " in answer.err) == (130, True), answer.err
    if answer.out:
        devices = json.loads(answer.out)["devices"]
        assert all("interrupted" in each["reason"] for each in devices if each["state"] == "failed")


def test_clean_removes_everything(lab: Lab, run: Run, link: Adb) -> None:
    run("self-test", "--package", lab.aar, "--device", "SM8650", "--model", "silero-vad", "--provider", "cpu")
    answer = run("clean", "--device", "SM8650")
    assert answer.code == 0
    assert "MB" in answer.out
    assert link.shell(lab.galaxy.serial, f"ls {link.HOME}").code != 0


def test_without_adb_the_error_says_where_it_is_looked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDROID_HOME", "/nowhere")
    answer = run("list")
    assert (answer.code, "ANDROID_HOME names /nowhere" in answer.err) == (4, True)
