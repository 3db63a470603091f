"""Files become what an app passes to a model with a contract: pixels as they lie, the order of colours, a number for
the orientation; samples and their rate."""

import wave
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from packager.contract import attachment
from packager.core.errors import ConfigError
from packager.core.sample_settings import Settings
from packager.core.values import Model
from packager.samples import describe, given
from packager.samples.raw import ORIENTATION, premultiplied, raw_input
from packager.samples.reading import open_described
from tests.cases.onnx_text import loaded, onnx_model
from tests.unit.test_attachment import tables

PICTURE_NET = "(float[1, 3, 4, 4] x, float[1, 4] state) => (float[1, 3, 4, 4] y, float[1, 4] next) {"
PICTURE_NET += " y = Relu (x) next = Relu (state) }"
PIXELS = (numpy.arange(5 * 7 * 3) * 2).astype("u1").reshape(5, 7, 3)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    net = onnx_model(PICTURE_NET, opsets={"": 18})
    wanted = tables({"x": {"kind": "image"}, "state": {"kind": "state", "output": "next"}}, {})
    return attachment.attach(loaded(tmp_path, net), wanted).model


@pytest.fixture
def listener(tmp_path: Path) -> Model:
    net = onnx_model("(float[1, 8] x) => (float[1, 8] y) { y = Relu (x) }", opsets={"": 18})
    return attachment.attach(loaded(tmp_path, net), tables({"x": {"kind": "audio", "rate": 8000}}, {})).model


def samples(model: Model, folder: Path) -> list[dict[str, Any]]:
    return list(open_described(describe(str(folder), model, Settings())))


def saved(folder: Path, image: Image.Image, name: str = "a.png", **options: Any) -> Path:
    (folder / "files").mkdir(exist_ok=True)
    image.save(folder / "files" / name, **options)
    return folder / "files"


def test_a_picture_is_its_pixels_in_its_own_size_and_a_state_begins_with_zeros(model: Model, tmp_path: Path) -> None:
    (found,) = samples(model, saved(tmp_path, Image.fromarray(PIXELS)))
    assert numpy.array_equal(found["x.pixels"], PIXELS)
    assert (found["x.channels"].tolist(), found["x.orientation"].tolist()) == ([0, 1, 2], 1)
    assert (found["x.chroma"].tolist(), found["x.conversion"].tolist()) == ([[[0]]], [0, 0, 0])
    assert (found["state"].tolist(), found["state"].dtype) == ([[0, 0, 0, 0]], numpy.float32)


@pytest.mark.parametrize(("mode", "channels", "places"), [("L", 1, [0, 0, 0]), ("1", 1, [0, 0, 0])])
def test_grey_pictures_have_1_channel(
    model: Model, tmp_path: Path, mode: str, channels: int, places: list[int]
) -> None:
    (found,) = samples(model, saved(tmp_path, Image.new(mode, (7, 5), 1)))
    assert (found["x.pixels"].shape, found["x.channels"].tolist()) == ((5, 7, channels), places)


@pytest.mark.parametrize("mode", ["P", "CMYK", "YCbCr"])
def test_other_pictures_have_three(model: Model, tmp_path: Path, mode: str) -> None:
    options = ("a.png", {}) if mode == "P" else ("a.jpg", {"quality": 100})
    (found,) = samples(model, saved(tmp_path, Image.fromarray(PIXELS).convert(mode), options[0], **options[1]))
    assert found["x.pixels"].shape == (5, 7, 3)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_what_may_be_transparent_lies_over_black(model: Model, tmp_path: Path, mode: str) -> None:
    image = Image.new("RGBA", (2, 1), (200, 200, 200, 0))
    image.putpixel((1, 0), (100, 100, 100, 128))
    (found,) = samples(model, saved(tmp_path, image.convert(mode)))
    assert found["x.pixels"].tolist() == [[[0, 0, 0, 0], [50, 50, 50, 128]]]


def test_alpha_is_rounded_as_on_android() -> None:
    """To the nearest of c * a / 255, for all 65,536 pairs."""
    colours, alpha = numpy.meshgrid(numpy.arange(256), numpy.arange(256))
    pixels = numpy.stack([colours, colours, colours, alpha], axis=2).astype(numpy.uint8)
    expected = numpy.floor(colours * alpha / 255 + 0.5)
    assert numpy.array_equal(premultiplied(pixels)[:, :, 0], expected)
    assert numpy.array_equal(premultiplied(pixels, is_rounded=False)[:, :, 0], colours * alpha // 255)
    assert numpy.array_equal(premultiplied(pixels)[:, :, 3], alpha)


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (6, 6), (8, 8), (0, 1), (9, 1)])
def test_the_orientation_is_told_and_not_applied(model: Model, tmp_path: Path, number: int, expected: int) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = number
    (found,) = samples(model, saved(tmp_path, Image.fromarray(PIXELS), "a.jpg", exif=exif))
    assert found["x.pixels"].shape == (5, 7, 3)
    assert found["x.orientation"].tolist() == expected


def recording(folder: Path, channels: int = 2, frames: int = 3) -> Path:
    (folder / "files").mkdir(exist_ok=True)
    with wave.open(str(folder / "files" / "a.wav"), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(numpy.arange(channels * frames, dtype="<i2").tobytes())
    return folder / "files"


def test_recordings_are_their_frames_and_16_bits_stay(listener: Model, tmp_path: Path) -> None:
    (found,) = samples(listener, recording(tmp_path))
    assert (found["x.samples"] * 32768).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (found["x.rate"].tolist(), found["x.samples"].dtype) == (44100, numpy.float32)
    (found,) = samples(listener, recording(tmp_path, frames=0))
    assert found["x.samples"].shape == (0, 2)
    net = onnx_model("(float[1, 8] x) => (float[1, 8] y) { y = Relu (x) }", opsets={"": 18})
    wanted = tables({"x": {"kind": "audio", "rate": 8000, "format": "pcm16"}}, {})
    model = attachment.attach(loaded(tmp_path, net), wanted).model
    (found,) = samples(model, recording(tmp_path))
    assert (found["x.samples"].tolist(), found["x.samples"].dtype) == ([[0, 1], [2, 3], [4, 5]], numpy.int16)


def test_parity_takes_pictures_too(model: Model, tmp_path: Path) -> None:
    folder = saved(tmp_path, Image.fromarray(PIXELS))
    saved(tmp_path, Image.fromarray(PIXELS[:3]), "b.png")
    (tmp_path / "made").mkdir()
    found = given(model, folder, tmp_path / "made")
    shapes = [numpy.load(path)["x.pixels"].shape for path in found.paths]
    assert (shapes, found.description) == ([(5, 7, 3), (3, 7, 3)], "2 given")


def test_files_of_another_kind_are_refused(model: Model, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds sounds, but the model takes images"):
        samples(model, recording(tmp_path))


def test_a_broken_picture_is_named(model: Model, tmp_path: Path) -> None:
    folder = saved(tmp_path, Image.fromarray(PIXELS))
    (folder / "a.png").write_bytes((folder / "a.png").read_bytes()[:45])
    with pytest.raises(ConfigError, match=r"a\.png: not a readable image"):
        samples(model, folder)


def test_pictures_are_for_models_that_take_nothing_else(tmp_path: Path) -> None:
    net = onnx_model(PICTURE_NET, opsets={"": 18})
    model = attachment.attach(loaded(tmp_path, net), tables({"x": {"kind": "image"}}, {})).model
    assert raw_input(model) is None
