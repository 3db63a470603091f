"""`[model.NAME.rename]`: inputs, outputs and dimensions get the names that apps see."""

from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest

from packager import models
from packager.cli.better_names import proposals, says_nothing
from packager.cli.init import project_file
from packager.cli.sizes import SearchedShapes
from packager.config.loading import load
from packager.core.errors import ConfigError
from packager.core.signature import Dimension, ElementType, Signature, TensorSpec
from tests.cases.onnx_text import onnx_model, saved

NET = """
(float[N, k] x.1, float[a, ?] other, bool flag) => (float[N, k] fetch_name_0, float[N, k] taken)
{
    fetch_name_0 = Add (x.1, x.1)
    taken = If (flag) <
        then_branch = yes () => (float[N, k] y) { y = Neg (fetch_name_0) },
        else_branch = no () => (float[N, k] z) { z = Abs (x.1) }
    >
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    text = NET.replace("x.1", "x1").replace("[a, ?]", "[a, b]")
    proto = onnx_model(text, opsets={"": 21})
    proto.graph.input[1].type.tensor_type.shape.dim[1].Clear()
    return saved(tmp_path / "net.onnx", proto)


def names(model: Any) -> list[tuple[str, tuple[Any, ...]]]:
    return [(spec.name, spec.shape) for spec in (*model.signature.inputs, *model.signature.outputs)]


def test_tensors_get_their_names_everywhere_and_can_exchange_them(path: Path) -> None:
    wanted = {"x1": "image", "fetch_name_0": "scores", "N": "batch", "other.1": "length"}
    model = models.load(path, "net", renamed=wanted)
    assert names(model) == [
        ("image", ("batch", "k")),
        ("other", ("a", "length")),
        ("flag", ()),
        ("scores", ("batch", "k")),
        ("taken", ("batch", "k")),
    ]
    session = onnxruntime.InferenceSession(model.graph, providers=["CPUExecutionProvider"])
    image = numpy.array([[1, -2]], numpy.float32)
    feeds = {"image": image, "other": image}
    for flag, expected in ((True, -2 * image), (False, abs(image))):
        scores, taken = session.run(["scores", "taken"], {**feeds, "flag": numpy.array(flag)})
        assert (scores == 2 * image).all()
        assert (taken == expected).all()
    model = models.load(path, "net", renamed={"x1": "other", "other": "x1"})
    assert [name for name, _ in names(model)][:2] == ["other", "x1"]
    model = models.load(path, "net", renamed={"x1": "image", "N": "batch"}, fixed={"batch": 2, "image": (2, 5)})
    assert names(model)[0] == ("image", (2, 5))


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        ({"flags": "on"}, "the model has no input, output or dimension 'flags'", "did you mean 'flag'?"),
        ({"other.0": "rows"}, "the model has no input, output or dimension 'other.0'", "did you mean 'other.1'?"),
        ({"x1": "flag"}, "the model already has a tensor 'flag'", "choose another name"),
        ({"x1": "y"}, "the model already has a tensor 'y'", "choose another name"),
        ({"x1": "a", "flag": "a"}, "the model already has a tensor 'a'", "choose another name"),
        ({"x1": " "}, "'x1' gets an empty name", "remove the line, or give a name"),
    ],
)
def test_names_that_cannot_be_given_are_refused(path: Path, wanted: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        models.load(path, "net", renamed=wanted)
    assert (str(refused.value), refused.value.hint) == (f"[model.net.rename]: {message}", hint)


def test_names_are_proposed_by_what_tensors_look_like() -> None:
    for name, expected in [
        *((name, True) for name in ("fetch_name_0", "495", "onnx::Add_3", "input.1", "StatefulPartitionedCall:0")),
        *((name, False) for name in ("image", "x", "logits", "conv2d_1")),
    ]:
        assert says_nothing(name) is expected
    signature = Signature(
        inputs=(spec("495", "unk__1", 3, None, None), spec("mask", "unk__1", "tokens")),
        outputs=(spec("fetch_name_0", "unk__1", 10), spec("fetch_name_1", "unk__1", 4)),
    )
    assert proposals(signature) == {
        "495": "image",
        "fetch_name_0": "scores",
        "fetch_name_1": "scores2",
        "unk__1": "batch",
        "495.2": "height",
        "495.3": "width",
    }


def spec(name: str, *shape: Dimension) -> TensorSpec:
    return TensorSpec(name=name, identifier=name, element=ElementType.FLOAT, shape=shape)


def test_init_writes_proposals_that_can_be_used(path: Path, tmp_path: Path) -> None:
    text = project_file(models.load(path, "net"), "net", tmp_path / "mobpack.toml", SearchedShapes(), [])
    assert '\n# fetch_name_0 = "scores"\n' in text
    for line in ("[model.net.rename]", "fetch_name_0", '"other.1"'):
        assert text.count(f"\n# {line}") == 1
        text = text.replace(f"\n# {line}", f"\n{line}")
    (tmp_path / "mobpack.toml").write_text(text, encoding="utf-8")
    assert load(tmp_path / "mobpack.toml").model["net"].rename == {"fetch_name_0": "scores", "other.1": "length"}
