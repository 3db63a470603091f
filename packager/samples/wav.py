"""Recordings in .wav files: integers of 8 to 32 bits and floats, read piece by piece.

The layout of the chunks is that of Microsoft's "New Multimedia Data Types and Data Techniques", 1994.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.samples.folder import size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

INTEGERS, FLOATS, EXTENSIBLE = 1, 3, 0xFFFE
"""format tags; the last one refers to a tag later in the header"""

CODES = {
    (INTEGERS, 8): "u1",
    (INTEGERS, 16): "<i2",
    (INTEGERS, 24): "<i3",
    (INTEGERS, 32): "<i4",
    (FLOATS, 32): "<f4",
    (FLOATS, 64): "<f8",
}
"""(format tag, bits) -> type of a sample; numpy has all but `<i3`"""

UNKNOWN_LENGTH = 0xFFFFFFFF
"""length written by programs that cannot go back to the header: the samples continue to the end of the file"""

HINT = "convert it, for example with: ffmpeg -i IN -c:a pcm_s16le OUT.wav"


@dataclass(frozen=True, kw_only=True)
class Wav:
    path: Path
    channel_count: int
    rate_hz: int
    code: str
    start: int
    """offset of the samples, in bytes"""
    frame_count: int
    """samples per channel"""

    @property
    def frame_bytes(self) -> int:
        return self.channel_count * int(self.code[-1])

    def mono(self, first: int, count: int) -> "numpy.ndarray":
        """float32[count] from -1 to 1: the mean of the channels, starting at frame `first`."""
        import numpy

        channels = self.frames(first, count)
        mixed: numpy.ndarray = channels.mean(axis=1) if self.channel_count > 1 else channels[:, 0]
        return mixed.astype(numpy.float32)

    def frames(self, first: int, count: int) -> "numpy.ndarray":
        """Floats [count, channels] from -1 to 1, starting at frame `first`. Raises ConfigError if the file is
        shorter."""
        with user_files.opened(self.path) as file:
            file.seek(self.start + first * self.frame_bytes)
            content = file.read(count * self.frame_bytes)
        if len(content) != count * self.frame_bytes:
            raise ConfigError(f"{self.path}: the file ends too early", hint=HINT)
        return _numbers(content, self.code).reshape(count, self.channel_count)


def content_of(samples: "Sequence[float]", rate_hz: int, channel_count: int) -> bytes:
    """A .wav file with integers of 16 bits, of interleaved `samples` from -1 to 1."""
    import numpy

    whole = numpy.clip(numpy.floor(numpy.array(samples, numpy.float64) * 32768 + 0.5), -32768, 32767).astype("<i2")
    frame_bytes = 2 * channel_count
    layout = struct.pack("<HHIIHH", INTEGERS, channel_count, rate_hz, rate_hz * frame_bytes, frame_bytes, 16)
    header = struct.pack(
        "<4sI4s4sI16s4sI", b"RIFF", 36 + whole.nbytes, b"WAVE", b"fmt ", 16, layout, b"data", whole.nbytes
    )
    return header + whole.tobytes()


def _numbers(content: bytes, code: str) -> "numpy.ndarray":
    """Samples from -1 to 1; floats unchanged."""
    import numpy

    if code == "<i3":  # the upper three of four bytes, so that the scale is that of 32 bits
        wide = numpy.zeros((len(content) // 3, 4), numpy.uint8)
        wide[:, 1:] = numpy.frombuffer(content, numpy.uint8).reshape(-1, 3)
        content, code = wide.tobytes(), "<i4"
    numbers = numpy.frombuffer(content, code)
    if code == "u1":
        return (numbers.astype(numpy.float32) - 128) / 128
    if code.startswith("<f"):
        return numbers
    return numbers.astype(numpy.float64) / 2.0 ** (8 * int(code[-1]) - 1)


def opened(path: Path) -> Wav:
    """Reads the header of a file. Raises ConfigError for an unsupported recording."""
    size_bytes = size_of(path)
    try:
        with user_files.opened(path) as file:
            return _parsed(file, path, size_bytes)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error})", hint=HINT) from error
    except struct.error as error:
        raise ConfigError(f"{path}: the header is incomplete", hint=HINT) from error


def _parsed(file: IO[bytes], path: Path, size_bytes: int) -> Wav:
    name, _, kind = struct.unpack("<4sI4s", file.read(12))
    if (name, kind) != (b"RIFF", b"WAVE"):
        raise ConfigError(f"{path}: not a .wav file", hint=HINT)
    layout = b""
    while file.tell() < size_bytes:
        name, length = struct.unpack("<4sI", file.read(8))
        start = file.tell()
        if name == b"fmt ":
            layout = file.read(min(length, 40))
        elif name == b"data":
            rest = size_bytes - start
            if length > rest and length != UNKNOWN_LENGTH:
                raise ConfigError(
                    f"{path}: the file is truncated: the header declares {length} bytes, but it has {rest}", hint=HINT
                )
            return _wav(path, layout, start, min(length, rest))
        file.seek(start + length + length % 2)
    raise ConfigError(f"{path}: the file has no samples", hint=HINT)


def _wav(path: Path, layout: bytes, start: int, length: int) -> Wav:
    tag, channel_count, rate_hz, _, frame_bytes, bits = struct.unpack("<HHIIHH", layout[:16])
    if tag == EXTENSIBLE:
        (tag,) = struct.unpack("<H", layout[24:26])
    code = CODES.get((tag, bits))
    if code is None:
        raise ConfigError(f"{path}: the sample format {tag} with {bits} bits is not supported", hint=HINT)
    if not channel_count or not rate_hz or frame_bytes != channel_count * bits // 8:
        raise ConfigError(f"{path}: the header is inconsistent", hint=HINT)
    return Wav(
        path=path,
        channel_count=channel_count,
        rate_hz=rate_hz,
        code=code,
        start=start,
        frame_count=length // frame_bytes,
    )
