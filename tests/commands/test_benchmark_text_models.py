"""The benchmark of trained models that make texts: its files, its figures, and the smallest of its models."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

from benchmarks import text_models
from benchmarks.tasks import gguf, whisper


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def packed(tensors: Sequence[tuple[str, list[int], int, bytes]]) -> bytes:
    """A GGUF file with one fact of each form; tensors are name, shape from the last dimension, kind and data."""
    facts = text("name") + struct.pack("<I", 8) + text("net") + text("sizes") + struct.pack("<IIQ3I", 9, 4, 3, 1, 2, 3)
    head, body = b"", b""
    for name, shape, kind, data in tensors:
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(body))
        body += data + bytes(-len(data) % 32)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 2) + facts + head
    return start + bytes(-len(start) % 32) + body


def test_blocks_of_gguf_files_are_unpacked(tmp_path: Path) -> None:
    codes = numpy.arange(32) % 16
    nibbles = (codes[:16] | codes[16:] << 4).astype(numpy.uint8).tobytes()
    four = numpy.array([0.5, -1], "<f2").tobytes() + nibbles
    eight = numpy.array([0.25], "<f2").tobytes() + numpy.arange(-16, 16, dtype=numpy.int8).tobytes()
    plain = numpy.array([[1, 2, 3], [4, 5, 6]], "<f4").tobytes()
    path = tmp_path / "net.gguf"
    path.write_bytes(packed([("four", [32, 1], 3, four), ("eight", [32], 8, eight), ("plain", [3, 2], 0, plain)]))
    found = gguf.read(path)
    assert found.facts == {"name": "net", "sizes": [1, 2, 3]}
    assert found.tensors["four"].tolist() == [(codes * 0.5 - 1).tolist()]
    assert found.tensors["eight"].tolist() == (numpy.arange(-16, 16) / 4).tolist()
    assert found.tensors["plain"].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_another_file_is_no_gguf(tmp_path: Path) -> None:
    (tmp_path / "net.gguf").write_bytes(b"GGML" + bytes(40))
    with pytest.raises(ValueError, match="not a GGUF file"):
        gguf.read(tmp_path / "net.gguf")


def test_a_tone_is_in_the_mel_band_of_its_pitch() -> None:
    time = numpy.arange(whisper.RATE) / whisper.RATE
    found = whisper.mel(numpy.sin(2 * numpy.pi * 440 * time).astype(numpy.float32))
    assert found.shape == (1, whisper.BANDS, whisper.FRAMES)
    (band,) = set(found[0, :, 10:90].argmax(0).tolist())
    places = numpy.linspace(0, 45.245640471924965, 82)[1:-1] * 200 / 3  # mels of Slaney, in Hz below 1000
    assert band == abs(places - 440).argmin()
    assert found[0, :, 200:].max() == found.min()


def test_perplexity_of_equal_scores_is_their_number() -> None:
    assert text_models._perplexity(numpy.zeros((5, 7)), [1, 2, 3, 4, 5]) == pytest.approx(7)
    sure = numpy.full((3, 7), -100.0)
    sure[[0, 1], [4, 2]] = 100
    assert text_models._perplexity(sure, [1, 4, 2]) == pytest.approx(1)


def test_a_row_counts_equal_texts() -> None:
    row = text_models.Written(name="net", size=2_500_000, about="a", reference="b", theirs=["x", "y"], ours=["x", "z"])
    assert list(text_models.table([row]))[-1] == "| net | 2.5 MB | a | b | 1 of 2 | |"
