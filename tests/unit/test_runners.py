"""Runners open every file that they can, and report clearly the files that they cannot open and missing parts."""

from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest

from packager.engines.environments import ENVIRONMENTS
from packager.engines.runners import RUNNERS, Runnable
from packager.engines.runners.arm64 import CORES, Arm64, arm64_runners
from packager.engines.runners.coreml import Coreml
from packager.engines.runners.qnn import Qnn
from packager.engines.runners.x86_64 import X8664
from packager.engines.runners.xnnpack import Xnnpack
from packager.engines.session import session_child
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.runners import ISOLATED, RELU, no_environments

__all__ = ["no_environments"]

OURS = ("arm64", "coreml", "qnn", "reference", "webgpu", "x86_64", "xnnpack")


@pytest.mark.parametrize("name", ISOLATED)
@pytest.mark.usefixtures("no_environments")
def test_a_runner_without_its_environment_says_how_to_get_it(name: str) -> None:
    assert ISOLATED[name].missing() == f"not installed: run `mobpack doctor --install {name}`"


@pytest.mark.parametrize("name", ISOLATED)
def test_a_runner_on_a_machine_that_cannot_have_its_environment_says_why(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert ISOLATED[name].missing() == ENVIRONMENTS[name]().unsupported()
    assert any(word in ISOLATED[name].missing() for word in ("riscv64", "x86_64 Linux only"))


def test_every_runner_is_known_by_its_name_and_has_its_label_first() -> None:
    for name in OURS:
        runners = RUNNERS[name]("")
        labels = [runner.label() for runner in runners]
        assert {runner.NAME for runner in runners} == {name}
        assert all(label.split()[0] == name for label in labels)
        assert len(set(labels)) == len(labels)


def test_coreml_says_where_it_comes_from() -> None:
    import onnxruntime

    if "CoreMLExecutionProvider" in onnxruntime.get_available_providers():
        assert Coreml().missing() == ""
    else:
        start = (
            f"the installed onnxruntime {onnxruntime.__version__} has no CoreML provider: it comes with onnxruntime for"
        )
        assert Coreml().missing().startswith(start)


def test_xnnpack_of_the_installed_runtime_needs_no_environment(
    no_environments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["XnnpackExecutionProvider"])
    assert Xnnpack().missing() == ""
    assert str(no_environments) not in Xnnpack().identity()


def test_arm64_is_one_runner_for_each_core_or_the_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert [runner.label() for runner in arm64_runners()] == [f"arm64 {core}" for core in CORES]
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert [runner.label() for runner in arm64_runners()] == ["arm64"]
    assert Arm64().identity() == "", "nobody knows which processor that is"


@pytest.mark.parametrize("name", ["arm64", "qnn", "x86_64"])
def test_what_is_known_of_a_run_changes_with_what_runs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments lie in folders named after their content."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    before = [runner.identity() for runner in RUNNERS[name]("")]
    assert all(before)
    assert len(set(before)) == len(before)
    monkeypatch.setattr(f"packager.engines.environments.{name}.folder_for", lambda name, contents: Path("another"))
    assert not set(before) & {runner.identity() for runner in RUNNERS[name]("")}


def test_16_bits_and_chips_are_for_processors_that_have_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = Runnable(path=Path("model.ort"), needs_fp16=True)
    unable = [core for core in CORES if Arm64(cpu=core).cannot_open(model)]
    assert unable == ["cortex-a53"]
    assert "16 bits, which the cortex-a53 is too old for" in Arm64(cpu="cortex-a53").cannot_open(model)
    assert "16 bits" in X8664().cannot_open(model)
    other = Runnable(path=Path("model.ort"))
    assert {core.cannot_open(other) for core in arm64_runners()} == {X8664().cannot_open(other)} == {""}
    program = onnx.helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", ep_cache_context="a.bin")
    model = onnx_model(RELU)
    model.graph.node[0].CopyFrom(program)
    assert "runs only on that chip" in Qnn().cannot_open(Runnable(path=saved(tmp_path / "c.onnx", model)))
    assert Qnn().cannot_open(Runnable(path=saved(tmp_path / "m.onnx", onnx_model(RELU)))) == ""
    (tmp_path / "empty.onnx").write_bytes(b"")
    assert Qnn().cannot_open(Runnable(path=tmp_path / "empty.onnx")) == "", "whoever opens it says so"


@pytest.mark.parametrize(("flags", "is_able"), [("fp asimd asimdhp", True), ("fp asimd", False)])
def test_an_arm64_machine_is_asked_for_its_own_16_bit_arithmetic(
    flags: str, is_able: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"Features\t: {flags}\n")
    monkeypatch.setattr("packager.engines.runners.arm64.CPUINFO", tmp_path / "cpuinfo")
    refusal = Arm64().cannot_open(Runnable(path=Path("model.ort"), needs_fp16=True))
    assert (refusal == "") == is_able


def test_a_provider_that_onnxruntime_leaves_out_is_none_that_opened_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime knows CUDA, for one, where a library of NVIDIA's is missing: it prints that, and goes on."""
    known = onnxruntime.get_available_providers()
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["XnnpackExecutionProvider", *known])
    opened = onnxruntime.InferenceSession

    def without(model: str, options: onnxruntime.SessionOptions, **_: Any) -> onnxruntime.InferenceSession:
        return opened(model, options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(onnxruntime, "InferenceSession", without)
    path = saved(tmp_path / "relu.onnx", onnx_model(RELU))
    job: dict[str, Any] = {
        "provider": "XnnpackExecutionProvider",
        "provider_options": {},
        "model": str(path),
        "data_folder": None,
    }
    with pytest.raises(ValueError, match="could not load XnnpackExecutionProvider, and opened the model without it"):
        session_child.open_session(job, onnxruntime.SessionOptions())
