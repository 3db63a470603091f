"""The XNNPACK rules, compared with ONNX Runtime's own XNNPACK provider in its Android library.

tests/unit/test_xnnpack_rules.py holds the rules to every case; at night the provider itself does.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager import models as onnx_models
from packager.compile import plan
from packager.core.errors import ModelError
from packager.core.values import baseline
from packager.engines.environments.android import Android, ProbeInput, ProbeJob
from packager.files.store import Store
from packager.models.graphs import read_graph
from packager.targets.android import Android as Target
from packager.verification.partition.device import measure_on_android
from packager.verification.partition.report import contradictions, measured, partitions
from tests.cases import nnapi_cases
from tests.cases.onnx_text import saved, weight
from tests.cases.random_xnnpack import drawn
from tests.cases.xnnpack_cases import BORDERS, FAILS, FLOATS, WRONG, Case
from tests.cases.xnnpack_rules import SEEDS, SOUND, prediction
from tests.nights import spread
from tests.toolchain import models
from tests.toolchain.environments import have

OTHERS = [
    *nnapi_cases.SINGLE,
    *nnapi_cases.QUANTIZED,
    *nnapi_cases.CONTRIBUTED,
    *nnapi_cases.PARTITIONS,
    *nnapi_cases.FATAL,
]

XNNPACK = "XnnpackExecutionProvider"

TOLERANCE, WRONG_BY = 1e-4, 0.01
"""Distances that are right and wrong, as shares of the largest number of an output."""

NAMES = {"float32": "float", "float64": "double"}
"""NumPy's names of element types -> those of ONNX."""

EARLIER = frozenset(("Softmax", "Relu", "Clip"))
"""Nodes that XNNPACK may take in addition, once the change of layout has removed a Transpose before them: rules leave
them to the CPU, which is the safe side, and none has MACs."""


def disagreements(model: onnx.ModelProto, folder: Path) -> list[str]:
    """Nodes that the rules take and the provider leaves, or the other way round. Nodes that ONNX Runtime has removed,
    and conversions that it made anew without their names, count as agreed."""
    graph, predicted = read_graph(model.SerializeToString()), prediction(model)
    (folder / "scratch").mkdir()
    found = measure_on_android(saved(folder / "m.onnx", model), "xnnpack", folder / "scratch")
    assert found.refusal == ""
    asked = set(found.names) - set(found.gone) - set(found.followers)
    return [
        f"{node.name}: {predicted.left.get(node.name, 'is taken')}"
        for node in graph.nodes
        if node.name in asked and (node.name in found.taken(XNNPACK)) == (node.name in predicted.left)
    ]


def answers(path: Path, provider: Any, feeds: Mapping[str, Any], folder: Path) -> list[Any] | str:
    """Outputs of the provider, or why it gives none."""
    out = folder / provider
    out.mkdir()
    inputs = []
    for name, array in feeds.items():
        (folder / name).write_bytes(array.tobytes())
        kind = NAMES.get(str(array.dtype), str(array.dtype))
        inputs.append(ProbeInput(name=name, type=kind, shape=array.shape, file=str(folder / name)))
    entries = {"session.qdqisint8allowed": "1"}
    try:
        said = Android().ask(
            path, ProbeJob(provider=provider, inputs=inputs, entries=entries, is_explained=False), outputs=out
        )
    except ModelError as error:
        return error.message
    if "error" in said:
        return str(said["error"])
    kinds = {name: kind for kind, name in NAMES.items()}
    return [
        numpy.fromfile(each["file"], kinds.get(each["type"], each["type"])).reshape(each["shape"])
        for each in said["outputs"]
    ]


def feeds_of(model: onnx.ModelProto) -> dict[str, Any]:
    """Numbers for every input, of one element in the batch N, and 5 for each other open dimension."""
    found = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = tuple(each.dim_value or (1 if each.dim_param == "N" else 5) for each in tensor.shape.dim)
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        found[value.name] = (weight(*shape) * (1 if kind.kind == "f" else 50)).astype(kind)
    return found


def distance(model: onnx.ModelProto, folder: Path) -> float | str:
    """How far XNNPACK's answers are from the CPU's, as a share of the largest number; or why there are none."""
    path, feeds = saved(folder / "m.onnx", model), feeds_of(model)
    expected, found = (answers(path, provider, feeds, folder) for provider in ("cpu", "xnnpack"))
    assert not isinstance(expected, str), expected
    if isinstance(found, str):
        return found
    return max(
        float(
            numpy.abs(one.astype(numpy.float64) - other).max() / max(numpy.abs(one.astype(numpy.float64)).max(), 1e-6)
        )
        for one, other in zip(expected, found, strict=True)
    )


@pytest.fixture(scope="session")
def android() -> None:
    have("android")


@pytest.mark.parametrize("each", spread([*SOUND, *OTHERS], 8))
def test_small_models_are_cut_as_onnx_runtime_cuts_them(each: Any, android: None, tmp_path: Path) -> None:
    model = each.model()
    if prediction(model).refusal:
        found = distance(model, tmp_path)
        assert isinstance(found, str) or not found <= WRONG_BY
    else:
        assert disagreements(model, tmp_path) == []


@pytest.mark.parametrize("each", spread(WRONG, 3), ids=lambda each: each.why)
def test_xnnpack_really_computes_it_wrong(each: Case, android: None, tmp_path: Path) -> None:
    found = distance(each.model(), tmp_path)
    assert isinstance(found, float)
    assert not found <= WRONG_BY, "NaN, where it reads memory that is not its own"


@pytest.mark.parametrize("each", spread(FAILS, 3), ids=lambda each: each.why)
def test_xnnpack_really_fails_with_it(each: Case, android: None, tmp_path: Path) -> None:
    assert isinstance(distance(each.model(), tmp_path), str)


@pytest.mark.parametrize("each", spread([*FLOATS, *BORDERS], 8))
def test_xnnpack_computes_the_others_right(each: Case, android: None, tmp_path: Path) -> None:
    found = distance(each.model(), tmp_path)
    assert isinstance(found, float)
    assert found < TOLERANCE


@pytest.mark.parametrize("seed", spread(range(SEEDS), 10))
def test_random_nets_are_cut_and_computed_as_predicted_or_kept_from_xnnpack(
    seed: int, android: None, tmp_path: Path
) -> None:
    model = drawn(seed)
    if prediction(model).refusal:
        return
    assert [each for each in disagreements(model, tmp_path) if each.split(".")[0] not in EARLIER] == []
    found = distance(model, tmp_path)
    assert isinstance(found, float)
    assert found < TOLERANCE


REAL = (models.digits, models.orientation, models.silero_vad, models.minilm, models.magika, models.basic_pitch)


@pytest.mark.parametrize("model", spread(REAL, 3), ids=lambda model: model.__name__)
def test_real_models_are_cut_as_the_rules_say(model: Callable[[], Path], android: None, tmp_path: Path) -> None:
    """The file that ships, as the provider itself opens it."""
    described = onnx_models.hashed(onnx_models.load(model(), "m"))
    target = Target(providers=("xnnpack",))
    made = plan.make(baseline(described), target, Store(tmp_path / "store"), lambda part: None)
    (tmp_path / "scratch").mkdir()
    (predicted,), (found,) = partitions(made), measured(made, tmp_path / "scratch")
    assert list(contradictions([predicted], [found])) == []
    assert (found.skipped, found.refusal, predicted.refusal) == ("", "", "")
