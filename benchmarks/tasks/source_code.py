"""Detect the language of a piece of code: `bytes` int32[1, 2048] -> probabilities of 214 kinds of content."""

import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePath

import numpy

from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.scores import agreement
from benchmarks.tasks.task import Array, Inputs, Predict
from packager.files.processes import downloads

WHAT = (
    "language of source code: Magika (Apache-2.0) on 300 scraps of 600 bytes from files of pinned packages (each under "
    "its own licence), their extensions as labels; share of right answers"
)
INPUT, OUTPUT = "bytes", "target_label"
HALF, PADDING = 1024, 256
"""The model sees the first and the last 1,024 bytes; 256 means a missing one."""
PACKAGES = ("android-app-tools", "android-zig", "data-similarity")
LANGUAGES = {".c": "c", ".cpp": "cpp", ".js": "javascript", ".py": "python", ".zig": "zig"}
TEST_SCRAPS_EACH, CALIBRATION_SCRAPS_EACH = 60, 10
SCRAP_BYTES, SMALLEST_FILE = 600, 2000


def model() -> Path:
    return unpacked("model-magika", "magika/models/standard_v3_3/model.onnx")


def calibration() -> Iterator[Inputs]:
    """Pieces of other files."""
    for extension in LANGUAGES:
        for scrap in scraps(extension)[TEST_SCRAPS_EACH:]:
            yield {INPUT: features(scrap)}


def accuracy(predict: Predict) -> float:
    """Share of pieces whose language gets the highest probability."""
    kinds = target_labels()
    found, expected = [], []
    for extension, language in LANGUAGES.items():
        for scrap in scraps(extension)[:TEST_SCRAPS_EACH]:
            found.append(int(predict({INPUT: features(scrap)})[OUTPUT].argmax()))
            expected.append(kinds.index(language))
    return agreement(found, expected)


@cache
def scraps(extension: str) -> list[bytes]:
    """Pieces out of the middle of files with this extension, one of each; the files are drawn from all packages."""
    files = [
        (archive, entry)
        for archive in archives()
        for entry in sorted(archive.infolist(), key=lambda entry: entry.filename)
        if PurePath(entry.filename).suffix == extension and entry.file_size >= SMALLEST_FILE
    ]
    order = numpy.random.default_rng(1).permutation(len(files))
    chosen = [files[place] for place in order[: TEST_SCRAPS_EACH + CALIBRATION_SCRAPS_EACH]]
    return [middle(archive.read(entry)) for archive, entry in chosen]


@cache
def archives() -> list[zipfile.ZipFile]:
    return [zipfile.ZipFile(downloads.fetch(pin)) for pin in PACKAGES]


def middle(data: bytes) -> bytes:
    start = (len(data) - SCRAP_BYTES) // 2
    return data[start : start + SCRAP_BYTES]


def features(data: bytes) -> Array:
    """The bytes as the model takes them: without blanks at both ends, padded behind and in front."""
    stripped = numpy.frombuffer(data.strip(), numpy.uint8).astype(numpy.int32)
    padding = numpy.full(max(0, HALF - len(stripped)), PADDING, numpy.int32)
    return numpy.concatenate([stripped[:HALF], padding, padding, stripped[-HALF:]])[None]


@cache
def target_labels() -> list[str]:
    """Names of the model's outputs."""
    settings = json.loads(content("model-magika", "magika/models/standard_v3_3/config.min.json"))
    return list(settings["target_labels_space"])
