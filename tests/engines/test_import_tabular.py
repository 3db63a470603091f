"""Imports of XGBoost, LightGBM, CatBoost and scikit-learn, with the real ones, and of what they save badly."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, ParityError
from packager.files.store import Store
from packager.importers import trees
from packager.importers.trees import Ensemble, Leaf, Tree, TreeSplit
from packager.workflows.conversion.graph import ports
from packager.workflows.importing import ImportRequest, starting, steps
from tests.toolchain.importing import answers_of
from tests.toolchain.tabular_models import SOURCES

Answers = Mapping[str, Mapping[str, Any]]
RIGHT = """
classes.ubj sets.json early.json ranked.ubj dart.ubj classes.txt sets.txt zeros.txt classes.cbm grown.cbm nan.cbm
forest.joblib columns.joblib support.pkl histogram.joblib linear.skops vote.joblib old_opset.joblib
""".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tabular")


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    return answers_of("tests.toolchain.tabular_models", "tabular", folder)


def compare(name: str, proto: Any, answers: Answers, folder: Path, place: Path) -> Any:
    request = ImportRequest(source=name, folder=folder, output=place / "model.onnx")
    place.mkdir(exist_ok=True)
    for kind in ("samples", "recorded"):
        (place / kind).symlink_to(folder / "imported" / name / kind)
    return steps.compare(proto, starting.answer_of(answers[name]), place, request, Console(quiet=True))


def read(name: str, answers: Answers, folder: Path) -> Any:
    return steps.read(folder / "imported" / name, starting.answer_of(answers[name]))


@pytest.mark.parametrize("name", RIGHT)
def test_the_framework_and_the_onnx_agree(name: str, answers: Answers, folder: Path, tmp_path: Path) -> None:
    proto = read(name, answers, folder)
    onnx.checker.check_model(proto)  # a build refuses what it refuses
    errors = compare(name, proto, answers, folder, tmp_path / "made")
    assert errors
    assert all(each.max_share < 0.5 for each in errors)


@pytest.mark.parametrize("name", [name for name in RIGHT if name.startswith("classes.")])
def test_a_moved_threshold_is_found(name: str, answers: Answers, folder: Path, tmp_path: Path) -> None:
    """Random inputs lie on thresholds and beside them: the neighbouring float32 sends one the other way."""
    proto = read(name, answers, folder)
    [node] = [node for node in proto.graph.node if node.op_type == "TreeEnsembleRegressor"]
    [values] = [each for each in node.attribute if each.name == "nodes_values"]
    side = math.inf if name == "classes.ubj" else -math.inf  # that of numbers equal to the threshold
    values.floats[:] = numpy.nextafter(numpy.array(values.floats, numpy.float32), numpy.float32(side))
    with pytest.raises(ParityError, match=r"output '(label|probabilities)' on sample"):
        compare(name, proto, answers, folder, tmp_path / "made")


@pytest.mark.parametrize("name", [name for name in RIGHT if name.split(".")[1] in ("ubj", "json", "txt", "cbm")])
def test_random_inputs_reach_most_leaves(name: str, answers: Answers, folder: Path) -> None:
    """Counted with ONNX Runtime: each leaf alone gives 1 to an output of its own."""
    proto = read(name, answers, folder)
    [node] = [node for node in proto.graph.node if node.op_type == "TreeEnsembleRegressor"]
    lists = {each.name: list(onnx.helper.get_attribute_value(each)) for each in node.attribute if each.type >= 6}
    ids = list(dict.fromkeys(zip(lists["target_treeids"], lists["target_nodeids"], strict=True)))
    for attribute in list(node.attribute):
        if attribute.name.startswith("target_") or attribute.name in ("n_targets", "base_values"):
            node.attribute.remove(attribute)
    counted = {
        "target_treeids": [tree for tree, _ in ids],
        "target_nodeids": [leaf for _, leaf in ids],
        "target_ids": list(range(len(ids))),
        "target_weights": [1.0] * len(ids),
        "n_targets": len(ids),
    }
    node.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in counted.items())
    del proto.graph.node[list(proto.graph.node).index(node) + 1 :]
    del proto.graph.output[:]
    proto.graph.output.append(onnx.helper.make_tensor_value_info(node.output[0], onnx.TensorProto.FLOAT, None))
    import onnxruntime

    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    found = numpy.zeros(len(ids), bool)
    for sample in (folder / "imported" / name / "samples").iterdir():
        with numpy.load(sample) as arrays:
            found |= (session.run([node.output[0]], dict(arrays))[0] > 0).any(axis=0)
    reached, total = int(found.sum()), len(ids)
    assert reached / total > 0.6, f"{reached} of {total}"  # no input reaches some leaves of symmetric trees


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "classes.ubj": {"features": ("batch", 6), "label": ("batch",), "probabilities": ("batch", 3)},
        "early.json": {"features": ("batch", 6), "prediction": ("batch",)},
        "columns.joblib": {
            **dict.fromkeys(("height", "width", "weight", "animal", "legs"), ("batch", 1)),
            "label": ("batch",),
            "probabilities": ("batch", 3),
        },
        "support.pkl": {"features": ("batch", 6), "label": ("batch",), "scores": ("batch",)},
    }.items(),
)
def test_names_and_shapes(name: str, expected: dict[str, Any], answers: Answers, folder: Path) -> None:
    proto = read(name, answers, folder)
    assert {each.name: each.dimensions for each in (*ports(proto.graph.input), *ports(proto.graph.output))} == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("linear.json", "a linear booster (gblinear), not one of trees"),
        ("cut.ubj", "XGBoost 3.2.0 cannot load cut.ubj"),
        ("cut.txt", "the file is cut: trees are missing"),
        ("linear.txt", "leaves with linear models (linear_tree)"),
        ("categories.cbm", "1 features are categories, not numbers"),
        ("cut.cbm", "CatBoost 1.2.10 cannot load cut.cbm"),
        ("trees.skops", "contains types that skops does not trust: sklearn.tree._tree.Tree"),
        ("code.skops", "contains types that skops does not trust: numpy.lib.scimath.sqrt"),
        ("unfitted.joblib", "unfitted.joblib is not fitted"),
        ("clusters.joblib", "clusters.joblib: DBSCAN has neither predict nor transform"),
        ("dict.joblib", "dict.joblib holds several objects (a: int), not one model"),
    ],
)
def test_every_bad_source_has_its_words(name: str, words: str, answers: Answers) -> None:
    answer = answers[name]
    assert answer.get("failed") == "ModelError", answer
    assert words in answer["message"]
    assert answer["hint"]


def test_every_source_is_tried(answers: Answers) -> None:
    assert set(answers) == set(SOURCES)


def test_pickles_are_not_loaded_without_consent(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    request = ImportRequest(source="model.pkl", folder=tmp_path, output=tmp_path / "model.onnx")
    with pytest.raises(ConfigError, match="can run any code that is in it"):
        steps.run(request, Store(tmp_path / "store"), Console(quiet=True))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", [0.1, -0.1, 1 / 3, 1e-40, 16777217.0, 1e39, -1e39, 0.5])
@pytest.mark.parametrize("is_equal_left", [True, False])
def test_thresholds_in_float32_send_every_float32_to_the_same_side(value: float, is_equal_left: bool) -> None:
    near = trees.rounded(value, is_equal_left)
    with numpy.errstate(over="ignore"):
        middle = numpy.float32(value)
    low, high = (numpy.nextafter(middle, numpy.float32(side * math.inf)) for side in (-1, 1))
    for each in map(float, (low, middle, high)):
        assert (each <= near) == (each <= value) if is_equal_left else (each < near) == (each < value), each


def test_random_inputs_fall_on_thresholds_and_on_both_sides() -> None:
    split = TreeSplit(feature=0, value=2.0, is_equal_left=True, left=1, right=2, is_missing_left=True)
    tree = Tree(nodes=[split, Leaf(values=(1.0,)), Leaf(values=(2.0,))], target=0)
    ensemble = Ensemble(feature_count=2, base=(0.0,), trees=[tree], link="identity")
    values = trees.drawn(ensemble, 0, 200)[trees.FEATURES]
    assert values.dtype == numpy.float32
    assert values.shape == (200, 2)
    assert 20 < (values[:, 0] < 2).sum() < 180
    again = trees.drawn(ensemble, 0, 200)[trees.FEATURES]
    assert (values == again).all()
