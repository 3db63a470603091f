"""Pictures compared with the libraries that models are trained with: Pillow, and torchvision and OpenCV for parts."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from packager.core.signature import ElementType
from tests.cases.contract_pictures import RGB, Attached, Pixels, attached, noise

FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
ORDERS = {"RGB": (RGB, (0, 1, 2)), "BGR": ((2, 1, 0), (2, 1, 0)), "BGRA": ((2, 1, 0), (2, 1, 0, 3))}
"""Where red, green and blue lie in a pixel, and how it is made of one that begins with red, green and blue."""
EXIF_ORIENTATION = 0x112
SIDE = 61
EXAMPLES = 12

# Weights in float instead of double now and then move a value over the half. SIDE is a prime number: where a picture is
# made 6 times as large, for one, every twelfth sum is a half.
DEFINED_SHARE = 0.05
TIED_SHARE = 0.2
ORDERED_SHARE = 0.35
"""Share of values that may be off by 1: from the definition, at any proportions; and with columns resized first."""

sides = st.one_of(st.integers(1, 8), st.integers(1, 300))


def differences(found: object, expected: object) -> numpy.typing.NDArray[numpy.int64]:
    return numpy.abs(numpy.asarray(found, numpy.int64) - numpy.asarray(expected, numpy.int64))


def assert_near(off: numpy.typing.NDArray[numpy.int64], share: float) -> None:
    """At most `share` of the values are off by 1, hardly any by 2."""
    assert off.max() <= 2
    assert (off > 1).mean() <= 0.001
    assert (off > 0).mean() <= share


def rows_first(picture: Image.Image, width: int, height: int, filter_: Image.Resampling) -> Image.Image:
    """Pillow's resizing in the order of the definition; Pillow itself begins with columns where that is cheaper."""
    return picture.resize((width, picture.height), filter_).resize((width, height), filter_)


def turned(picture: Image.Image, orientation: int) -> Image.Image:
    """The upright picture of a stored one, as Pillow makes it."""
    picture.getexif()[EXIF_ORIENTATION] = orientation
    return ImageOps.exif_transpose(picture)


def stretched(filter_: str) -> Attached:
    return attached(SIDE, SIDE, 3, filter=filter_)


@pytest.mark.parametrize("filter_", FILTERS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_resizing_is_what_the_definition_says(filter_: str, height: int, width: int, orientation: int) -> None:
    pixels = noise(height, width)
    small = rows_first(Image.fromarray(pixels), SIDE, SIDE, FILTERS[filter_])
    off = differences(stretched(filter_).core(pixels, RGB, orientation), turned(small, orientation))
    assert_near(off, DEFINED_SHARE)


def test_large_pictures_are_no_different() -> None:
    for size in [(1, 4096), (4096, 1), (4096, 64), (1200, 1600)]:
        for filter_ in FILTERS:
            pixels = noise(*size)
            small = rows_first(Image.fromarray(pixels), SIDE, SIDE, FILTERS[filter_])
            off = differences(stretched(filter_).core(pixels), small)
            assert_near(off, DEFINED_SHARE)


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_bilinear_is_pillows_within_2_of_255(height: int, width: int, orientation: int) -> None:
    pixels = noise(height, width)
    upright = turned(Image.fromarray(pixels), orientation)
    off = differences(
        stretched("bilinear").core(pixels, RGB, orientation), upright.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    )
    assert_near(off, ORDERED_SHARE)


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=st.integers(SIDE, 300), width=st.integers(SIDE, 300), orientation=st.integers(1, 8))
def test_bicubic_is_pillows_within_8_of_255_for_smaller_pictures(height: int, width: int, orientation: int) -> None:
    """Ordinary pictures, not noise: bicubic goes below 0 and above 255 at hard edges, and each pass cuts that off."""
    pixels = smooth(height, width)
    upright = turned(Image.fromarray(pixels), orientation)
    off = differences(
        stretched("bicubic").core(pixels, RGB, orientation), upright.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    )
    assert off.max() <= 8
    assert (off > 2).mean() <= 0.01
    assert (off > 0).mean() <= ORDERED_SHARE


def smooth(height: int, width: int) -> Pixels:
    few = Image.fromarray(noise(max(2, height // 12), max(2, width // 12)))
    return numpy.array(few.resize((width, height), Image.Resampling.BICUBIC))


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_channels_changes_nothing(order: str) -> None:
    channels, made_of = ORDERS[order]
    pixels = numpy.concatenate([noise(70, 90), noise(70, 90, 1)], axis=2)
    found = stretched("bilinear").core(numpy.ascontiguousarray(pixels[:, :, made_of]), channels)
    assert (found == stretched("bilinear").core(pixels)).all()


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides)
def test_grey_is_pillows_within_2_of_255(height: int, width: int) -> None:
    """Pillow's way is grey first, then small."""
    pixels = noise(height, width)
    small = rows_first(Image.fromarray(pixels).convert("L"), SIDE, SIDE, Image.Resampling.BILINEAR)
    off = differences(attached(SIDE, SIDE, 1).core(pixels)[:, :, 0], small)
    assert off.max() <= 2


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_nearest_is_pillows(height: int, width: int, orientation: int) -> None:
    """Except centres on the border between two pixels: Pillow sums steps and may land on either side."""
    pixels = noise(height, width)
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.NEAREST)
    clear = numpy.outer(are_clear(height), are_clear(width))
    off = differences(stretched("nearest").core(pixels, RGB, orientation), turned(small, orientation))
    assert (off[numpy.asarray(turned(Image.fromarray(clear), orientation))] == 0).all()
    assert clear.mean() > 0.9 or 0 in (height % SIDE, width % SIDE)


def are_clear(size: int) -> numpy.typing.NDArray[numpy.bool_]:
    """[SIDE]: whether the centre lies within one of `size` pixels."""
    return numpy.not_equal((2 * numpy.arange(SIDE) + 1) * size % (2 * SIDE), 0)


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_crop_is_torchvisions_resize_and_center_crop(height: int, width: int, orientation: int) -> None:
    """`torchvision.transforms`: Resize(48) makes the shorter side 48 and cuts off what the longer one has behind the
    point; CenterCrop begins at int(round(half of what is too much))."""
    pixels = noise(height, width)
    upright = turned(Image.fromarray(pixels), orientation)
    short = min(upright.size)
    made = [int(48 * side / short) for side in upright.size]
    stored = made if orientation < 5 else made[::-1]
    small = turned(rows_first(Image.fromarray(pixels), stored[0], stored[1], Image.Resampling.BILINEAR), orientation)
    left, top = (round((side - 40) / 2.0) for side in made)
    model = attached(40, 40, 3, resize="crop", resize_to=48)
    off = differences(model.core(pixels, RGB, orientation), small.crop((left, top, left + 40, top + 40)))
    assert_near(off, TIED_SHARE)


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_letterbox_is_the_picture_within_the_filling(height: int, width: int, orientation: int) -> None:
    pixels = noise(height, width)
    upright = turned(Image.fromarray(pixels), orientation)
    made = contained(*upright.size, 48, 40)
    stored = made if orientation < 5 else made[::-1]
    small = turned(rows_first(Image.fromarray(pixels), stored[0], stored[1], Image.Resampling.BILINEAR), orientation)
    expected = Image.new("RGB", (48, 40), (10, 20, 30))
    expected.paste(small, ((48 - made[0]) // 2, (40 - made[1]) // 2))
    model = attached(40, 48, 3, resize="letterbox", fill=(10, 20, 30))
    off = differences(model.core(pixels, RGB, orientation), expected)
    assert_near(off, TIED_SHARE)


def contained(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """The largest size of these proportions that fits."""
    if width * most_height >= height * most_width:
        return most_width, max(1, round(height * most_width / width))
    return max(1, round(width * most_height / height)), most_height


@settings(max_examples=EXAMPLES, deadline=None)
@given(height=sides, width=sides, orientation=st.integers(1, 8))
def test_without_antialias_each_pixel_is_made_of_four(height: int, width: int, orientation: int) -> None:
    """OpenCV's INTER_LINEAR, which rounds its weights to 11 bits: its own values may differ by 1 from these."""
    pixels = noise(height, width)
    across, down = weights(width), weights(height)
    exact = numpy.tensordot(numpy.tensordot(down, pixels, 1), across, (1, 1)).swapaxes(1, 2)
    if orientation != 1:
        exact = turned_numbers(exact, orientation)
    found = attached(SIDE, SIDE, 3, antialias=False).core(pixels, RGB, orientation)
    assert numpy.abs(numpy.asarray(found, numpy.float64) - exact).max() <= 0.5 + 1e-4


def weights(size: int) -> numpy.typing.NDArray[numpy.float64]:
    """[SIDE, size]: the weight of each of `size` pixels for each of SIDE."""
    made = numpy.zeros((SIDE, size))
    for place in range(SIDE):
        centre = min(max((place + 0.5) * size / SIDE - 0.5, 0), size - 1)
        before = int(centre)
        made[place, before] += 1 - (centre - before)
        made[place, min(before + 1, size - 1)] += centre - before
    return made


def turned_numbers(
    numbers: numpy.typing.NDArray[numpy.float64], orientation: int
) -> numpy.typing.NDArray[numpy.float64]:
    planes = [Image.fromarray(numbers[:, :, each].astype(numpy.float32)) for each in range(3)]
    return numpy.stack([numpy.asarray(turned(plane, orientation)) for plane in planes], axis=2).astype(numpy.float64)


def test_what_a_classifier_was_trained_on_is_what_it_gets() -> None:
    """The whole way: a photo, shorter side to 64, the middle 56 x 56, ImageNet's mean and deviation, channels first."""
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    pixels = smooth(180, 240)
    small = Image.fromarray(pixels).resize((85, 64), Image.Resampling.BILINEAR).crop((14, 4, 70, 60))
    expected = (numpy.asarray(small, numpy.float64) / 255 - mean) / std
    model = attached(1, 3, 56, 56, element=ElementType.FLOAT, resize="crop", resize_to=64, mean=mean, std=std)
    found = numpy.asarray(model.core(pixels), numpy.float64)[0].transpose(1, 2, 0)
    assert numpy.abs(found - expected).max() <= 1 / 255 / min(std) + 1e-5
    assert (numpy.abs(found - expected) > 1e-5).mean() <= DEFINED_SHARE
