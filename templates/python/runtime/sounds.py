"""From a sound, as decoders and microphones have it, to the tensors of a model, and back."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from .errors import ModelError, ModelErrorCode

FULL = 32768
"""divisor of whole numbers of 16 bits"""
RATES = (1_000, 768_000)
"""the least and the largest number of frames per second"""


@dataclass(frozen=True)
class Sound:
    """A recording of any length and rate, or a sound that a model made."""

    samples: NDArray[Any]
    """[frames] or [frames, channels]: floats from -1 to 1, or int16"""
    rate: int
    """frames per second, such as 44100"""

    def to_wav(self) -> bytes:
        """A .wav file with whole numbers of 16 bits; what is too loud is cut off."""
        whole = whole_of(self.samples.reshape(len(self.samples), -1))
        content = io.BytesIO()
        with wave.open(content, "wb") as file:
            file.setnchannels(whole.shape[1])
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(whole.astype("<i2").tobytes())
        return content.getvalue()


@dataclass(frozen=True)
class SoundPiece(Sound):
    """A part of a stream."""

    place: tuple[int, int, int]
    """time from the first sample to the first that the model takes, and zeros before and after those that it takes"""


@dataclass(frozen=True)
class SoundTensors:
    """Tensors that models take of a sound."""

    samples: NDArray[Any]
    """one row for each frame"""
    rate: NDArray[numpy.int64]
    place: NDArray[numpy.int64]
    """zeros for a whole sound"""

    def first_frame(self) -> SoundTensors:
        """For runs that take a sound and do not read it."""
        return SoundTensors(self.samples[:1], self.rate, self.place)


def sound_tensors(name: str, sound: Sound) -> SoundTensors:
    """The tensors of the parameter `name`, for a model that takes samples from -1 to 1. Raises ModelError `BAD_INPUT`,
    saying what is wrong with the sound."""
    samples = checked(name, sound)
    floats = samples.astype(numpy.float32) / numpy.float32(FULL) if samples.dtype == numpy.int16 else samples
    return SoundTensors(floats.astype(numpy.float32), numpy.array(sound.rate, numpy.int64), place_of(sound))


def pcm_tensors(name: str, sound: Sound) -> SoundTensors:
    """The tensors of the parameter `name`, for a model that takes whole numbers of 16 bits; what is too loud is cut
    off. Raises ModelError `BAD_INPUT`."""
    return SoundTensors(whole_of(checked(name, sound)), numpy.array(sound.rate, numpy.int64), place_of(sound))


def place_of(sound: Sound) -> NDArray[numpy.int64]:
    return numpy.array(sound.place if isinstance(sound, SoundPiece) else (0, 0, 0), numpy.int64)


def checked(name: str, sound: Sound) -> NDArray[Any]:
    """The samples, [frames, channels]."""
    if not isinstance(sound, Sound):
        raise refused(name, f"is a {type(sound).__name__}: pass a Sound")
    samples, rate = numpy.asarray(sound.samples), sound.rate
    if not RATES[0] <= rate <= RATES[1]:
        raise refused(name, f"has rate {rate}, which is not from {RATES[0]} to {RATES[1]}")
    if samples.dtype != numpy.int16 and samples.dtype.kind != "f":
        raise refused(name, f"has samples of {samples.dtype}: pass floats from -1 to 1, or int16")
    if samples.ndim not in (1, 2) or not samples.size:
        raise refused(name, f"has samples of shape {list(samples.shape)}: pass [frames] or [frames, channels]")
    return samples.reshape(len(samples), -1)


def whole_of(samples: NDArray[Any]) -> NDArray[numpy.int16]:
    if samples.dtype == numpy.int16:
        return samples
    scaled = numpy.floor(numpy.nan_to_num(samples.astype(numpy.float64), nan=0.0) * FULL + 0.5)
    return numpy.clip(scaled, -FULL, FULL - 1).astype(numpy.int16)


def refused(name: str, words: str) -> ModelError:
    return ModelError(ModelErrorCode.BAD_INPUT, f"sound {name} {words}")
