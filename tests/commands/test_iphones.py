"""iPhones at a Mac, with stand-ins for Apple's tools that print what devicectl and xcodebuild are known to print."""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.cli import main
from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.measuring.devices import Device
from packager.measuring.devices.farms.carrier import lines_of
from packager.measuring.devices.iphones import chosen, iphones
from packager.measuring.devices.xcode_tests import CandidateView, providers_of
from packager.workflows.device.iphone_tuning import Bounds, plan_of


def swift_package(folder: Path) -> Path:
    """Sources by which a Swift package of mobpack's is known."""
    package = folder / "nets"
    (package / "Sources").mkdir(parents=True)
    (package / "Package.swift").write_text('.library(name: "NetsKit", targets: [])', encoding="utf-8")
    swift = "public final class Net: TypedModel, SelfTestingModel {\n    public let session: ModelSession\n}\n"
    (package / "Sources" / "Net.swift").write_text(swift, encoding="utf-8")
    providers = 'public enum Provider: String, Sendable {\n    case coreML = "CoreML"\n    case cpu = "CPU"\n}\n'
    (package / "Sources" / "Provider.swift").write_text(providers, encoding="utf-8")
    return package


def test_without_xcode_the_error_says_what_can_be_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="Mac with Xcode") as refused:
        chosen("")
    assert "omit --run" in refused.value.hint


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--most", "3"), "--most needs --tune"),
        (("--tune", "--report", "a.html"), "--report needs --run"),
        (("--tune", "--run", "--fail-on", "p90=1ms"), "--fail-on is for a package as it is"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["mobpack", "device", "xcode", str(swift_package(tmp_path)), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)


XCRUN = """\
#!/bin/sh
case "$1 $2" in
    "devicectl list") while [ "$1" != --json-output ]; do shift; done; cp {folder}/devices.json "$2" ;;
    "xcresulttool export") mkdir "$7"; cp {folder}/attachments/* "$7" || exit 64 ;;
esac
"""


XCODEBUILD = """\
#!/bin/sh
printf '%s\\n' "$@" > {folder}/asked
cat {folder}/log
exit "$(cat {folder}/code)"
"""


PLACES = {
    "wired": {"pairingState": "paired", "transportType": "wired", "tunnelState": "connected"},
    "wireless": {"pairingState": "paired", "transportType": "localNetwork", "tunnelState": "disconnected"},
    "away": {"pairingState": "paired", "tunnelState": "unavailable"},
    "unpaired": {"pairingState": "unpaired", "transportType": "wired", "tunnelState": "disconnected"},
}


def entry(number: int, place: str, **changes: object) -> dict[str, Any]:
    """A device as devicectl of Xcode 16 lists it."""
    hardware = {
        "cpuType": {"name": "arm64e", "subType": 2, "type": 16777228},
        "deviceType": "iPhone",
        "marketingName": "iPhone 16",
        "platform": "iOS",
        "productType": "iPhone17,3",
        "reality": "physical",
        "udid": f"0000{number}",
    }
    known = {"developerModeStatus": "enabled", "name": f"Phone {number}", "osBuildUpdate": "22C55"}
    return {
        "connectionProperties": PLACES[place],
        "deviceProperties": {**known, "osVersionNumber": "18.2", **_of(changes, known)},
        "hardwareProperties": {**hardware, **_of(changes, hardware)},
        "identifier": f"AAAAAAAA-{number}",
        "visibilityClass": "default",
    }


def _of(changes: Mapping[str, object], known: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in changes.items() if key in known}


def listing(*devices: dict[str, Any], version: int = 2) -> str:
    info = {"commandType": "devicectl.list.devices", "jsonVersion": version, "outcome": "success", "version": "397.28"}
    return json.dumps({"info": info, "result": {"devices": devices}})


def results(failure: str = "") -> bytes:
    """The document that the test leaves."""
    about: dict[str, object] = {
        "provider": "cpu",
        "fallbacks": [],
        "assignment": None,
        "file": "a.ort",
        "sha256": "ab" * 32,
        "size": 9,
    }
    output = {"name": "y", "sample": 0, "failure": failure, "mismatchCount": 0, "maxAbsError": "0", "maxRelError": "0"}
    limits = {"scale": "1", "tolerance": "0.001", "absoluteTolerance": "0"}
    times = {"error": "", "first_ns": 9000, "warm_up_ns": [5000], "times_ns": [4000, 4100, 4200], "cpu_ns": 0}
    memory = {"peak_bytes": None, "pss_bytes": None, "mapped_bytes": None}
    exchange = {
        "model": "Net",
        "provider": "cpu",
        "round": 0,
        "open": {**about, "version": "1.29.0", "load_ns": 1_000_000},
        "time": {**times, **memory},
        "self-test": {"outputs": [{**output, **limits}]},
    }
    device = {"maker": "Apple", "model": "iPhone17,3", "soc": "iPhone17,3", "api": 0, "release": "18.2.0"}
    return json.dumps(
        {
            "schema-version": 1,
            "package": {"file": "nets", "sha256": "", "runtime": "of the package"},
            "device": {**device, "abi": "arm64", "fingerprint": "iPhone17,3 22C55"},
            "threads": 0,
            "exchanges": [exchange],
        }
    ).encode()


Set = Callable[..., None]


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Set:
    """Sets what the stand-ins say: a list of devices, a log with an exit code, an attachment."""
    folder = tmp_path / "mac"
    (folder / "bin").mkdir(parents=True)
    (folder / "attachments").mkdir()
    for name, text in {"xcrun": XCRUN, "xcodebuild": XCODEBUILD}.items():
        (folder / "bin" / name).write_text(text.format(folder=folder), encoding="utf-8", newline="\n")
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")

    def say(devices: str, *, log: str = "", code: int = 0, attachment: str = "") -> None:
        for name, text in {"devices.json": devices, "log": log, "code": str(code)}.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        if attachment:
            (folder / "attachments" / "0A1B.txt").write_text(attachment, encoding="utf-8", newline="\n")

    return say


def test_devices_are_listed_as_far_as_they_can_be_used(mac: Set) -> None:
    mac(
        listing(
            entry(1, "wired"),
            entry(2, "wireless"),
            entry(3, "away"),
            entry(4, "unpaired"),
            entry(5, "wired", developerModeStatus="disabled"),
            entry(6, "wired", platform="watchOS"),
            entry(7, "wired", reality="virtual"),
        )
    )
    found = iphones()
    states = {each.serial: "ready" if isinstance(each, Device) else each.state for each in found}
    assert states == {
        "00001": "ready",
        "00002": "ready",
        "00003": "unavailable",
        "00004": "unpaired",
        "00005": "not for developers",
    }
    first = found[0]
    assert isinstance(first, Device)
    assert (first.model, first.soc, first.release, first.abis) == ("Phone 1", "iPhone17,3", "18.2", ("arm64e",))
    assert chosen("*2").serial == "00002"


@pytest.mark.parametrize(
    ("devices", "pattern", "error", "words"),
    [
        ((), "", ToolError, "no iPhone is connected"),
        (("away",), "", ToolError, "device 00000 is unavailable"),
        (("wired", "wireless"), "", ConfigError, "2 devices fit: Phone 0"),
        (("wired",), "iPad*", ConfigError, "--device iPad"),
    ],
)
def test_a_choice_that_is_not_one_says_so(
    devices: tuple[str, ...], pattern: str, error: type[MobpackError], words: str, mac: Set
) -> None:
    mac(listing(*(entry(number, place) for number, place in enumerate(devices))))
    with pytest.raises(error, match=words) as refused:
        chosen(pattern)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("said", "words"), [("Devices: none", "something other than a list"), (listing(version=3), "version 3 of its JSON")]
)
def test_json_of_an_unknown_form_is_refused(said: str, words: str, mac: Set) -> None:
    mac(said)
    with pytest.raises(ToolError, match=words):
        iphones()


LINES = "\n".join(lines_of(results()))


FAILED = "\n".join(lines_of(results("differs by 3 of 4")))


@pytest.mark.parametrize(
    ("log", "code", "attachment", "expected", "words"),
    [
        (f"note: x\n{LINES}\n** TEST SUCCEEDED **\n", 0, LINES, 0, "4.10 µs"),
        ("** TEST SUCCEEDED **\n", 0, LINES, 0, "4.10 µs"),
        (f"{FAILED}\n** TEST FAILED **\n", 65, "", 0, "has other outputs"),
        ("error: Signing for DeviceTestsApp requires a development team.\n", 65, "", 4, "requires a development team"),
    ],
    ids=["both", "attachments alone", "a failed test", "no results"],
)
def test_one_command_builds_runs_and_reads(
    log: str,
    code: int,
    attachment: str,
    expected: int,
    words: str,
    mac: Set,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    package = swift_package(tmp_path)
    mac(listing(entry(1, "wired"), entry(2, "away")), log=log, code=code, attachment=attachment)
    command = ["mobpack", "device", "xcode", str(package), "--run", "--team", "ABCDE12345", "--report", "found.html"]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == expected, shown.err
    said = shown.out + shown.err
    assert words in said.replace("\n", " ")
    assert expected or "iPhone17,3: skipped: heat, clocks and battery" in said
    assert shown.out.count("1.29.0") == (not expected), "a document counts once"
    asked = (tmp_path / "mac/asked").read_text().splitlines()
    assert {"platform=iOS,id=00001", "DEVELOPMENT_TEAM=ABCDE12345"} <= set(asked)
    assert not (tmp_path / "DeviceTests").exists()

    if not expected:
        monkeypatch.setattr(sys, "argv", [*command, "--baseline", "found.json", "--fail-on", "p50=1ns@iPhone17*"])
        with pytest.raises(SystemExit) as again:
            main()
        shown = capsys.readouterr()
        assert (again.value.code, "Compared with found.json" in shown.out) == (6, True), shown.err


def rounds(plan: Mapping[str, Any]) -> bytes:
    """The document of a search that had time for one round of each candidate; what ships does not start."""
    found = json.loads(results())
    [known] = found["exchanges"]
    known["open"]["name"] = "net"
    exchanges = []
    for each in plan["candidates"]:
        one = {**known, **each, "open": {**known["open"], "provider": each["provider"]}}
        if each == plan["candidates"][0]:
            one = {**one, "open": {"refused": "it crashed"}, "self-test": None}
        exchanges.append(one)
    return json.dumps({**found, "exchanges": exchanges, "tuning": plan}).encode()


def test_one_command_searches_and_writes(
    mac: Set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = swift_package(tmp_path)
    (tmp_path / "mobpack.toml").write_text('[package]\nname = "nets"\n[model.net]\npath = "net.onnx"\n')
    tried = plan_of("nets", providers_of(package), Bounds()).candidates
    assert tried[0] == CandidateView(provider="CoreML")
    options = {each.options[0] for each in tried if each.options}
    assert {("MLComputeUnits", "CPUAndGPU"), ("ModelFormat", "NeuralNetwork")} <= options
    candidates = [{"provider": each.provider, "threads": each.threads, "options": dict(each.options)} for each in tried]
    plan = {"most": 40, "minutes": 20, "seconds": 1, "runs": 500, "candidates": candidates[:2]}
    log = "\n".join(lines_of(rounds(plan)))
    mac(listing(entry(1, "wired")), log=f"Restarting after unexpected exit\n{log}\n", code=65)
    monkeypatch.setattr(sys, "argv", ["mobpack", "device", "xcode", str(package), "--tune", "--run"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 0, shown.err
    assert "cpu works; what ships, coreml, fails: it crashed" in " ".join((shown.out + shown.err).split())
    written = tomllib.loads((tmp_path / "mobpack.toml").read_text())
    assert written["target"]["ios"]["tuned"]["iPhone17,3"] == {"net": {"providers": ["cpu"]}}
    assert json.loads((tmp_path / "mobpack-tune/00001/mobpack-results.json").read_text())["tuning"] == plan

    (tmp_path / "results.xcresult").mkdir()
    (tmp_path / "mac/attachments/0A1B.txt").write_text(log, encoding="utf-8", newline="\n")
    monkeypatch.setattr(sys, "argv", ["mobpack", "tune", "--from", "results.xcresult", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert (ended.value.code, json.loads(shown.out)["results"][0]["best"]) == (0, "cpu"), shown.err
