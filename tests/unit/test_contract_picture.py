"""The kind `picture` beside computations with NumPy and Pillow."""

import re
from typing import Any

import numpy
import numpy.typing
import PIL.Image
import PIL.ImageOps
import pytest

from packager.contract import Core, Writer
from packager.contract.image import PictureInput
from packager.contract.picture import Picture
from packager.core.contract import PictureOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from tests.cases.contract_graphs import Ran, graph_of, spec_of
from tests.unit.test_contract_outputs import placement

Numbers = numpy.typing.NDArray[Any]
Shape = tuple[Dimension, ...]

RANDOM = numpy.random.default_rng(11)
CORE, SIZE = (64, 48), (90, 120)
"""heights and widths of the model's picture and of the upright one"""
STRETCHED, LETTERBOX, CROP = ((48, 64), (0, 0)), ((48, 36), (0, 14)), ((85, 64), (-18, 0))
"""width and height of the whole picture in the model's, and its place"""


def run(
    kind: Picture, given: Numbers, *, fit: tuple[tuple[int, int], tuple[int, int]] = STRETCHED, is_open: bool = False
) -> Numbers:
    writer = Writer(scope="y")
    shape: Shape = (1, 3, None, None) if is_open else given.shape
    spec = spec_of("y", ElementType.FLOAT, *shape)
    core = Core(outputs={"y": spec}, placements={"x": placement(writer, *SIZE, CORE, *fit)})
    attached = kind.attach(writer, spec, core)
    assert isinstance(attached.typed, PictureOutput)
    assert attached.taken == ("y",)
    found = Ran(graph_of(writer, inputs=[("y", ElementType.FLOAT, shape)]))({"y": given})
    return found["y.pixels"]


def numbers(*shape: int) -> Numbers:
    """Smooth enough that a shift by a pixel is not taken for rounding, and rough enough that it is seen."""
    return RANDOM.random(shape).astype(numpy.float32)


def bytes_of(shares: Numbers) -> Numbers:
    """From 0..1 to 0..255, halves up."""
    return numpy.floor(numpy.clip(shares.astype(numpy.float64), 0, 1) * 255 + 0.5).astype(numpy.uint8)


def resized(pixels: Numbers, height: int, width: int) -> Numbers:
    return numpy.asarray(PIL.Image.fromarray(pixels).resize((width, height), PIL.Image.Resampling.BILINEAR))


def is_near(found: Numbers, expected: Numbers) -> bool:
    """By 1 of 255, hardly ever by 2: Pillow's weights are double, ONNX Runtime's float, and each pass rounds."""
    off = numpy.abs(found.astype(int) - expected)
    return found.shape == expected.shape and off.max() <= 2 and (off > 1).mean() < 1e-3


@pytest.mark.parametrize(
    ("keys", "back"),
    [
        ({}, lambda y: y),
        ({"range": (-1.0, 1.0)}, lambda y: (y + 1) / 2),
        ({"range": (0.0, 255.0)}, lambda y: y / 255),
        ({"range": (1.0, 0.0)}, lambda y: 1 - y),
        ({"activation": "sigmoid"}, lambda y: 1 / (1 + numpy.exp(-y))),
        ({"range": "minmax"}, lambda y: (y - y.min()) / (y.max() - y.min())),
        ({"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.25, 0.5)}, lambda y: y * [0.2, 0.25, 0.5] + [0.5, 0.4, 0.3]),
    ],
)
def test_numbers_become_bytes(keys: dict[str, Any], back: Any) -> None:
    given = (RANDOM.standard_normal((1, 3, 20, 30)) * 2).astype(numpy.float32)
    given = given * 100 if keys.get("range") == (0.0, 255.0) else given
    found = run(Picture(size="model", **keys), given)
    expected = bytes_of(back(given[0].transpose(1, 2, 0).astype(numpy.float64)))
    assert numpy.array_equal(found[..., 3], numpy.full((20, 30), 255))
    assert is_near(found[..., :3], expected)  # a half, in float and in double
    assert (found[..., :3] != expected).mean() < 0.01
    assert run(Picture(size="model", range="minmax"), numpy.full((1, 3, 2, 2), 7, numpy.float32))[..., :3].max() == 0


@pytest.mark.parametrize(
    ("shape", "axes", "keys"),
    [
        ((1, 3, 6, 8), (2, 0, 1), {}),
        ((3, 6, 8), (2, 0, 1), {}),
        ((1, 6, 8, 3), (0, 1, 2), {}),
        ((6, 8, 3), (0, 1, 2), {"layout": "nhwc"}),
        ((1, 3, 6, 3), (2, 0, 1), {"layout": "nchw"}),
        ((3, 3, 3), (2, 0, 1), {"layout": "nchw"}),
    ],
)
def test_layouts_and_orders_of_colours(shape: tuple[int, ...], axes: tuple[int, ...], keys: dict[str, Any]) -> None:
    width = 3 if 8 not in shape else 8
    plain = numbers(3 if shape == (3, 3, 3) else 6, width, 3)
    given = numpy.ascontiguousarray(plain.transpose(axes)).reshape(shape)
    assert is_near(run(Picture(size="model", **keys), given)[..., :3], bytes_of(plain))
    assert is_near(run(Picture(size="model", colour="bgr", **keys), given)[..., 2::-1], bytes_of(plain))


@pytest.mark.parametrize("shape", [(1, 1, 6, 8), (1, 6, 8), (6, 8), (1, 6, 8, 1)])
def test_one_channel_is_grey(shape: tuple[int, ...]) -> None:
    plain = numbers(6, 8)
    found = run(Picture(size="model"), plain.reshape(shape))
    assert numpy.array_equal(found[..., :3], numpy.repeat(bytes_of(plain)[..., None], 3, axis=2))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("factor", [1, 2, 4])
@pytest.mark.parametrize("scale", [1, 3])
def test_borders_of_a_letterbox_are_cut_off(channels: int, factor: int, scale: int) -> None:
    factor = factor if scale == 1 else scale
    given = numbers(1, channels, factor * CORE[0], factor * CORE[1])
    found = run(Picture(scale=scale), given, fit=LETTERBOX)
    seen = bytes_of(given[0, :, 14 * factor : 50 * factor]).transpose(1, 2, 0)
    expected = resized(seen if channels == 3 else seen[..., 0], SIZE[0] * scale, SIZE[1] * scale)
    assert is_near(found[..., :3], expected if channels == 3 else numpy.repeat(expected[..., None], 3, axis=2))
    assert found[..., 3].min() == 255
    borders = given.copy()
    borders[:, :, : 14 * factor] = borders[:, :, 50 * factor :] = 9
    assert numpy.array_equal(run(Picture(scale=scale, range="minmax"), borders, fit=LETTERBOX)[..., 3], found[..., 3])
    smallest, largest = given[:, :, 14 * factor : 50 * factor].min(), given[:, :, 14 * factor : 50 * factor].max()
    shares = (given[0, :, 14 * factor : 50 * factor] - smallest) / (largest - smallest)
    expected = resized(bytes_of(shares).transpose(1, 2, 0)[..., 0], SIZE[0] * scale, SIZE[1] * scale)
    assert is_near(run(Picture(scale=scale, range="minmax"), borders, fit=LETTERBOX)[..., 0], expected)


def test_what_a_crop_has_cut_off_is_transparent() -> None:
    given = numbers(1, 3, *CORE)
    found = run(Picture(filter="bicubic"), given, fit=CROP)
    centres = (numpy.arange(SIZE[1]) + 0.5) * 85 / SIZE[1] - 18
    is_seen = (centres >= 0) & (centres < CORE[1])
    assert 0 < is_seen.sum() < SIZE[1]
    assert numpy.array_equal(found[..., 3], numpy.broadcast_to(numpy.where(is_seen, 255, 0), SIZE))
    assert not found[:, ~is_seen].any()
    whole = numpy.pad(bytes_of(given[0]).transpose(1, 2, 0), ((0, 0), (18, 19), (0, 0)), mode="edge")
    expected = PIL.Image.fromarray(whole).resize(SIZE[::-1], PIL.Image.Resampling.BICUBIC)
    assert is_near(found[:, is_seen, :3], numpy.asarray(expected)[:, is_seen])


@pytest.mark.parametrize("size", [(20, 15), (70, 50)])
@pytest.mark.parametrize("is_open", [True, False])
def test_an_output_of_another_size_lies_where_the_picture_does(size: tuple[int, int], is_open: bool) -> None:
    """A ramp over the model's picture is the same ramp at the same places of the upright one."""
    ramp = (numpy.arange(size[0], dtype=numpy.float32) + 0.5) / size[0]
    given = numpy.broadcast_to(ramp[:, None], (1, 3, *size)).astype(numpy.float32)
    found = run(Picture(), given, fit=LETTERBOX, is_open=is_open)
    centres = ((numpy.arange(SIZE[0]) + 0.5) * 36 / SIZE[0] + 14) / CORE[0]
    assert numpy.abs(found[2:-2, 7, 0] / 255 - centres[2:-2]).max() < 1.1 / 255  # a pixel would be 4 / 255


def test_a_palette_is_mixed_linearly() -> None:
    given = numpy.linspace(0, 1, 256, dtype=numpy.float32).reshape(1, 1, 256)
    found = run(Picture(size="model", palette=("#000000", "#FF8000", "#ffffff")), given)[0]
    shares = numpy.arange(256) / 127.5
    expected = numpy.stack(
        [numpy.interp(shares, [0, 1, 2], each) for each in ((0, 255, 255), (0, 128, 255), (0, 0, 255))]
    )
    assert is_near(found[:, :3], numpy.floor(expected.T + 0.5))
    assert found[0].tolist() == [0, 0, 0, 255]
    assert found[255].tolist() == [255, 255, 255, 255]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_matte_is_the_alpha_of_the_upright_picture(orientation: int) -> None:
    stored = RANDOM.integers(0, 256, (13, 17, 4), numpy.uint8)
    image = PIL.Image.fromarray(stored[..., 2::-1])
    image.getexif()[0x0112] = orientation
    upright = numpy.asarray(PIL.ImageOps.exif_transpose(image))
    writer = Writer(scope="x")
    x, y = spec_of("x", ElementType.FLOAT, 1, 3, 8, 8), spec_of("y", ElementType.FLOAT, 1, 1, 8, 8)
    taken = PictureInput().attach(writer, x, {"x": x})
    assert taken.placement
    core = Core(outputs={"y": y}, placements={"x": taken.placement})
    kind = Picture(colour="alpha")
    writer_of_output = Writer(scope="y", written=writer.written)
    kind.attach(writer_of_output, y, core)
    matte = numbers(1, 1, 8, 8)
    feeds = {
        "y": matte,
        "x.pixels": stored,
        "x.channels": numpy.array([2, 1, 0]),
        "x.orientation": numpy.array(orientation),
        "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
        "x.conversion": numpy.zeros(3, numpy.int64),
    }
    found = Ran(graph_of(writer, inputs=[("y", ElementType.FLOAT, (1, 1, 8, 8))]))(feeds)["y.pixels"]
    assert numpy.array_equal(found[..., :3], upright)
    assert is_near(found[..., 3], resized(bytes_of(matte[0, 0]), *upright.shape[:2]))


@pytest.mark.parametrize(
    ("keys", "shape", "words"),
    [
        ({}, (1, 4, 6, 8), "float [1, 4, 6, 8]: it is not clear which size is the 1 or 3 channels"),
        ({}, (1, 3, 6, 3), "it is not clear which size is the 1 or 3 channels"),
        ({}, (2, 3, 6, 8), "not [1, channels, height, width]"),
        ({}, (7,), "not [1, channels, height, width]"),
        ({"colour": "rgb"}, (1, 1, 64, 48), "colour 'rgb' needs 3 channels, not 1"),
        ({"colour": "alpha"}, (1, 3, 64, 48), "colour 'alpha' needs 1 channel, not 3"),
        ({"palette": ("#000000", "#ffffff")}, (1, 3, 64, 48), "a palette needs 1 channel, not 3"),
        ({"mean": (0.5, 0.5)}, (1, 3, 64, 48), "mean [0.5, 0.5] does not fit 3 channels"),
        ({"scale": 4}, (1, 3, 128, 96), "not 4 times the 64 x 48 pixels that it sees"),
        ({"scale": 2}, (1, 3, 128, 48), "not 2 times the 64 x 48 pixels that it sees"),
    ],
)
def test_outputs_that_are_no_pictures_are_refused(keys: dict[str, Any], shape: Shape, words: str) -> None:
    writer = Writer(scope="y")
    spec = spec_of("y", ElementType.FLOAT, *shape)
    core = Core(outputs={"y": spec}, placements={"x": placement(writer, *SIZE, CORE, *STRETCHED)})
    with pytest.raises(ConfigError, match=re.escape(words)):
        Picture(**keys).attach(writer, spec, core)
    with pytest.raises(ConfigError, match="takes no picture to match the size to"):
        Picture(**keys).attach(writer, spec, Core(outputs={"y": spec}, placements={}))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"range": (0.0,)}, "range [0.0] is not two different numbers"),
        ({"range": (1.0, 1.0)}, "range [1.0, 1.0] is not two different numbers"),
        ({"range": (0.0, float("inf"))}, "is not two different numbers"),
        ({"scale": 0}, "scale 0 is less than 1"),
        ({"scale": 2, "size": "model"}, "'scale' and 'filter' have no effect"),
        ({"colour": "alpha", "scale": 2}, 'have no effect with colour = "alpha"'),
        ({"colour": "bgr", "palette": ("#000000", "#ffffff")}, "'palette' has no effect with colour 'bgr'"),
        ({"palette": ("#000000",)}, "is not two or more colours"),
        ({"palette": ("black", "white")}, "is not two or more colours"),
    ],
)
def test_keys_that_do_not_fit_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=re.escape(words)):
        Picture(**keys)
