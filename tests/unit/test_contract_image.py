"""Image contracts: the effect of each key, where pixels land, and refused values."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.contract import INPUT_KINDS
from packager.contract.image import PictureInput
from packager.core.contract import ImageInput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from packager.graph.writer import Writer
from tests.cases.contract_graphs import spec_of
from tests.cases.contract_pictures import RGB, Pixels, attached, noise


def bars(*rows: tuple[int, ...]) -> Pixels:
    """A grey picture."""
    return numpy.array(rows, numpy.uint8)[:, :, None].repeat(3, axis=2)


def test_the_kind_is_known_and_tells_what_apps_pass() -> None:
    assert INPUT_KINDS["image"] is PictureInput
    kind = PictureInput()
    assert kind.within(Path("/")) is kind
    parts = attached(1, 3, 8, 6).parts
    (typed,) = parts.typed
    assert isinstance(typed, ImageInput)
    tensors = (typed.pixels, typed.channels, typed.orientation, typed.chroma, typed.conversion)
    assert [(each.name, each.element.value, each.shape) for each in tensors] == [
        ("x.pixels", "uint8", ("x.height", "x.width", "x.channels")),
        ("x.channels", "int64", (3,)),
        ("x.orientation", "int64", ()),
        ("x.chroma", "uint8", ("x.chroma_height", "x.chroma_width", "x.chroma_channels")),
        ("x.conversion", "int64", (3,)),
    ]
    assert parts.placement is not None
    assert (parts.placement.core_height, parts.placement.core_width) == (8, 6)


def test_random_inputs_are_pictures_that_can_be_computed() -> None:
    model = attached(1, 3, 8, 6)
    assert set(model.parts.values) == {"x.channels", "x.orientation", "x.conversion"}
    assert model.parts.values["x.orientation"] == tuple(range(1, 9))
    for shape in model.parts.shapes["x.pixels"]:
        assert shape[2] > max(model.parts.values["x.channels"])
        assert model.core(noise(*shape), (2, 2, 0), 6).shape == (1, 3, 8, 6)


@pytest.mark.parametrize(
    ("shape", "keys", "made"),
    [
        ((1, 3, 8, 6), {}, (1, 3, 8, 6)),
        ((1, 8, 6, 3), {}, (1, 8, 6, 3)),
        ((8, 6, 3), {}, (8, 6, 3)),
        ((1, 8, 6), {}, (1, 8, 6)),
        (("N", 3, "h", None), {"size": (8, 6)}, (1, 3, 8, 6)),
        ((None, None, None, None), {"size": (8, 6), "layout": "nhwc"}, (1, 8, 6, 3)),
        ((None, None, None, None), {"size": (8, 6), "layout": "nchw", "colour": "grey"}, (1, 1, 8, 6)),
        ((1, 3, 8, 3), {"layout": "nchw"}, (1, 3, 8, 3)),
    ],
)
def test_the_core_has_a_static_shape(shape: tuple[Dimension, ...], keys: dict[str, Any], made: tuple[int, ...]) -> None:
    assert PictureInput(**keys).shapes(spec_of("x", ElementType.UINT8, *shape), {}) == {"x": made}
    assert attached(*shape, **keys).core(noise(8, 6)).shape == made


def test_channels_lie_in_the_order_that_the_model_wants() -> None:
    pixels = noise(8, 6, 4)
    last = attached(8, 6, 3)
    assert (last.core(pixels) == pixels[:, :, :3]).all()
    assert (last.core(pixels, (2, 1, 0)) == pixels[:, :, 2::-1]).all()
    assert (last.core(pixels, (1, 2, 3)) == pixels[:, :, 1:]).all()
    assert (last.core(pixels[:, :, :1], (0, 0, 0)) == pixels[:, :, :1]).all()
    pixels = noise(8, 6)
    assert (attached(8, 6, 3, colour="bgr").core(pixels) == pixels[:, :, ::-1]).all()
    pixels = noise(8, 6)
    assert (attached(1, 8, 6, 3).core(pixels)[0] == pixels).all()
    assert (attached(3, 8, 6).core(pixels).transpose(1, 2, 0) == pixels).all()


def test_greys_are_brightness_and_a_lacking_channel_is_an_error() -> None:
    pixels = noise(120, 100)
    red, green, blue = (pixels[:, :, each].astype(numpy.int64) for each in range(3))
    expected = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16
    assert (attached(120, 100, 1).core(pixels)[:, :, 0] == expected).all()
    every = numpy.arange(256, dtype=numpy.uint8).reshape(16, 16, 1)
    assert (attached(16, 16, 1).core(every, (0, 0, 0)) == every).all()
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        attached(8, 6, 3).core(noise(8, 6), (1, 2, 3))


@pytest.mark.parametrize(("element", "tolerance"), [(ElementType.FLOAT, 1e-6), (ElementType.FLOAT16, 2e-3)])
@pytest.mark.parametrize("shape", [(1, 3, 8, 6), (8, 6, 3)])
def test_pixels_are_normalised_per_channel(element: ElementType, tolerance: float, shape: tuple[int, ...]) -> None:
    pixels = noise(8, 6)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    found = attached(*shape, element=element, mean=mean, std=std).core(pixels)
    expected = (pixels / 255 - numpy.array(mean)) / numpy.array(std)
    if len(shape) == 4:
        found = found[0].transpose(1, 2, 0)
    assert found.dtype == {ElementType.FLOAT: numpy.float32, ElementType.FLOAT16: numpy.float16}[element]
    assert numpy.abs(found - expected).max() < tolerance


def test_pixels_are_normalised_by_one_number_for_all_channels() -> None:
    pixels = noise(8, 6)
    found = attached(8, 6, 3, element=ElementType.FLOAT, scale=1.0, mean=(127.5,), std=(127.5,)).core(pixels)
    assert numpy.allclose(found, pixels / 127.5 - 1, atol=1e-6)


@pytest.mark.parametrize(("keys", "added"), [({"scale": 1.0}, []), ({}, ["Mul"]), ({"mean": (0.5,)}, ["Mul", "Add"])])
def test_nothing_is_computed_that_changes_nothing(keys: dict[str, Any], added: list[str]) -> None:
    writer = Writer(scope="x")
    PictureInput(**keys).attach(writer, spec_of("x", ElementType.FLOAT, 1, 3, 8, 6), {})
    ops = [node.op_type for node in writer.written.nodes]
    behind = ops[len(ops) - 1 - ops[::-1].index("Reshape") + 1 :]
    assert [op for op in behind if op in ("Mul", "Add", "Sub", "Div")] == added


def test_stretch_ignores_proportions_and_resize_to_is_the_shorter_side() -> None:
    model = attached(4, 8, 3)
    assert (model.core(bars((10, 20), (30, 40)))[0, [0, -1], 0] == (10, 20)).all()
    assert model.places(noise(2, 2)) == (4, 0, 2, 0)
    model = attached(32, 32, 3, resize="crop", resize_to=40)
    scale_x, offset_x, scale_y, offset_y = model.places(noise(80, 133))
    assert (scale_x * 133, offset_x, scale_y * 80, offset_y) == pytest.approx((int(40 * 133 / 80), -17, 40, -4))


@pytest.mark.parametrize(
    ("height", "width", "places"),
    [
        (100, 200, (0.5, -25, 0.5, 0)),
        (200, 100, (0.5, 0, 0.5, -25)),
        (50, 50, (1, 0, 1, 0)),
        (50, 51, (51 / 51, 0, 1, 0)),  # half a column: to the even number
        (50, 53, (53 / 53, -2, 1, 0)),
        (7, 9, (64 / 9, -7, 50 / 7, 0)),
    ],
)
def test_crop_takes_the_middle(height: int, width: int, places: tuple[float, ...]) -> None:
    assert attached(50, 50, 3, resize="crop").places(noise(height, width)) == pytest.approx(places)


@pytest.mark.parametrize("size", [(50, 30), (30, 50)])
def test_crop_just_covers_a_size_that_is_no_square(size: tuple[int, int]) -> None:
    model = attached(*size, 3, resize="crop")
    for height, width in ((100, 60), (60, 100), (100, 100), (7, 90), (90, 7), (1, 1)):
        scale_x, offset_x, scale_y, offset_y = model.places(noise(height, width))
        made = round(scale_y * height), round(scale_x * width)
        assert made[0] >= size[0], (height, width)
        assert made[1] >= size[1], (height, width)
        assert size[0] in made or size[1] in made
        assert offset_x <= 0
        assert offset_y <= 0


@pytest.mark.parametrize(
    ("height", "width", "places"),
    [
        (100, 200, (0.25, 0, 0.25, 12)),
        (200, 100, (0.25, 12, 0.25, 0)),
        (50, 51, (50 / 51, 0, 49 / 50, 0)),
        (47, 50, (1, 0, 1, 1)),  # one row above, two below
        (1, 500, (0.1, 0, 1, 24)),
        (20, 500, (0.1, 0, 0.1, 24)),
        (25, 500, (0.1, 0, 2 / 25, 24)),  # 2.5 rows: the even number
        (35, 500, (0.1, 0, 4 / 35, 23)),
    ],
)
def test_letterbox_shows_the_whole_picture(height: int, width: int, places: tuple[float, ...]) -> None:
    assert attached(50, 50, 3, resize="letterbox").places(noise(height, width)) == pytest.approx(places)


def test_letterbox_fills_in_the_models_order_and_can_begin_at_the_top_left() -> None:
    white = numpy.full((4, 8, 3), 255, numpy.uint8)
    found = attached(8, 8, 3, resize="letterbox", fill=(1, 2, 3), colour="bgr").core(white)
    assert (found[[0, 1, 6, 7]] == (1, 2, 3)).all()
    assert (found[2:6] == 255).all()
    grey = attached(8, 8, 1, resize="letterbox", fill=(114,)).core(white)
    assert grey[0].tolist() == [[114]] * 8
    assert grey[2].tolist() == [[255]] * 8
    model = attached(8, 8, 3, resize="letterbox", align="start")
    assert model.core(white)[:, 0, 0].tolist() == [255] * 4 + [0] * 4
    assert model.places(white) == (1, 0, 1, 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_of_its_own_width_has_the_models_height_and_all_columns(orientation: int) -> None:
    upright = noise(10, 33)
    swaps = orientation >= 5
    stored = numpy.ascontiguousarray(upright.swapaxes(0, 1)) if swaps else upright
    found = attached(1, 3, 8, "w", resize="height").core(stored, RGB, orientation)
    assert found.shape == (1, 3, 8, 27)  # 26.4 columns, rounded up
    fixed = attached(1, 3, 8, 27).core(stored, RGB, orientation)
    assert (found == fixed).all()


def test_without_antialias_only_neighbours_count_and_nearest_takes_one() -> None:
    model = attached(1, 3, 3, layout="nhwc", filter="nearest")
    assert model.core(bars((0, 1, 2, 3, 4, 5, 6, 7, 8, 9)))[0, :, 0].tolist() == [1, 5, 8]
    assert model.core(bars((7, 9)))[0, :, 0].tolist() == [7, 9, 9]
    row = bars((0, 100, 0, 0, 0, 200, 0, 0))
    assert attached(1, 2, 3, layout="nhwc", antialias=False).core(row)[0, :, 0].tolist() == [50, 100]
    assert attached(1, 2, 3, layout="nhwc").core(row)[0, :, 0].tolist() != [50, 100]
    assert attached(1, 1, 3, layout="nhwc", antialias=False).core(bars((0, 1)))[0, 0, 0] == 1
    assert attached(1, 4, 3, layout="nhwc", antialias=False).core(bars((0, 100)))[0, :, 0].tolist() == [0, 25, 75, 100]


@pytest.mark.parametrize("resize", ["stretch", "crop", "letterbox"])
@pytest.mark.parametrize("orientation", range(-1, 11))
def test_places_are_those_of_the_upright_picture(resize: str, orientation: int) -> None:
    """A white spot in a black picture is found at the reported place."""
    stored = numpy.zeros((40, 60, 3), numpy.uint8)
    stored[8:20, 42:51] = 255
    is_swapped = orientation in (5, 6, 7, 8)
    model = attached(24, 32, 3, resize=resize)
    found = numpy.greater(model.core(stored, RGB, orientation)[:, :, 0], 127)
    scale_x, offset_x, scale_y, offset_y = model.places(stored, RGB, orientation)
    left, top, right, bottom = upright_box((42, 8, 51, 20), orientation)
    rows, columns = (numpy.flatnonzero(found.any(axis=axis)) for axis in (1, 0))
    seen = (
        min(max(edge * scale + offset, 0), size)
        for edge, scale, offset, size in (
            (left, scale_x, offset_x, 32),
            (right, scale_x, offset_x, 32),
            (top, scale_y, offset_y, 24),
            (bottom, scale_y, offset_y, 24),
        )
    )
    assert (columns[0], columns[-1] + 1, rows[0], rows[-1] + 1) == pytest.approx(tuple(seen), abs=0.51)
    placement = model.parts.placement
    assert placement is not None
    ran = model.run(stored, RGB, orientation)
    assert [int(ran[placement.width].item()), int(ran[placement.height].item())] == (
        [40, 60] if is_swapped else [60, 40]
    )


def upright_box(box: tuple[int, int, int, int], orientation: int) -> tuple[int, int, int, int]:
    """The corners of `box` in a picture of 60 x 40 that is turned as EXIF's 2 to 8 say."""
    left, top, right, bottom = box
    x, y, mirrored_x, mirrored_y = (left, right), (top, bottom), (60 - right, 60 - left), (40 - bottom, 40 - top)
    turned = {2: (mirrored_x, y), 3: (mirrored_x, mirrored_y), 4: (x, mirrored_y), 5: (y, x)}
    turned |= {6: (mirrored_y, x), 7: (mirrored_y, mirrored_x), 8: (y, mirrored_x)}
    across, down = turned.get(orientation, (x, y))
    return across[0], down[0], across[1], down[1]


@pytest.mark.parametrize("keys", [{}, {"filter": "bicubic"}, {"filter": "nearest"}, {"antialias": False}])
@pytest.mark.parametrize("resize", ["stretch", "crop", "letterbox"])
@pytest.mark.parametrize("shape", [(0, 5, 3), (5, 0, 3), (0, 0, 3)])
def test_a_picture_without_pixels_is_an_error(keys: dict[str, Any], resize: str, shape: tuple[int, ...]) -> None:
    model = attached(8, 6, 3, resize=resize, **keys)
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        model.core(numpy.zeros(shape, numpy.uint8))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"size": (0, 5)}, r"size \[0, 5\] is not a height and width"),
        ({"resize_to": 256}, "'resize-to' has no effect"),
        ({"fill": (114,)}, "'fill' and 'align' have no effect"),
        ({"resize": "letterbox", "fill": (256,)}, r"fill \[256\] is not a colour"),
        ({"antialias": False, "filter": "bicubic"}, "antialias = false is not supported with bicubic"),
        ({"std": (1.0, 0.0, 1.0)}, "would divide by zero"),
        ({"resize": "height", "size": (48, 320)}, "'size' has no effect with resize = \"height\""),
    ],
)
def test_keys_that_do_not_go_together_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said) as raised:
        PictureInput(**keys)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("element", "shape", "keys", "said"),
    [
        ("float", (1, 3), {}, r"\(float \[1, 3\]\) cannot be a picture"),
        ("int64", (1, 3, 8, 6), {}, "cannot be a picture"),
        ("float", (1, 4, 8, 6), {}, "no dimension can be channels"),
        ("float", (1, 3, 8, 3), {}, "both the first and the last dimension can be channels"),
        ("float", (1, 4, 8, 6), {"layout": "nchw"}, "has 4 channels"),
        ("float", (1, 3, 8, 6), {"colour": "grey"}, "has 3 channels, which does not fit 'grey'"),
        ("float", (1, 3, None, "w"), {}, r"\[1, 3, \?, w\]\) leaves the size of pictures open"),
        ("float", (1, 3, 8, 6), {"size": (6, 8)}, r"takes no pictures of \[6, 8\]"),
        ("float", (1, 3, 8, 6), {"mean": (0.5, 0.5)}, "mean .* does not fit 3 channels"),
        ("float", (1, 3, 8, 6), {"resize": "letterbox", "fill": (1, 2)}, "fill .* does not fit 3 channels"),
        ("float", (1, 3, 8, 6), {"resize": "crop", "resize_to": 7}, "resize-to 7 is too small to cut out 8 x 6"),
        ("uint8", (1, 3, 8, 6), {"mean": (0.5,)}, "takes unscaled pixels"),
        ("float", (1, 3, 8, 6), {"resize": "height"}, "takes pictures of one width alone"),
        ("float", (1, 3, "h", "w"), {"resize": "height"}, "leaves the height of pictures open"),
    ],
)
def test_inputs_unlike_the_keys_are_refused(
    element: str, shape: tuple[Dimension, ...], keys: dict[str, Any], said: str
) -> None:
    spec = spec_of("x", ElementType(element), *shape)
    kind = PictureInput(**keys)
    with pytest.raises(ConfigError, match=said) as raised:
        kind.shapes(spec, {})
    assert raised.value.hint
    with pytest.raises(ConfigError, match=said):
        kind.attach(Writer(scope="x"), spec, {})
