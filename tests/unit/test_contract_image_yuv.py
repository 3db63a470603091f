"""Pictures of cameras: brightness and chroma become red, green and blue in the graph."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy
import pytest
from PIL import Image

from packager.contract.image.conversion import PRECISION, STANDARDS
from packager.core.contract import CONVERSIONS
from tests.cases.contract_pictures import Pixels, attached, noise

GREY = (0, 0, 0)
NV12, NV21 = (0, 1), (1, 0)


def number_of(name: str) -> int:
    return CONVERSIONS.index(name)


def converted(luma: Pixels, chroma: Pixels, name: str, places: tuple[int, int] = NV12, **keys: Any) -> Pixels:
    """The core's input [height, width, 3] for a picture of its size, unless `keys` say another."""
    height, width = luma.shape[:2]
    model = attached(1, keys.pop("height", height), keys.pop("width", width), 3, **keys)
    made: Pixels = model.core(luma, GREY, chroma=chroma, conversion=(*places, number_of(name)))[0]
    return made


def equations(luma: Pixels, chroma: Pixels, name: str) -> numpy.typing.NDArray[numpy.float64]:
    """ITU-R's equations in float64: [height, width, 3], unclipped. `chroma` has the size of `luma`."""
    red, blue = (0.299, 0.114) if name.startswith("bt601") else (0.2126, 0.0722)
    y, u, v = (each.astype(numpy.float64) for each in (luma[..., 0], chroma[..., 0], chroma[..., 1]))
    is_full = name.endswith("full")
    y = y / 255 if is_full else (y - 16) / 219
    u, v = ((each - 128) / (255 if is_full else 224) for each in (u, v))
    r, b = y + 2 * (1 - red) * v, y + 2 * (1 - blue) * u
    return numpy.stack([r, (y - red * r - blue * b) / (1 - red - blue), b], axis=-1) * 255


@pytest.mark.parametrize("name", CONVERSIONS[1:])
def test_conversions_are_the_equations_of_the_standard(name: str) -> None:
    luma, chroma = noise(64, 96, 1), noise(64, 95, 3)[:, :, :2]
    chroma = numpy.ascontiguousarray(numpy.resize(chroma, (64, 96, 2)))
    wanted = numpy.clip(equations(luma, chroma, name), 0, 255)
    found = converted(luma, chroma, name)
    assert numpy.abs(found - wanted).max() <= 0.502  # rounded once; weights are rounded to 1/65536


def test_full_range_is_that_of_jpeg_with_weights_of_the_standard_and_exact_sums() -> None:
    luma, chroma = noise(50, 70, 1), numpy.resize(noise(50, 71, 2), (50, 70, 2))
    reference = Image.fromarray(numpy.concatenate([luma, chroma], axis=2), "YCbCr").convert("RGB")
    difference = converted(luma, chroma, "bt601-full").astype(int) - numpy.asarray(reference)
    assert numpy.abs(difference).max() <= 1
    for standard, y, u, v in product(STANDARDS.values(), (0, 255), (0, 255), (0, 255)):
        for row in standard.weights():
            assert all(isinstance(weight, int) for weight in row)
            assert abs(sum(weight * value for weight, value in zip(row, (y, u, v, 1), strict=True))) < 1 << 52
    # The four well-known weights of JPEG (ITU-T T.871, 7), of 65536.
    rows = STANDARDS["bt601-full"].weights()
    wanted = [Fraction(1402, 1000), Fraction(-344136, 1000000), Fraction(-714136, 1000000), Fraction(1772, 1000)]
    assert [rows[0][2], rows[1][1], rows[1][2], rows[2][1]] == [round(each * PRECISION) for each in wanted]


@pytest.mark.parametrize("name", CONVERSIONS[1:])
def test_black_white_and_grey_have_no_colour(name: str) -> None:
    black, white = (0, 255) if name.endswith("full") else (16, 235)
    luma = numpy.array([black, white, (black + white + 1) // 2, black], numpy.uint8).reshape(2, 2, 1)
    found = converted(luma, numpy.full((1, 1, 2), 128, numpy.uint8), name)
    assert found[0, :2].tolist() == [[0, 0, 0], [255, 255, 255]]
    assert len(set(found[1, 0].tolist())) == 1


@pytest.mark.parametrize(("places", "swap"), [(NV12, False), (NV21, True)])
def test_u_and_v_lie_where_the_app_says(places: tuple[int, int], swap: bool) -> None:
    luma, chroma = noise(12, 16, 1), noise(6, 8, 2)
    stored = numpy.ascontiguousarray(chroma[..., ::-1]) if swap else chroma
    assert (converted(luma, stored, "bt709-video", places) == converted(luma, chroma, "bt709-video")).all()


def test_ten_bits_are_read_by_their_upper_byte_and_no_chroma_of_others() -> None:
    # P010 has 10 bits in the upper bits of little-endian 16-bit numbers.
    luma, chroma = noise(12, 16, 1), noise(6, 8, 2)
    wide_luma = (luma[..., 0].astype("<u2") << 8 | 0xC0).view(numpy.uint8).reshape(12, 16, 2)
    wide_chroma = (chroma.astype("<u2") << 8 | 0x40).view(numpy.uint8).reshape(6, 8, 4)
    model = attached(1, 12, 16, 3)
    number = number_of("bt709-video")
    found = model.core(wide_luma, (1, 1, 1), chroma=wide_chroma, conversion=(1, 3, number))[0]
    assert (found == converted(luma, chroma, "bt709-video")).all()
    picture = noise(20, 30, 4)
    model = attached(1, 3, 10, 12)
    assert (model.core(picture, chroma=noise(7, 5, 3)) == model.core(picture)).all()


@pytest.mark.parametrize("keys", [{}, {"antialias": False}, {"filter": "nearest"}, {"filter": "bicubic"}])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_resizing_and_turning_are_those_of_the_three_planes(keys: dict[str, Any], orientation: int) -> None:
    """The same as each plane through a graph of its own, then the conversion."""
    luma, chroma = noise(48, 64, 1), noise(24, 32, 2)
    plain = attached(1, 20, 30, 3, **keys)
    y = plain.core(luma, GREY, orientation)[0]
    u, v = (plain.core(numpy.ascontiguousarray(chroma[..., at : at + 1]), GREY, orientation)[0] for at in (0, 1))
    together = numpy.concatenate([u[..., :1], v[..., :1]], axis=2)
    wanted = converted(numpy.ascontiguousarray(y[..., :1]), together, "bt601-video")
    found = plain.core(luma, GREY, orientation, chroma=chroma, conversion=(0, 1, number_of("bt601-video")))[0]
    assert (found == wanted).all()


@pytest.mark.parametrize("resize", ["crop", "letterbox"])
def test_borders_keep_their_colour(resize: str) -> None:
    keys: dict[str, Any] = {"fill": (9, 8, 7)} if resize == "letterbox" else {}
    model = attached(1, 32, 32, 3, resize=resize, **keys)
    luma, chroma = numpy.full((16, 32, 1), 90, numpy.uint8), numpy.full((8, 16, 2), 128, numpy.uint8)
    found = model.core(luma, GREY, chroma=chroma, conversion=(0, 1, number_of("bt601-full")))[0]
    border = [9, 8, 7] if resize == "letterbox" else [90, 90, 90]
    assert (found[0, 0].tolist(), found[16, 16].tolist()) == (border, [90, 90, 90])


@pytest.mark.parametrize("number", [-1, 5, 1 << 40])
def test_an_unknown_conversion_is_the_nearest_known(number: int) -> None:
    luma, chroma = noise(8, 8, 1), noise(4, 4, 2)
    model = attached(1, 8, 8, 3)
    known = 0 if number < 0 else 4
    found = model.core(luma, GREY, chroma=chroma, conversion=(0, 1, number))
    assert (found == model.core(luma, GREY, chroma=chroma, conversion=(0, 1, known))).all()
