"""ONNX Runtime's own Android library on this machine: the nodes that its providers take, and the models it refuses."""

import os
import re
from collections import Counter
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments import android_probe
from packager.engines.environments.android import Android, ProbeInput, ProbeJob
from packager.engines.environments.android_probe import places
from packager.files.processes import downloads
from tests.cases.onnx_text import onnx_model
from tests.toolchain.environments import have


def test_functions_are_counted_as_the_header_lists_them() -> None:
    header = """
struct OrtApi {
  /** Text with ORT_API2_STATUS(Not, this) in it. */
  OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode code)NO_EXCEPTION;
  ORT_API2_STATUS(CreateEnv, _Outptr_ OrtEnv** out);  // ORT_CLASS_RELEASE(NorThis);
  ORT_CLASS_RELEASE(Env);
  ORT_API_T(const OrtTrainingApi*, GetTrainingApi, uint32_t version);
#ifdef __cplusplus
  OrtApi(const OrtApi&) = delete;
#endif
};
"""
    assert places(header) == {"CreateStatus": 0, "CreateEnv": 1, "ReleaseEnv": 2, "GetTrainingApi": 3}


def test_where_it_cannot_run_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert Android().unsupported() == "Android's x86_64 libraries load on x86_64 Linux only"
    with pytest.raises(ToolError, match="x86_64 Linux only"):
        Android().install()
    with pytest.raises(ToolError, match="x86_64 Linux only"):
        Android().probe(tmp_path / "model.onnx", ProbeJob())


CONVOLUTION = "(float[1,3,8,8] x) => (float[1,2,8,8] y) { a = Conv <pads = [1,1,1,1]> (x, w) y = Relu (a) }"


THEN_EINSUM = (
    "(float[1,3,8,8] x) => (float[1,2,8,8] y) "
    '{ a = Conv <pads = [1,1,1,1]> (x, w) b = Einsum <equation = "bchw->bchw"> (a) y = Relu (b) }'
)


@pytest.fixture(scope="module")
def android() -> Android:
    have("android")
    return Android()


@pytest.fixture
def convolution(tmp_path: Path) -> Path:
    return saved(tmp_path, CONVOLUTION)


def saved(folder: Path, graph: str) -> Path:
    weights = numpy.linspace(-1, 1, 54, dtype=numpy.float32).reshape(2, 3, 3, 3)
    onnx.save(onnx_model(graph, weights={"w": weights}), folder / "model.onnx")
    return folder / "model.onnx"


def taken(answer: Json) -> dict[str, Counter[str]]:
    """Provider -> how many nodes of each operator it took."""
    found: dict[str, Counter[str]] = {}
    for subgraph in answer["subgraphs"]:
        found.setdefault(subgraph["provider"], Counter()).update(node["op"] for node in subgraph["nodes"])
    return found


def test_the_library_is_the_version_that_packages_depend_on(android: Android, convolution: Path) -> None:
    answer = android.probe(convolution, ProbeJob())

    assert downloads.pins()["android"]["onnxruntime"].endswith(f":{answer['version']}")
    assert taken(answer) == {"CPUExecutionProvider": Counter(Conv=1, Relu=1)}
    assert answer["all_on"] == "CPUExecutionProvider"


def test_xnnpack_takes_a_convolution_and_its_activation_as_one(android: Android, convolution: Path) -> None:
    subgraphs = android.probe(convolution, ProbeJob(provider="xnnpack"))["subgraphs"]

    groups = [each for each in subgraphs if each["provider"] == "XnnpackExecutionProvider"]
    assert [sorted(node["op"] for node in group["nodes"]) for group in groups] == [["Conv", "Relu"]]


def test_nnapi_leaves_what_it_does_not_know_to_the_cpu(android: Android, tmp_path: Path) -> None:
    found = taken(android.probe(saved(tmp_path, THEN_EINSUM), ProbeJob(provider="nnapi")))

    assert found["CPUExecutionProvider"] == Counter(Einsum=1)
    assert found["NnapiExecutionProvider"]["Conv"] == 1


def test_an_android_before_nnapi_gives_it_nothing(android: Android, convolution: Path) -> None:
    answer = Android(sdk=26, nnapi_feature_level=26).probe(convolution, ProbeJob(provider="nnapi"))

    assert set(taken(answer)) == {"CPUExecutionProvider"}


def test_a_model_is_run_on_given_numbers(android: Android, tmp_path: Path) -> None:
    model = saved(tmp_path, "(float[1,3] x) => (float[1,3] y) { y = Add (x, x) }")
    (tmp_path / "x.bin").write_bytes(numpy.array([1, 2, 3.5], "<f4").tobytes())
    inputs = [ProbeInput(name="x", type="float", shape=(1, 3), file=str(tmp_path / "x.bin"))]

    answer = android.probe(model, ProbeJob(inputs=inputs, warm_runs=2, is_explained=False), outputs=tmp_path)

    (output,) = answer["outputs"]
    assert (output["name"], output["type"], output["shape"]) == ("y", "float", [1, 3])
    assert numpy.fromfile(output["file"], "<f4").tolist() == [2, 4, 7]
    assert len(answer["run_ms"]) == 3
    assert answer["before_kib"]["peak"] <= answer["loaded_kib"]["peak"] <= answer["run_kib"]["peak"]


def test_a_model_is_loaded_from_mapped_bytes(android: Android, convolution: Path) -> None:
    assert taken(android.probe(convolution, ProbeJob(is_mapped=True)))["CPUExecutionProvider"] == Counter(
        Conv=1, Relu=1
    )


def test_an_operator_without_a_kernel_is_refused_in_onnx_runtimes_words(android: Android, tmp_path: Path) -> None:
    model = saved(tmp_path, "(bfloat16[2] x) => (bfloat16[2] y) { y = Relu (x) }")

    with pytest.raises(ModelError, match=r"cannot load it with provider cpu: .*implementation for Relu"):
        android.probe(model, ProbeJob())


def test_a_file_that_was_cut_short_is_refused(android: Android, convolution: Path) -> None:
    convolution.write_bytes(convolution.read_bytes()[:-40])

    with pytest.raises(ModelError, match=r"cannot load it with provider cpu: .*rotobuf"):
        android.probe(convolution, ProbeJob())


def test_a_crash_is_a_model_error_that_names_the_provider(
    android: Android, convolution: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crashing = tmp_path / "probe.py"
    crashing.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", encoding="utf-8")
    monkeypatch.setattr("packager.engines.environments.android.PROBE", crashing)

    with pytest.raises(ModelError, match=r"crashed on it with provider xnnpack \(SIGSEGV\)$"):
        android.probe(convolution, ProbeJob(provider="xnnpack"))


def test_nothing_of_the_environment_reaches_the_users_programs(android: Android) -> None:
    assert "LD_LIBRARY_PATH" in android.variables()
    assert android.variables()["LD_LIBRARY_PATH"] not in os.environ.get("LD_LIBRARY_PATH", "")


def test_the_header_beside_the_library_names_what_the_probe_calls(android: Android) -> None:
    folder = Path(android.variables()["LD_LIBRARY_PATH"].split(":")[0])
    probe = Path(android_probe.__file__).read_text(encoding="utf-8")

    called = re.findall(r'(?:call|made|number|text|items|function)\(\s*"(\w+)"', probe)

    assert len(called) > 15
    assert set(called) <= set(places((folder / "onnxruntime_c_api.h").read_text(encoding="utf-8")))
