"""Recordings become model inputs: one channel from -1 to 1, of the right length; other files are refused by name."""

import random
import struct
import wave
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples import AudioSettings, Settings, describe, inspect, wav
from packager.samples.reading import open_described
from tests.cases.onnx_text import loaded, onnx_model

LEVELS = numpy.array([0.0, 0.5, -0.5, 0.25, -1.0, 0.75])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sounds").mkdir()
    return tmp_path / "sounds"


def recorded(path: Path, levels: Any, *, rate_hz: int = 16000, channel_count: int = 1) -> None:
    """A 16-bit recording as Python's own library writes it."""
    with wave.open(str(path), "wb") as file:
        file.setparams((channel_count, 2, rate_hz, 0, "NONE", ""))
        file.writeframes((numpy.asarray(levels) * 32768).astype("<i2").tobytes())


def riff(
    content: bytes, *, tag: int, bits: int, size: int | None = None, extra: bytes = b"", before: bytes = b""
) -> bytes:
    layout = struct.pack("<HHIIHH", tag, 1, 16000, 16000 * bits // 8, bits // 8, bits) + extra
    chunks = before + b"fmt " + struct.pack("<I", len(layout)) + layout
    data = b"data" + struct.pack("<I", len(content) if size is None else size) + content
    return b"RIFF" + struct.pack("<I", 4 + len(chunks) + len(data)) + b"WAVE" + chunks + data


def model_of(folder: Path, declared: str) -> Model:
    return loaded(folder, onnx_model(f"({declared} x) => ({declared} y) {{ y = Identity (x) }}"))


def sounds(folder: Path, declared: str = "float[1, T]", **keys: Any) -> list[Any]:
    settings = Settings(audio=AudioSettings(**keys))
    description = describe(str(folder), model_of(folder.parent, declared), settings)
    return [sample["x"] for sample in open_described(description)]


def packed_24_bits(levels: Any) -> bytes:
    return b"".join(int(level * 2**23).to_bytes(3, "little", signed=True) for level in levels)


@pytest.mark.parametrize(
    ("content", "tag", "bits"),
    [
        ((LEVELS * 128 + 128).astype("u1").tobytes(), 1, 8),
        ((LEVELS * 2**15).astype("<i2").tobytes(), 1, 16),
        (packed_24_bits(LEVELS), 1, 24),
        ((LEVELS * 2**31).astype("<i4").tobytes(), 1, 32),
        (LEVELS.astype("<f4").tobytes(), 3, 32),
        (LEVELS.astype("<f8").tobytes(), 3, 64),
    ],
)
def test_numbers_of_every_width_are_levels_from_minus_1_to_1(folder: Path, content: bytes, tag: int, bits: int) -> None:
    (folder / "a.wav").write_bytes(riff(content, tag=tag, bits=bits))
    (found,) = sounds(folder)
    assert (found.dtype, found.tolist()) == (numpy.float32, [LEVELS.tolist()])


def test_headers_of_other_programs_are_understood_and_channels_mixed(folder: Path) -> None:
    content = (LEVELS * 2**15).astype("<i2").tobytes()
    extensible = struct.pack("<HHIH", 22, 16, 4, 1) + bytes(14)
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    (folder / "a.wav").write_bytes(riff(content, tag=0xFFFE, bits=16, extra=extensible, before=odd))
    (folder / "b.wav").write_bytes(riff(content, tag=1, bits=16, size=0xFFFFFFFF))
    assert [found.tolist() for found in sounds(folder)] == [[LEVELS.tolist()]] * 2
    recorded(folder / "a.wav", numpy.stack([LEVELS, -LEVELS / 2], axis=1), channel_count=2)
    assert sounds(folder)[0].tolist() == [(LEVELS / 4).tolist()]


@pytest.mark.parametrize(
    ("declared", "shape"),
    [
        ("float[T]", (6,)),
        ("float[batch, samples]", (1, 6)),
        ("float[?, ?]", (1, 6)),
        ("float[1, 1, n]", (1, 1, 6)),
        ("float[1, 8, 1]", (1, 8, 1)),
        ("float16[batch, 4]", (1, 4)),
    ],
)
def test_sound_runs_along_the_one_long_dimension(folder: Path, declared: str, shape: tuple[int, ...]) -> None:
    recorded(folder / "a.wav", LEVELS)
    assert [found.shape for found in sounds(folder, declared)] == [shape]


def test_a_length_is_filled_up_and_windows_are_all_of_a_recording(folder: Path) -> None:
    recorded(folder / "a.wav", LEVELS)
    assert sounds(folder, "float[1, 4]")[0].tolist() == [LEVELS[:4].tolist()]
    assert sounds(folder, "float[1, 8]")[0].tolist() == [[*LEVELS, 0.0, 0.0]]
    recorded(folder / "a.wav", LEVELS)
    recorded(folder / "b.wav", LEVELS[:4])
    found = sounds(folder, "float[1, 4]", take="windows")
    assert [each[0].tolist() for each in found] == [LEVELS[:4].tolist(), [*LEVELS[4:], 0.0, 0.0], LEVELS[:4].tolist()]
    recorded(folder / "a.wav", LEVELS, rate_hz=8000)
    recorded(folder / "b.wav", LEVELS)
    with pytest.raises(ConfigError, match=r"a\.wav: 8000 Hz instead of 16000") as error:
        sounds(folder, sample_rate=16000)
    assert "-ar 16000" in error.value.hint
    with pytest.raises(ConfigError, match=r"b\.wav: 16000 Hz instead of 8000"):
        sounds(folder)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the header is incomplete"),
        (b"RIFF\0\0\0\0AVI ", "not a .wav file"),
        (b"RIFF\0\0\0\0WAVE", "the file has no samples"),
        (b"RIFF\0\0\0\0WAVEdata\0\0\0\0", "the header is incomplete"),
        (riff(b"", tag=1, bits=16), "the file has no samples"),
        (riff(bytes(8), tag=1, bits=16, size=80), "the file is truncated: the header declares 80 bytes, but it has 8"),
        (riff(bytes(8), tag=17, bits=4), r"the sample format 17 with 4 bits is not supported"),
        (riff(bytes(8), tag=1, bits=16).replace(b"\x80\x3e", b"\0\0"), "the header is inconsistent"),
    ],
)
def test_what_is_no_recording_is_named(folder: Path, content: bytes, text: str) -> None:
    (folder / "a.wav").write_bytes(content)
    with pytest.raises(ConfigError, match=text) as error:
        sounds(folder)
    assert "a.wav" in error.value.message
    assert error.value.hint


def test_a_damaged_recording_is_read_or_refused(folder: Path) -> None:
    chance = random.Random(3)
    results = set()
    for _ in range(600):
        tag, bits = chance.choice([1, 3, 6, 0xFFFE]), chance.choice([8, 16, 24, 32])
        content = bytearray(riff(bytes(400), tag=tag, bits=bits))
        for _ in range(chance.randint(0, 4)):
            content[chance.randrange(60)] = chance.choice([0, 255, chance.randrange(256)])
        (folder / "a.wav").write_bytes(content[: chance.choice([len(content), chance.randrange(len(content))])])
        results.add(is_read(folder / "a.wav"))
    assert results == {True, False}


def is_read(path: Path) -> bool:
    try:
        recording = wav.opened(path)
        recording.mono(0, recording.frame_count)
    except ConfigError:
        return False
    return True


def test_a_recording_too_long_for_one_sample_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "a.wav").open("wb") as file:
        file.write(riff(b"", tag=1, bits=16, size=0xFFFFFFFF))
        file.truncate(10**9)
    with pytest.raises(ConfigError, match=r"a\.wav: 31250 s at once need more than 1024 MiB"):
        sounds(folder)
    assert sounds(folder, "float[1, 4]")[0].tolist() == [[0.0] * 4]


@pytest.mark.parametrize("declared", ["int16[1, T]", "float[1, 80, T]", "float[1, 1]", "float[8, T]"])
def test_a_model_that_takes_no_sound_is_refused(folder: Path, declared: str) -> None:
    recorded(folder / "a.wav", LEVELS)
    with pytest.raises(ConfigError, match="takes no sound") as error:
        sounds(folder, declared)
    assert "numpy.savez" in error.value.hint


def test_every_bad_recording_of_a_folder_is_told(folder: Path) -> None:
    for number in range(7):
        (folder / f"{number}.wav").write_bytes(b"RIFF")
    recorded(folder / "good.wav", LEVELS)
    found = inspect(str(folder), model_of(folder.parent, "float[1, T]"), Settings())
    assert (found.count, len(found.errors)) == (8, 6)
    assert found.errors[-1].text == "and 2 more samples that cannot be read"
