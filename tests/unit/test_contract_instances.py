"""Contracts of instances: the masks that an app gets, beside their definition in numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
import numpy.typing
import pytest

from packager.contract import Core, Writer
from packager.contract.boxes import Instances
from packager.core.contract import InstancesOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from tests.cases.contract_graphs import Ran, graph_of, spec_of
from tests.unit.test_contract_boxes import AS_IT_IS, Picture, as_centres, proposals

Numbers = numpy.typing.NDArray[Any]

CORE = 64
"""width and height of the model's picture"""
PICTURES = {
    "as it is": AS_IT_IS,
    "letterbox": Picture(width=200, height=100, made_width=64, made_height=32, offset_y=16),
    "crop": Picture(width=90, height=150, made_width=64, made_height=106, offset_y=-21),
    "stretch": Picture(width=31, height=170, made_width=64, made_height=64),
}
FEW = 30
"""proposals of a model"""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A model's outputs, and its masks as the definition has them."""

    table: Instances
    outputs: Mapping[str, Numbers]
    scores: Numbers
    """[FEW]: the best of each proposal, no two alike"""
    planes: Numbers
    """[FEW, h, w]: above 0 where an object is"""
    covers: Numbers
    """[FEW, 4]: left, top, right, bottom of what a plane covers, in the model's picture"""


def forms() -> dict[str, Form]:
    random = numpy.random.default_rng(3)
    boxes, scores = proposals(FEW, 3, seed=4)
    best, classes = scores.max(0), scores.argmax(0)
    coefficients = random.standard_normal((FEW, 8)).astype(numpy.float32)
    prototypes = random.standard_normal((1, 8, 16, 20)).astype(numpy.float32)
    sums = numpy.einsum("mk,khw->mhw", coefficients.astype(float), prototypes[0].astype(float))
    whole = numpy.tile([0.0, 0.0, CORE, CORE], (FEW, 1))
    centres = as_centres(boxes)
    sure = random.random((FEW, 1)).astype(numpy.float32)
    chosen = numpy.concatenate([boxes, best[:, None], classes[:, None], coefficients], axis=1)[None]
    masks = random.random((FEW, 1, 28, 28)).astype(numpy.float32)
    pasted = random.random((1, FEW, CORE, CORE)).astype(numpy.float32)
    heads = {"b": boxes, "s": best, "c": classes.astype(numpy.float32)}
    given: dict[str, Any] = {"format": "corners", "scores": "s", "classes": "c", "masks": "p"}
    return {
        "yolo": Form(
            table=Instances(format="yolo", prototypes="p", iou_threshold=1),
            outputs={"y": numpy.concatenate([centres.T, scores, coefficients.T])[None], "p": prototypes},
            scores=best,
            planes=sums,
            covers=whole,
        ),
        "yolo-objectness": Form(
            table=Instances(format="yolo-objectness", prototypes="p", iou_threshold=1, threshold=0.7),
            outputs={"y": numpy.concatenate([centres, sure, scores.T, coefficients], axis=1)[None], "p": prototypes},
            scores=(scores * sure.T).max(0),
            planes=sums - numpy.log(0.7 / 0.3),
            covers=whole,
        ),
        "rows": Form(
            table=Instances(format="rows", prototypes="p", max_boxes=7),
            outputs={"y": chosen, "p": prototypes},
            scores=best,
            planes=sums,
            covers=whole,
        ),
        "masks": Form(
            table=Instances(**given),
            outputs={"y": heads["b"], "s": heads["s"], "c": heads["c"], "p": masks},
            scores=best,
            planes=numpy.pad(masks[:, 0].astype(float), ((0, 0), (1, 1), (1, 1))) - 0.5,
            covers=boxes + numpy.tile(boxes[:, 2:] - boxes[:, :2], 2).astype(float) / 28 * [-1, -1, 1, 1],
        ),
        "pasted masks": Form(
            table=Instances(**given, cover="picture", threshold=0.3),
            outputs={"y": heads["b"], "s": heads["s"], "c": heads["c"], "p": pasted},
            scores=best,
            planes=pasted[0].astype(float) - 0.3,
            covers=whole,
        ),
    }


def defined(plane: Numbers, cover: Numbers, picture: Picture) -> Numbers:
    """[height, width]: the plane interpolated linearly at the centre of each pixel of the picture; beyond the centres
    of its outer places, these; -1 for pixels outside of the plane."""
    found = plane.copy()
    lines = (
        (picture.height, picture.made_height, picture.offset_y, cover[1], cover[3]),
        (picture.width, picture.made_width, picture.offset_x, cover[0], cover[2]),
    )
    for axis, (size, made, offset, start, end) in enumerate(lines):
        count = plane.shape[axis]
        seen = (numpy.arange(size) + 0.5) * made / size + offset
        place = (seen - start) / (end - start) * count - 0.5
        whole = numpy.clip(numpy.floor(place).astype(int), 0, count - 1)
        share = numpy.clip(place - whole, 0, 1) if count > 1 else numpy.zeros(size)
        both = (found.take(whole, axis), found.take(numpy.minimum(whole + 1, count - 1), axis))
        share = share if axis else share[:, None]
        found = both[0] * (1 - share) + both[1] * share
        is_outside = (place < -0.5) | (place > count - 0.5)
        found[is_outside if axis == 0 else (slice(None), is_outside)] = -1
    return found


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("form", forms())
def test_masks_are_interpolated_then_compared_then_cut_to_their_boxes(form: str, name: str) -> None:
    wanted, picture = forms()[form], PICTURES[name]
    made, typed = ran(wanted, picture)
    assert [spec.name for spec in (typed.boxes, typed.scores, typed.classes, typed.areas, typed.places)] == [*made]
    boxes, scores, _, areas, places = made.values()
    assert len(areas) > 3
    assert areas.dtype == numpy.int32
    assert places.dtype == numpy.uint8
    start = 0
    for box, score, (left, top, width, height) in zip(boxes, scores, areas, strict=True):
        columns, rows = (
            numpy.flatnonzero((box[at] <= centres) & (centres < box[at + 2]))
            for at, centres in enumerate((numpy.arange(picture.width) + 0.5, numpy.arange(picture.height) + 0.5))
        )
        if len(columns) and len(rows):
            assert [left, top, width, height] == [columns[0], rows[0], len(columns), len(rows)]
        assert min(width, height) >= 1
        mask = places[start : start + width * height].reshape(height, width)
        start += width * height
        place = int(numpy.abs(wanted.scores - score).argmin())
        plane = defined(wanted.planes[place], wanted.covers[place], picture)[top : top + height, left : left + width]
        is_clear = numpy.abs(plane) > 1e-4
        assert is_clear.mean() > 0.99
        assert ((plane > 0) == mask)[is_clear].all()
    assert start == len(places)
    assert 0.1 < places.mean() < 0.9


def ran(form: Form, picture: Picture) -> tuple[Mapping[str, Numbers], InstancesOutput]:
    writer = Writer(scope="y")
    specs = [spec_of(each, ElementType.FLOAT, *array.shape) for each, array in form.outputs.items()]
    core = Core(
        inputs={"x": spec_of("x", ElementType.FLOAT, 1, 3, CORE, CORE)},
        outputs={spec.name: spec for spec in specs},
        placements={"x": picture.placement(writer)},
    )
    typed = form.table.attach(writer, specs[0], core).typed
    assert isinstance(typed, InstancesOutput)
    run = Ran(graph_of(writer, inputs=[(spec.name, spec.element, spec.shape) for spec in specs]))
    return run({name: array.astype(numpy.float32) for name, array in form.outputs.items()}), typed


def test_a_picture_without_objects_has_no_places() -> None:
    form = forms()["yolo"]
    made, _ = ran(Form(**{**vars(form), "outputs": {**form.outputs, "y": form.outputs["y"] * 0}}), AS_IT_IS)
    assert [made[name].shape for name in ("y.boxes", "y.areas", "y.places")] == [(0, 4), (0, 4), (0,)]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"format": "yolo"}, "'prototypes' is missing"),
        ({"format": "corners", "scores": "s"}, "'masks' is missing"),
        ({"format": "corners", "masks": "p"}, "'scores' is missing"),
        ({"format": "yolo", "prototypes": "p", "masks": "m"}, "'masks' has no effect with format 'yolo'"),
        ({"format": "rows", "prototypes": "p", "cover": "picture"}, "'cover' has no effect with format 'rows'"),
        ({"format": "rows", "prototypes": "p", "agnostic": True}, "'agnostic' has no effect with format 'rows'"),
        ({"format": "yolo", "prototypes": "p", "threshold": 1}, "threshold 1 is not between 0 and 1"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(keys: Mapping[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Instances(**keys)


CORNERS: Mapping[str, Any] = {"format": "corners", "scores": "s", "classes": "c", "masks": "p"}
YOLO: Mapping[str, Any] = {"format": "yolo", "prototypes": "p"}


@pytest.mark.parametrize(
    ("keys", "y", "p", "message"),
    [
        (YOLO, (1, 12, 30), (1, 8, 16, 16), r"float \[1, 12, 30\]: not \[1, 4 \+ classes \+ 8, boxes\]"),
        (YOLO, (1, 15, 30), (1, 8, 256), r"prototypes 'p' are float \[1, 8, 256\]: not \[1, count, height, width\]"),
        ({**YOLO, "format": "rows"}, (1, 30, 13), (1, 8, 16, 16), r"not \[1, boxes, 6 \+ 8\]"),
        ({**YOLO, "prototypes": "y"}, (1, 15, 30), (1, 8, 16, 16), "prototypes 'y' is not another output"),
        ({**YOLO, "prototypes": "state"}, (1, 15, 30), (1, 8, 16, 16), "prototypes 'state' is not another output"),
        ({**CORNERS, "scores": "state"}, (30, 4), (30, 1, 28, 28), "scores 'state' is not another output"),
        ({**CORNERS, "classes": "y"}, (30, 4), (30, 1, 28, 28), "classes 'y' is not another output"),
        (CORNERS, (30, 4), (30, 3, 28, 28), r"float \[30, 3, 28, 28\]: not one of height and width for each box"),
    ],
)
def test_outputs_without_masks_are_refused(
    keys: Mapping[str, Any], y: tuple[Dimension, ...], p: tuple[Dimension, ...], message: str
) -> None:
    shapes = {"y": y, "p": p, "s": (30,), "c": (30,), "state": (30,)}
    outputs = {name: spec_of(name, ElementType.FLOAT, *shape) for name, shape in shapes.items()}
    writer = Writer(scope="y")
    core = Core(outputs=outputs, placements={"x": AS_IT_IS.placement(writer)}, carried=frozenset({"state"}))
    with pytest.raises(ConfigError, match=message) as raised:
        Instances(**keys).attach(writer, outputs["y"], core)
    assert raised.value.hint
    with pytest.raises(ConfigError, match="takes no picture that the instances are in"):
        Instances(**keys).attach(writer, outputs["y"], Core(outputs=outputs, placements={}))
