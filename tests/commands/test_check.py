"""`mobpack check`: the plan on one screen, its checks, and the gates. It packages nothing."""

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from packager.cli import main
from packager.cli.examination import show
from packager.cli.options import parse_gates
from packager.config.checks import CheckTable
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.findings import CpuFallback, OutputError, Parity, Partition, Report
from packager.core.values import Choice, Compiled, Plan, Style
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.files.hashes import sha256_of
from packager.targets.ios import Ios
from packager.verification.partition.report import Gates
from packager.workflows.build import Examination
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import compiled, linear, onnx_model, saved, weight

NET = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
    c = Conv <pads = [1,1,1,1]> (x, w)
    r = Relu (c)
    [odd] e = Einsum <equation = "bchw->bchw"> (r)
    y = Conv <pads = [1,1,1,1]> (e, v)
}"""
"""Einsum cuts it in two for CoreML, whose rules run without a device."""
COARSE = """(float[64] x) => (float[64] y) <float s = {1.2}, int8 z = {0}> {
    a = QuantizeLinear (x, s, z) b = DequantizeLinear (a, s, z) c = Neg (b)
    d = QuantizeLinear (c, s, z) y = DequantizeLinear (d, s, z)
}"""
"""Coarsely quantized: a runtime that skips the quantization gives other outputs."""
NOTHING = '(float[2] x) => (float[2] y) { [odd] y = Einsum <equation = "i->i"> (x) }'


WITH_XNNPACK = ("--set", 'target.ios.providers=["coreml", "xnnpack"]', "--set", "target.ios.format=ort")
"""Opens the CPU's file, about which it cannot be asked."""
PLAIN = ("--set", "target.ios.format=onnx", "--set", "check.kernels=skip")
"""Options without conversion and without kernel proofs."""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder, with models and a cache for the whole module."""
    folder = tmp_path_factory.mktemp("check")
    saved(folder / "net.onnx", onnx_model(NET, weights={"w": weight(16, 3, 3, 3), "v": weight(16, 16, 3, 3)}))
    saved(folder / "nothing.onnx", onnx_model(NOTHING))
    saved(folder / "coarse.onnx", onnx_model(COARSE))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(empty_cache(folder / ".cache", without=("webgpu",))))
        yield folder


@pytest.fixture(scope="module")
def mobpack(folder: Path) -> Mobpack:
    """The command; for iOS with CoreML, if the arguments do not say otherwise: these models are too small for it to be
    worth a file."""

    def run(*arguments: str) -> Answer:
        if "ios" in arguments and not any(each.startswith("target.ios.providers") for each in arguments):
            arguments = (*arguments, "--set", 'target.ios.providers=["coreml"]')
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            patch.setattr(sys, "argv", ["mobpack", *arguments])
            with pytest.raises(SystemExit) as exited:
                main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="module")
def checked(mobpack: Mobpack) -> Answer:
    return mobpack("check", "net.onnx", "-t", "ios")


@pytest.fixture(scope="module")
def document(checked: Answer, mobpack: Mobpack) -> dict[str, Any]:
    answer = mobpack("check", "net.onnx", "-t", "ios", *WITH_XNNPACK, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def words(text: str) -> str:
    """The text on one line, without the table's borders."""
    return " ".join(text.split())


def proofs(text: str) -> list[list[str]]:
    """The table of files, without its first column; cells may span several lines."""
    head, *lines = text[text.rindex(" file ") :].split("Largest error")[0].splitlines()
    columns = [head.index(name) for name in ("for", "kernels")]
    rows: list[list[str]] = []
    for line in lines[1:]:
        cells = [line[start:end].strip() for start, end in zip(columns, [*columns[1:], None], strict=True)]
        if line[: columns[0]].strip():
            rows.append(cells)
        elif line.strip():
            rows[-1] = [words(f"{before} {more}") for before, more in zip(rows[-1], cells, strict=True)]
    return rows


def comparisons(text: str) -> str:
    """The last table, with the runners' comparisons, and the notes behind it."""
    return words(text[text.index("Largest error") :])


def test_the_plan_names_every_file_with_reasons_for_what_stays(checked: Answer) -> None:
    assert checked.code == 0
    assert checked.out.startswith("net on ios: 2 files, ")
    starts = (" coreml     unf", " cpu        fixed")
    coreml, cpu = (line for line in checked.out.splitlines() if line.startswith(starts))
    assert words(coreml).startswith("coreml unfused .ort ")
    assert words(coreml).endswith(" kB it knows few of the fused nodes and none of the quantized ones")
    assert words(cpu).startswith("cpu fixed .onnx ")
    assert words(cpu).endswith(" B every fusion that its ARM kernels know is in the file, the weights in the")
    (line,) = (line for line in checked.out.splitlines() if line.startswith(" coreml     3"))
    assert words(line).startswith("coreml 3 of 4 2 100.0% 1 Einsum: operator not supported predicted: CoreML provider")


def test_files_are_proven_and_json_says_what_each_provider_takes(checked: Answer, document: dict[str, Any]) -> None:
    unfused, fixed = proofs(checked.out)
    assert unfused[:2] == ["coreml", f"all 4 nodes: loaded in ONNX Runtime {shipped_version()}"]
    assert fixed[:2] == ["cpu", f"all 3 nodes: loaded in ONNX Runtime {shipped_version()}"]
    found = comparisons(checked.out)
    assert re.search(r" runner source: unfused .ort \w{8} source: fixed .onnx \w{8} ", found)
    assert re.search(r" cpu (0|\S+e-\d\d) ok (0|\S+e-\d\d) ok ", found)
    assert (
        "compared with the original, 3 random, seed 0 allowed on cpu: 1e-05 + 0.001 x scale cpu ran on ONNX Runtime 1."
        in found
    )
    coreml, xnnpack = document["partitions"]
    assert (coreml["provider"], coreml["measured"], coreml["taken"], coreml["nodes"]) == ("coreml", False, 3, 4)
    assert (coreml["partitions"], coreml["share"]) == (2, 1.0)
    (left,) = coreml["left"]
    assert (left["operator"], left["count"], left["example"]) == ("Einsum", 1, "odd")
    assert (xnnpack["provider"], xnnpack["measured"], xnnpack["nodes"]) == ("xnnpack", False, 3)


def test_steps_are_told_on_standard_error(checked: Answer) -> None:
    assert "plan net for ios" in checked.err
    assert "load files in the runtime that ships (2)" in checked.err
    assert "plan net for ios" not in checked.out


def test_nothing_is_packaged(checked: Answer, folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [".cache", "coarse.onnx", "net.onnx", "nothing.onnx"]


def test_json_holds_the_plan_and_all_evidence(document: dict[str, Any]) -> None:
    assert sorted(document) == [
        "engines",
        "failures",
        "kernels",
        "parity",
        "partitions",
        "pipelines",
        "plans",
        "schema-version",
        "warnings",
    ]
    assert document["schema-version"] == 1
    (plan,) = document["plans"]
    assert (plan["model"], plan["target"]) == ("net", "ios")
    choices = [(each["provider"], each["style"], each["format"], each["chips"]) for each in plan["choices"]]
    assert choices == [("coreml", "unfused", "ort", []), ("xnnpack", "fixed", "ort", []), ("cpu", "fixed", "ort", [])]
    shipped = list(dict.fromkeys(each["sha256"] for each in plan["choices"]))
    assert len(shipped) == 2
    assert [each["sha256"] for each in document["kernels"]] == shipped
    assert [each["sha256"] for each in document["parity"]] == shipped
    assert document["warnings"] == []


WITHOUT_RULES = ("-t", "android", "--set", 'target.android.providers=["webgpu"]')
UNKNOWN = "webgpu is not predicted: it is measured where `mobpack doctor --install webgpu` has been run"


def test_what_did_not_run_or_was_not_looked_for_is_said(
    mobpack: Mobpack, checked: Answer, line: Compiled, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = mobpack("check", "nothing.onnx", "-t", "ios", *PLAIN)
    (plain,) = proofs(answer.out)
    assert plain[:2] == ["coreml, cpu", 'not proven: kernels = "skip" in [check]']
    assert "in the runtime that ships" not in answer.err
    answer = mobpack("check", "net.onnx", *WITHOUT_RULES)
    assert answer.code == 0
    assert f"not examined: {UNKNOWN}" in words(answer.out)
    assert f"skipped: partitions of net for webgpu on android: {UNKNOWN}" in words(answer.err)
    found = partition(line, taken_count=1, node_count=1, partition_count=1)
    text = shown(line, Report(parities=(), partitions=(found,)), capsys)
    assert "qnn 1 of 1 1 none in it nothing measured: QNN" in words(text)
    none = parity(line, skipped="no qemu")
    others = (replace(none, model="another"), replace(none, sha256="another", style=Style.PLAIN))
    said = comparisons(shown(line, Report(parities=(none, *others)), capsys))
    assert f"runner fp32: fixed .ort {line.sha256[:8]} fp32: ONNX graph " in said
    assert " arm64 skipped skipped " in said
    assert said.count("arm64 skipped: no qemu") == 1


@pytest.mark.parametrize(
    ("model", "gate", "message", "hint"),
    [
        ("net", "max-partitions=1", "2 partitions, at most 1 are allowed", "the nodes that split the graph"),
        ("nothing", "min-share=.905", "runs 0.0% of the MACs, less than 90.5%", "the nodes it leaves to the CPU"),
    ],
)
def test_a_gate_that_does_not_hold_ends_with_6(
    checked: Answer, mobpack: Mobpack, model: str, gate: str, message: str, hint: str
) -> None:
    answer = mobpack("check", f"{model}.onnx", "-t", "ios", *(PLAIN if model == "nothing" else ()), "--fail-on", gate)
    assert answer.code == 6
    assert f"{model} on ios: " in answer.out, "what the gate is about is shown before it fails"
    assert f"mobpack: error: model '{model}' on ios, coreml: {message}\n" in answer.err
    assert f"hint: mobpack check names {hint}\n" in answer.err


def test_a_program_gets_what_was_found_beside_the_error_of_a_gate(checked: Answer, mobpack: Mobpack) -> None:
    answer = mobpack("check", "net.onnx", "-t", "ios", "--fail-on", "max-partitions=1", "--json")
    assert answer.code == 6
    found = json.loads(answer.out)
    assert found["error"]["exit-code"] == 6
    assert (len(found["plans"]), len(found["parity"]), found["failures"]) == (1, 2, [])


def test_gates_of_the_project_count_and_the_command_line_goes_before(checked: Answer, mobpack: Mobpack) -> None:
    answer = mobpack("check", "net.onnx", "-t", "ios", "--fail-on", "max-partitions=2", "--fail-on", "min-share=1")
    assert (answer.code, answer.out) == (0, checked.out)
    project = ("check", "net.onnx", "-t", "ios", "--set", "check.max-partitions=1")
    assert mobpack(*project).code == 6
    assert mobpack(*project, "--fail-on", "max-partitions=2").code == 0
    texts = ("min-share=0.5", "max-partitions=3", "min-share=.25")
    assert parse_gates(texts, CheckTable()) == Gates(max_partitions=3, min_share=0.25)
    assert parse_gates((), CheckTable()) == Gates()


def test_a_provider_of_which_nothing_is_known_passes_no_gate(checked: Answer, mobpack: Mobpack) -> None:
    answer = mobpack("check", "net.onnx", *WITHOUT_RULES, "--fail-on", "min-share=0", "--json")
    assert answer.code == 6
    assert json.loads(answer.out)["error"] == {
        "message": "nothing would examine webgpu on android, as --strict and --fail-on ask: "
        "not installed: run `mobpack doctor --install webgpu`",
        "hint": "fix that, or leave webgpu out of the target's providers",
        "exit-code": 6,
    }


@pytest.mark.parametrize(
    ("gate", "message", "hint"),
    [
        ("max-partition=2", "--fail-on max-partition=2: unknown gate 'max-partition'", "did you mean 'max-partitions'"),
        ("max-partitions=0", "--fail-on max-partitions=0: '0' is not a valid number", "for example: max-partitions=4"),
        ("max-partitions=2.5", "'2.5' is not a valid number", "for example: max-partitions=4"),
        ("min-share=90%", "--fail-on min-share=90%: '90%' is not a valid number", "for example: min-share=0.9"),
        ("min-share=1.1", "'1.1' is not a valid number", "for example: min-share=0.9"),
        ("min-share", "'' is not a valid number", "for example: min-share=0.9"),
    ],
)
def test_a_gate_that_makes_no_sense_is_refused(gate: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_gates((gate,), CheckTable())
    assert message in error.value.message
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["check", "net.onnx", "--runners", "cpu,moon"], "parity.runners.1: unknown runner 'moon'", "known: arm64"),
        (
            ["check", "net.onnx", "--bisect", "cpu", "nobody"],
            "--bisect nobody: neither a runner nor a variant",
            "known: ",
        ),
        (["check", "net.onnx", "--bisect", "int7@cpu", "cpu"], "--bisect int7@cpu: no variant 'int7'", "known: orig"),
        (["check", "net.onnx", "-t", "ois"], "unknown target 'ois'", "known: android, ios"),
        (
            ["check", "net.onnx", "-t", "ios", "--set", 'target.ios.providers=["qnn"]'],
            "target.ios: provider 'qnn' does not run on iOS",
            "coreml",
        ),
        (["check", "net.onnx", "-t", "ios", "--set", "check.kernels=no"], "check.kernels: ", "mobpack.toml"),
        (["check"], "mobpack.toml: no such file", "run: mobpack init MODEL.onnx"),
    ],
)
def test_what_has_no_check_is_a_config_error(mobpack: Mobpack, arguments: list[str], message: str, hint: str) -> None:
    answer = mobpack(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert hint in answer.err.partition("hint: ")[2]


def test_what_was_checked_for_ios_is_built_as_a_swift_package(mobpack: Mobpack, folder: Path) -> None:
    answer = mobpack("build", "net.onnx", "-t", "ios", "--out", "dist", "--json")
    assert answer.code == 0, answer.err
    manifest = json.loads(answer.out)["manifest"]
    kinds = {each["kind"]: each for each in manifest["artifacts"]}
    assert set(kinds) == {"swift-package", "swift-registry", "swift-runtime", "operator-config", "sbom"}
    assert kinds["swift-package"]["path"] == "swift/net-1.0.0.zip"
    assert (folder / "dist/swift/net/Sources/NetKit/Net.swift").is_file()
    models = folder / "dist/swift/net/Sources/NetKit/Resources/Models/net"
    shipped = {path.name: sha256_of(path) for path in models.iterdir()}
    coreml, cpu = manifest["plans"][0]["choices"]
    assert shipped["model.ort"] == coreml["sha256"]
    assert shipped["fixed.onnx"] == cpu["sha256"]
    assert manifest["runtimes"] == {"ios": Ios().published_runtime()}
    (partition,) = manifest["partitions"]
    assert (partition["provider"], partition["partitions"]) == ("coreml", 2)


def test_a_project_for_xcode_is_emitted_on_top(mobpack: Mobpack, folder: Path) -> None:
    answer = mobpack("build", "net.onnx", "-t", "ios", "--out", "emitted", "--emit-project", "--emit", "ort-package")
    assert answer.code == 0, answer.err
    release = folder / "emitted"
    assert (release / "ios/project/scripts/make-xcframework.sh").is_file()
    assert not (release / "swift/net/scripts").exists()
    assert (release / "ios/ort-package/manifest.json").is_file()
    package = "Package.swift"
    text = (release / "swift/net" / package).read_text(encoding="utf-8")
    assert text.count('path: "../onnxruntime-binary-') == 1
    inside = text.replace("../onnxruntime-binary-", "onnxruntime-binary-")
    assert (release / "ios/project" / package).read_text(encoding="utf-8") == inside


def test_a_provider_that_takes_nothing_is_a_warning_which_strict_makes_an_error(mobpack: Mobpack) -> None:
    arguments = ("check", "nothing.onnx", "-t", "ios", *PLAIN)
    warning = "coreml on ios takes no node of model 'nothing': the CPU runs it all"

    lax = mobpack(*arguments, "--json")
    assert lax.code == 0
    assert json.loads(lax.out)["warnings"] == [warning]
    assert f"warning: {warning}" in lax.err

    strict = mobpack(*arguments, "--strict")
    assert strict.code == 3
    assert "nothing on ios: " in strict.out, "what the warning is about is shown before it fails"
    assert f"mobpack: error: --strict: 1 warning(s); first warning: {warning}" in strict.err


def test_a_float_graph_that_is_far_from_the_quantized_model_never_ships(mobpack: Mobpack) -> None:
    answer = mobpack("check", "coarse.onnx", "-t", "ios")
    assert answer.code == 5
    assert re.search(
        r"the graph that a provider needs \(source-float, in another precision\) differs by \d\d%", answer.err
    )
    assert "hint: leave the provider out of the target's providers" in answer.err
    found = comparisons(answer.out)
    assert re.search(r"compared with the float graph in it, .*; 0\.\d+ from the original", found)


def test_every_target_of_the_project_or_android_is_checked(mobpack: Mobpack, folder: Path) -> None:
    assert plans(mobpack("check", "nothing.onnx", "--json", "--set", "check.kernels=skip")) == [("nothing", "android")]
    (folder / "project").mkdir()
    (folder / "project" / "mobpack.toml").write_text(
        '[package]\nname = "p"\n[check]\nkernels = "skip"\n[model.one]\npath = "../nothing.onnx"\n'
        '[target.ios]\nformat = "onnx"\n[target.android]\nformat = "onnx"\nproviders = []\n'
    )
    project = ("check", "-c", "project/mobpack.toml")
    assert plans(mobpack(*project, "--json")) == [("one", "android"), ("one", "ios")]
    assert plans(mobpack(*project, "--json", "-t", "ios")) == [("one", "ios")]
    assert "one on android: 1 file, " in mobpack(*project).out


def plans(answer: Answer) -> list[tuple[str, str]]:
    return [(each["model"], each["target"]) for each in json.loads(answer.out)["plans"]]


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("line"), linear(), "line")


def shown(compiled: Compiled, report: Report, capsys: pytest.CaptureFixture[str], *, chip: str = "") -> str:
    """Output of `mobpack check` for a plan with the one file `compiled`."""
    model = compiled.variant.model
    first = Choice(provider="qnn", compiled=compiled, reason="because", soc_models=(chip,) if chip else ())
    plan = Plan(
        model=model,
        target="android",
        environment=Runtime.NAME,
        choices=(first, replace(first, provider="cpu", soc_models=())),
    )
    show(plan, Examination(plans=(plan,), report=report, warnings=()), Console())
    return capsys.readouterr().out


def test_a_file_for_a_chip_or_an_arithmetic_is_told_by_it(line: Compiled, capsys: pytest.CaptureFixture[str]) -> None:
    native = replace(line, processor="FP16")
    text = words(shown(native, Report(parities=()), capsys, chip="SM8650"))
    assert f"qnn (SM8650) fixed .ort FP16 {line.sha256[:8]}" in text
    assert f" cpu fixed .ort FP16 {line.sha256[:8]}" in text


def test_of_many_groups_of_nodes_three_are_shown(line: Compiled, capsys: pytest.CaptureFixture[str]) -> None:
    left = [CpuFallback(operator=f"Op{n}", count=9 - n, reason="no kernel" if n else "", example="") for n in range(5)]
    found = partition(line, taken_count=7, node_count=42, partition_count=3, share=0.875, left=tuple(left))
    text = shown(line, Report(parities=(), partitions=(found,)), capsys)
    assert "7 of 42 3 87.5% 9 Op0 measured: QNN 8 Op1: no kernel 7 Op2: no kernel and 2 more kinds" in words(text)
    assert "Op3" not in text


def parity(line: Compiled, **facts: Any) -> Parity:
    about: dict[str, Any] = {"model": "line", "variant": "fp32", "runner": "arm64", "sample_count": 1, "samples": "1"}
    return Parity(**{**about, "tolerance": 1e-3, "outputs": (), "sha256": line.sha256, "label": "arm64", **facts})


def test_what_is_over_or_refused_is_in_capitals(line: Compiled, capsys: pytest.CaptureFixture[str]) -> None:
    off = OutputError(output="y", max_abs_error=1, max_rel_error=0.5, worst_sample=0, failure="too far")
    over = parity(line, label="arm64 cortex-a53", outputs=(off,), runs_on="an emulator", placed=3, node_count=4)
    refused = parity(line, label="qnn", refusal="no kernel for it")
    found = comparisons(shown(line, Report(parities=(over, refused)), capsys))
    assert " arm64 cortex-a53 0.5 OVER " in found
    assert " qnn refused " in found
    assert "arm64 cortex-a53 ran on an emulator: 3 of 4 nodes on its provider qnn refused: no kernel for it" in found


def partition(compiled: Compiled, **facts: Any) -> Partition:
    about: dict[str, Any] = {"model": "line", "target": "android", "provider": "qnn", "sha256": compiled.sha256}
    return Partition(**about, by="QNN", is_measured=True, **facts)
