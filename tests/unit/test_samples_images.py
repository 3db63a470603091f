"""Pictures become model inputs: channels, size, order and numbers; other files are refused by name."""

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples import ImageSettings, Settings, describe, inspect
from packager.samples.reading import open_described
from tests.cases.onnx_text import loaded, onnx_model

PIXELS = (numpy.arange(5 * 7 * 3) * 2).astype("u1").reshape(5, 7, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    Image.fromarray(PIXELS).save(tmp_path / "images" / "a.png")
    return tmp_path / "images"


def model_of(folder: Path, declared: str) -> Model:
    return loaded(folder, onnx_model(f"({declared} x) => ({declared} y) {{ y = Identity (x) }}"))


def pictures(folder: Path, declared: str, **keys: Any) -> list[Any]:
    settings = Settings(image=ImageSettings(**keys))
    description = describe(str(folder), model_of(folder.parent, declared), settings)
    return [sample["x"] for sample in open_described(description)]


def test_channels_lie_where_the_model_has_them_with_its_numbers(folder: Path) -> None:
    (found,) = pictures(folder, "float[1, 3, 5, 7]")
    assert (found.dtype, found.shape, found.flags.c_contiguous) == (numpy.float32, (1, 3, 5, 7), True)
    assert numpy.array_equal(found, (PIXELS.astype("f4") * numpy.float32(1 / 255)).transpose(2, 0, 1)[None])
    (found,) = pictures(folder, "uint8[batch, 5, 7, 3]")
    assert (found.dtype, found.tolist()) == (numpy.uint8, PIXELS[None].tolist())
    mean, std = (0.1, 0.2, 0.3), (0.5, 2.0, 4.0)
    (found,) = pictures(folder, "float[1, 3, 5, 7]", scale=1 / 128, mean=mean, std=std)
    wanted = (PIXELS / 128 - numpy.array(mean)) / numpy.array(std)
    numpy.testing.assert_allclose(found, wanted.transpose(2, 0, 1)[None], rtol=1e-5, atol=1e-6)
    (found,) = pictures(folder, "uint8[1, 5, 7, 3]", colour="bgr")
    assert found.tolist() == PIXELS[None, :, :, ::-1].tolist()
    assert pictures(folder, "float16[1, 3, 5, 7]")[0].dtype == numpy.float16


@pytest.mark.parametrize(("declared", "mode"), [("uint8[1, 1, 5, 7]", "L"), ("uint8[1, 4, 5, 7]", "RGBA")])
def test_one_channel_is_grey_and_four_have_transparency(folder: Path, declared: str, mode: str) -> None:
    (found,) = pictures(folder, declared)
    wanted = numpy.asarray(Image.fromarray(PIXELS).convert(mode)).reshape(5, 7, -1).transpose(2, 0, 1)
    assert found.tolist() == wanted[None].tolist()


def test_pictures_are_stretched_to_the_size_of_the_input(folder: Path) -> None:
    (found,) = pictures(folder, "uint8[1, 2, 2, 3]")
    wanted = Image.fromarray(PIXELS).resize((2, 2), Image.Resampling.BILINEAR)
    assert found.tolist() == numpy.asarray(wanted)[None].tolist()


def test_or_cropped_in_the_middle_with_their_proportions(folder: Path) -> None:
    (found,) = pictures(folder, "uint8[1, 5, 5, 3]", resize="crop")
    assert found.tolist() == PIXELS[None, :, 1:6].tolist()


def test_open_sizes_are_those_asked_for_or_those_of_each_picture(folder: Path) -> None:
    Image.fromarray(PIXELS[:2]).save(folder / "b.bmp")
    declared = "float[batch, 3, height, width]"
    assert [found.shape for found in pictures(folder, declared)] == [(1, 3, 5, 7), (1, 3, 2, 7)]
    assert [found.shape for found in pictures(folder, declared, size=(3, 5))] == [(1, 3, 3, 5)] * 2


def test_photos_are_turned_as_the_camera_was_held(folder: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PIXELS).save(folder / "a.png", exif=exif)
    (found,) = pictures(folder, "uint8[1, 7, 5, 3]")
    assert found.tolist() == numpy.rot90(PIXELS, -1)[None].tolist()


@pytest.mark.parametrize("ending", ["png", "jpg", "jpeg", "webp", "bmp", "JPG"])
def test_every_usual_format_is_read(folder: Path, ending: str) -> None:
    (folder / "a.png").unlink()
    Image.new("RGB", (7, 5), (200, 100, 50)).save(folder / f"a.{ending}")
    (found,) = pictures(folder, "uint8[1, 5, 7, 3]")
    assert abs(found.astype(int) - [200, 100, 50]).max() < 4


@pytest.mark.parametrize(
    ("declared", "keys", "text"),
    [
        ("float[1, 64]", {}, "takes no picture"),
        ("int64[1, 3, 5, 7]", {}, "takes no picture"),
        ("float[8, 3, 5, 7]", {}, "takes no picture"),
        ("float[1, 3, 5, 3]", {}, "both of dimensions 1 and 3 can be channels"),
        ("float[1, a, b, c]", {}, "neither of dimensions 1 and 3 can be channels"),
        ("float[1, 1, 5, 7]", {"colour": "bgr"}, "has 1 channels: not bgr"),
        ("float[1, 7, 5, 7]", {"layout": "nchw"}, "has 7 channels: not auto"),
        ("float[1, 3, 5, 7]", {"size": (7, 5)}, "images cannot have size 7x5"),
        ("float[1, 3, 5, w]", {}, "images cannot have size 5xw"),
        ("float[1, 3, 5, 7]", {"mean": (0.0, 1.0)}, "mean .* does not fit 3 channels"),
        ("float[1, 3, 5, 7]", {"std": (0.0,)}, "std .* does not fit 3 channels"),
    ],
)
def test_models_that_take_no_picture_are_refused(folder: Path, declared: str, keys: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text) as error:
        pictures(folder, declared, **keys)
    assert error.value.hint


def png_header(width: int, height: int) -> bytes:
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    header = struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + header + struct.pack(">I", 99) + b"IDAT"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not a readable image (the file is empty)"),
        (b"<html>", "not a readable image (unknown content)"),
        (b"\x89PNG\r\n\x1a\nand then nothing", "not a readable image"),
        (png_header(12_000, 12_000), "decompression bomb"),
        (png_header(60_000, 60_000), "decompression bomb"),
        (png_header(7, 5), "not a readable image"),
    ],
    ids=["empty", "page", "torn", "large", "larger", "header alone"],
)
def test_a_broken_picture_is_named_and_the_others_are_still_looked_at(folder: Path, content: bytes, text: str) -> None:
    (folder / "bad.png").write_bytes(content)
    Image.fromarray(PIXELS[::-1]).save(folder / "c.png")
    found = inspect(str(folder), model_of(folder.parent, "float[1, 3, 5, 7]"), Settings())
    (error,) = found.errors
    assert "bad.png" in error.text
    assert text in error.text
    assert (error.hint, found.count) == ("replace or remove it", 3)


def test_animations_and_deep_pixels_are_refused_rather_than_cut(folder: Path) -> None:
    frames = [Image.fromarray(PIXELS), Image.fromarray(PIXELS[::-1])]
    frames[0].save(folder / "b.webp", save_all=True, append_images=frames[1:])
    Image.fromarray(PIXELS[:, :, 0].astype("u2") * 256).save(folder / "c.png")
    found = inspect(str(folder), model_of(folder.parent, "float[1, 3, 5, 7]"), Settings())
    assert [error.text.rpartition("/")[2] for error in found.errors] == [
        "b.webp: the image is animated, with 2 pictures",
        "c.png: the pixels have more than 8 bits (I;16)",
    ]


def test_settings_reach_the_reader_and_one_input_takes_pictures(folder: Path) -> None:
    graph = "(float[1, 3, 5, 7] x, float[1] z) => (float[1, 3, 5, 7] y) { y = Add (x, z) }"
    model = loaded(folder.parent, onnx_model(graph))
    with pytest.raises(ConfigError, match="images are for models with one input; this one takes x, z"):
        list(open_described(describe(str(folder), model, Settings())))
    settings = Settings(image=ImageSettings(size=(2, 3), mean=(0.5,), colour="bgr"), limit=1)
    model = model_of(folder.parent, "float[1, 3, h, w]")
    (one,) = open_described(describe(str(folder), model, settings))
    other = list(open_described(describe(str(folder), model, replace(settings, image=ImageSettings(size=(2, 3))))))
    assert one["x"].shape == (1, 3, 2, 3)
    numpy.testing.assert_allclose(one["x"], other[0]["x"][:, ::-1] - 0.5, atol=1e-6)
