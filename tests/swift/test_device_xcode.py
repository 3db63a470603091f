"""The Xcode project that measures and checks a Swift package on a device: its tests run on Linux, on the package."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.files.hashes import sha256_of
from packager.measuring.devices.document import DeviceDocument
from packager.measuring.devices.farms.collecting import CollectedDocument
from packager.measuring.devices.xcode_tests import PROJECT, CandidateView, ModelsView, PlanView, write_device_tests
from packager.measuring.tuning.candidates import Candidate
from packager.measuring.tuning.search import FINAL_ROUNDS, SearchRound, search, what_ships
from packager.workflows import tune_recorded
from packager.workflows.device import farming, iphone_tuning
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, swift_packages
from tests.toolchain.swift_packages import Compiled

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"
TOML = """\
[package]
name = "nets"

[model.chain]
path = "chain.onnx"

[model.plain]
path = "chain.onnx"

[target.ios]
providers = ["xnnpack"]

[target.ios.tuned.x86_64.plain]
providers = ["cpu"]
"""
SHORT = {"MOBPACK_SECONDS": "0.05", "MOBPACK_PAUSE": "0", "MOBPACK_ROUNDS": "2"}
CPU = CandidateView(provider="CPU")
JOURNAL = "mobpack-tune.jsonl"
SEARCH_CASES = 8
BUNDLE = "nets_NetsKit.resources"
IDENTIFIER = re.compile(r"\b4D0B[0-9A-F]{20}\b")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `swift` of a build with two models."""
    folder = tmp_path_factory.mktemp("nets")
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    (folder / "mobpack.toml").write_text(TOML)
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "dist/swift"


@pytest.fixture(scope="module")
def written(built: Path) -> tuple[Path, ModelsView]:
    return write_device_tests(built / "nets", built.parent / "on-devices")


@pytest.fixture(scope="module")
def searching(built: Path) -> tuple[Path, PlanView]:
    """The project whose test searches, and its plan."""
    bounds = iphone_tuning.Bounds(most=9, minutes=5, seconds=0.01, pause=0)
    folder, _, plan = iphone_tuning.write(built / "nets", built.parent / "searching", bounds)
    return folder, plan


@pytest.fixture(scope="module")
def compiled(
    built: Path,
    written: tuple[Path, ModelsView],
    searching: tuple[Path, PlanView],
    tmp_path_factory: pytest.TempPathFactory,
) -> Compiled:
    """The package with the tests of both projects, which share what is not of one of them."""
    folder = tmp_path_factory.mktemp("compiled")
    for package in (path for path in built.iterdir() if path.is_dir()):
        shutil.copytree(package, folder / package.name)
    [tests] = (folder / "nets/Tests").iterdir()
    for source in (*(written[0] / "Tests").iterdir(), *(searching[0] / "Tests").iterdir()):
        shutil.copy(source, tests)
    (tests / "OrderTests.swift").write_text(ORDER, encoding="utf-8", newline="\n")
    return swift_packages.compiled(folder / "nets", folder / "scratch")


def results(program: Compiled, scratch: Path) -> tuple[str, DeviceDocument]:
    """Outcome of the test, and the results that it leaves in its log."""
    done = program.run("NetsKitTests.DeviceTests", scratch, environment=SHORT)
    log = scratch / "log.txt"
    log.write_text(done.output, encoding="utf-8")
    found = farming.read(log, (), None, Console(quiet=True))
    return done.by_case["DeviceTests.testEveryModelOnEveryProvider"], found


def test_every_model_runs_with_every_provider_and_the_results_come_back(compiled: Compiled, tmp_path: Path) -> None:
    outcome, found = results(compiled, tmp_path / "run")
    assert outcome == "passed"
    assert [(each.row.model, each.provider) for each in found.rows] == [("Chain", "cpu"), ("Plain", "cpu")]
    assert {(each.model, each.provider) for each in found.skipped} == {("Chain", "xnnpack"), ("Plain", "xnnpack")}
    assert all("XNNPACK" in each.reason for each in found.skipped), "ONNX Runtime for Linux has none"
    for each in found.rows:
        assert len(each.row.round_medians_ms) == 2
        assert each.row.p50_ms > 0
        assert each.cold_load_ms > 0
        assert each.row.peak_bytes
        assert each.row.peak_bytes > 2**20
        assert each.row.error == 0
        assert not each.row.differs
    assert [(each.model, each.provider, each.is_proved) for each in found.verdicts] == [
        ("Chain", "xnnpack", False),
        ("Plain", "xnnpack", False),
    ]
    assert all("XNNPACK" in each.reason for each in found.verdicts)
    [device] = found.devices
    assert (device.maker, device.model, device.abi) == ("Apple", "x86_64", "x86_64")
    assert found.package.file == "nets"


def test_a_number_that_differs_fails_and_says_so(compiled: Compiled, tmp_path: Path) -> None:
    wrong = compiled.copy(tmp_path / "wrong")
    place = next((wrong.folder / BUNDLE / "Models").rglob("golden.safetensors"))
    content, before = place.read_bytes(), sha256_of(place)
    place.unlink()  # the copy is a link
    place.write_bytes(content[:-1] + bytes([content[-1] ^ 0x40]))
    wrong.admit(before, sha256_of(place))
    outcome, found = results(wrong, tmp_path / "run")
    assert outcome == "failed"
    assert True in [each.row.differs for each in found.rows]


def searched(program: Compiled, scratch: Path) -> tuple[str, CollectedDocument]:
    """Outcome of the search, and the document that it leaves in its log."""
    done = program.run("NetsKitTests.TuneTests", scratch, environment={"XDG_CACHE_HOME": str(scratch)})
    assert len(done.by_case) == SEARCH_CASES, done.output
    assert not (scratch / JOURNAL).exists(), "the next run begins anew"
    (scratch / "log.txt").write_text(done.output, encoding="utf-8")
    [found] = farming.collect(scratch / "log.txt", Console(quiet=True)).results
    return done.by_case["TuneTests.testSearch01"], found


def test_a_search_runs_on_the_package_and_goes_on_after_its_process_has_ended(
    compiled: Compiled, searching: tuple[Path, PlanView], built: Path, tmp_path: Path
) -> None:
    plan = searching[1]
    outcome, first = searched(compiled, tmp_path / "first")
    assert outcome == "passed"
    read = decided(tmp_path / "first", built)
    assert [each.model for each in read.found] == ["chain", "plain"]
    for each in read.found:
        assert each.outcome.is_complete, "the search goes through all of the rounds"
        trials = {trial.candidate.name: trial for trial in each.outcome.trials}
        assert len(trials) == len(plan.candidates)
        assert len(trials["cpu"].rounds) == FINAL_ROUNDS
        assert trials["cpu"].error_share == 0
        assert all(trial.rounds for name, trial in trials.items() if name.startswith("cpu"))
        assert all("XNNPACK" in trial.error for name, trial in trials.items() if name.startswith("xnnpack"))
    assert farming.read(tmp_path / "first", (), None, Console(quiet=True)).rows, "its first rounds are a table, too"

    again = tmp_path / "again"
    again.mkdir()
    known = next(each for each in first.document["exchanges"] if each["time"].get("times_ns"))
    threads = next(place for place, each in enumerate(plan.candidates) if each.provider == "CPU" and each.threads == 2)
    lines = [
        {"subject": f"{id_of(searching[0])} {first.document['device']['fingerprint']}"},
        {"ends": f"0 {plan.candidates.index(CPU)} Chain", "model": "Chain", "exchange": known, "seconds": 1.5},
        {"begins": f"0 {threads} Chain"},
        {"begins": f"0 {threads} Chain"},
    ]
    text = "".join(f"{json.dumps(each)}\n" for each in lines)
    (again / JOURNAL).write_text(text + '{"begins": "0 1 Ch', encoding="utf-8")
    outcome, second = searched(compiled, again)
    assert outcome == "passed"
    assert known in second.document["exchanges"], "what was measured is not measured again"
    [chain, plain] = decided(again, built).found
    words = "the process ended in this round"
    failed = {trial.candidate.name for trial in chain.outcome.trials if words in trial.error}
    assert failed == {"cpu, 2 threads"}
    assert chain.outcome.is_complete
    assert not any(words in trial.error for trial in plain.outcome.trials)


def decided(results: Path, built: Path) -> tune_recorded.RecordedSearch:
    request = tune_recorded.RecordedTuneRequest(results=(results,), project=built.parents[1] / "mobpack.toml")
    return tune_recorded.recorded(request, Console(quiet=True))


def id_of(project: Path) -> str:
    found = re.search(r'id: "(\w+)"', (project / "Tests/Plan.swift").read_text())
    assert found
    return found[1]


ORDER = """\
import Foundation
import XCTest

final class OrderTests: XCTestCase {
    private struct Case: Decodable {
        let times: [[Double]]
        let most: Int
    }

    func testOrder() throws {
        let file = URL(fileURLWithPath: ProcessInfo.processInfo.environment["MOBPACK_CASES"] ?? "")
        for (number, one) in try JSONDecoder().decode([Case].self, from: Data(contentsOf: file)).enumerated() {
            let candidates = one.times.indices.map { Candidate(provider: $0 == 1 ? "B" : "A", threads: max(0, $0 - 1)) }
            var taken: [String] = []
            let search = Search(candidates: candidates) { candidate, round in
                let place = candidates.firstIndex(of: candidate)!
                if !taken.contains("\\(place):\\(round)") { taken.append("\\(place):\\(round)") }
                let time = one.times[place][round]
                return time < 0 ? nil : [time, time + 2, time + 4, time + 6]
            } fallsBack: {
                one.times[candidates.firstIndex(of: $0)!][0] == -2
            } hasTime: {
                taken.count < one.most
            }
            search.run()
            print("order \\(number)", taken.joined(separator: " "))
        }
    }
}
"""
"""Prints the rounds that a search takes."""


def order(times: list[list[int]], most: int) -> list[str]:
    """The rounds that the search takes on this machine; -1 is a failure, -2 a provider that does not start."""
    every = [Candidate(package="", provider="ba"[place != 1], threads=max(0, place - 1)) for place in range(len(times))]
    taken: list[str] = []

    def measure(candidate: Candidate, number: int) -> SearchRound:
        place = every.index(candidate)
        if f"{place}:{number}" not in taken:
            taken.append(f"{place}:{number}")
        time = times[place][number]
        return (
            SearchRound(error="no", falls_back=time == -2)
            if time < 0
            else SearchRound(times_ns=(time, time + 2, time + 4, time + 6))
        )

    today = what_ships(every[:2], measure)
    search(today, [each for each in every if each != today], measure, lambda: len(taken) < most)
    return taken


def made_up() -> list[tuple[list[list[int]], int]]:
    """Times of candidates by round, and how many rounds there is time for; what ships often fails."""
    random = Random(1)
    cases = []
    for number in range(60):
        count = random.randint(2, 30)
        times = [[random.choice((-2, -1, *range(10, 90, 4))) for _ in range(FINAL_ROUNDS + 4)] for _ in range(count)]
        times[0][0] = random.choice((-2, -1, 10, 50))
        cases.append((times, random.randint(1, count + 9) if number % 3 == 0 else 1000))
    return cases


def test_the_device_takes_the_rounds_that_the_decision_expects(compiled: Compiled, tmp_path: Path) -> None:
    cases = made_up()
    file = tmp_path / "run/cases.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"times": times, "most": most} for times, most in cases]), encoding="utf-8")
    done = compiled.run("NetsKitTests.OrderTests", file.parent, environment={"MOBPACK_CASES": str(file)})
    taken = {int(found[1]): found[2].split() for found in re.finditer(r"^order (\d+) (.*)$", done.output, re.MULTILINE)}
    assert [taken.get(number) for number in range(len(cases))] == [order(*each) for each in cases]


def test_the_project_refers_to_nothing_that_it_does_not_define(written: tuple[Path, ModelsView], built: Path) -> None:
    from pbxproj import XcodeProject

    folder, tests = written
    assert "tuned: false" in (folder / "Tests/Models.swift").read_text(), "each provider is measured as asked"
    file = folder / f"{PROJECT}.xcodeproj/project.pbxproj"
    project = XcodeProject.load(str(file))
    defined = {each.get_id() for each in project.objects.get_objects_in_section(*project.objects.get_sections())}
    schemes = list(folder.rglob("*.xcscheme"))
    for each in (file, *schemes):
        used = set(IDENTIFIER.findall(each.read_text()))
        assert used
        assert used <= defined
    [reference] = project.objects.get_objects_in_section("XCLocalSwiftPackageReference")
    assert (folder / reference["relativePath"]).resolve() == (built / "nets").resolve()
    [product] = project.objects.get_objects_in_section("XCSwiftPackageProductDependency")
    assert product["productName"] == tests.module == "NetsKit"
    for group in project.objects.get_objects_in_section("PBXFileSystemSynchronizedRootGroup"):
        assert list((folder / group["path"]).glob("*.swift"))
    [scheme] = schemes
    assert ET.parse(scheme).getroot().find("TestAction") is not None


def test_a_folder_is_written_again_as_a_whole(written: tuple[Path, ModelsView], built: Path, tmp_path: Path) -> None:
    first, _ = write_device_tests(built / "nets", tmp_path)
    (first / "Tests/Old.swift").write_text("old")
    second, _ = write_device_tests(built / "nets", tmp_path)
    assert first == second
    assert not (second / "Tests/Old.swift").exists()
    assert [path.name for path in tmp_path.iterdir()] == [PROJECT]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "is not a Swift package: it has no Package.swift"),
        ({"Package.swift": "let package = Package(products: [])"}, "has no models of mobpack's"),
        ({"Package.swift": '.library(name: "Other", targets: [])'}, "has no models of mobpack's"),
    ],
)
def test_another_folder_is_refused(files: Mapping[str, str], words: str, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for name, text in files.items():
        (package / name).write_text(text)
    with pytest.raises(ConfigError, match=re.escape(words)) as refused:
        write_device_tests(package, tmp_path / "out")
    assert "dist/swift/NAME" in refused.value.hint
    assert not (tmp_path / "out").exists()
