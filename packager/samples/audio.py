"""Samples from .wav files, for models with one sound input."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from packager.core.errors import ConfigError
from packager.core.sample_settings import AudioSettings
from packager.core.values import TensorSpec
from packager.samples import wav
from packager.samples.fit import DTYPES, FLOATS, only_input
from packager.samples.folder import SampleFiles
from packager.samples.sample import MAX_BYTES, Arrays, Problem, Unread, broken, in_words, unfit
from packager.samples.wav import Wav


@dataclass(frozen=True, kw_only=True)
class Sound:
    """Sound format of an input."""

    spec: TensorSpec
    axis: int
    """axis of the samples; all others are 1"""
    length: int | None
    """number of samples; None for any"""


def unread(files: SampleFiles, inputs: tuple[TensorSpec, ...], settings: AudioSettings) -> Iterator[Unread]:
    """The sounds of all files, in order. Raises ConfigError if the model takes no sound."""
    sound = _wanted(only_input(inputs, ".wav files"))
    rate_hz = settings.sample_rate
    for path in files.paths:
        label = files.label(path)
        try:
            recording = wav.opened(path)
        except ConfigError as error:
            yield broken(label, error)
            continue
        rate_hz = rate_hz or recording.rate_hz
        if problem := _problem(recording, sound, rate_hz, label):
            yield unfit(label, problem)
        else:
            yield from _pieces(recording, sound, settings, label)


def _wanted(spec: TensorSpec) -> Sound:
    long = [
        axis
        for axis, size in enumerate(spec.shape)
        if size != 1 and (isinstance(size, int) or not _is_batch(spec, axis))
    ]
    if spec.element not in FLOATS or len(long) != 1:
        raise ConfigError(
            f"input '{spec.name}' ({spec.element} {in_words(spec.shape)}) takes no sound: floats in one dimension",
            hint="save the model's inputs with numpy.savez, or use module:function",
        )
    size = spec.shape[long[0]]
    return Sound(spec=spec, axis=long[0], length=size if isinstance(size, int) else None)


def _is_batch(spec: TensorSpec, axis: int) -> bool:
    """Whether the dimension is a batch. The last one is sound whatever its name: many exporters call it `n`."""
    return spec.is_batch(axis) and axis < len(spec.shape) - 1


def _problem(recording: Wav, sound: Sound, rate_hz: int, label: str) -> Problem | None:
    if recording.rate_hz != rate_hz:
        return Problem(
            severity="error",
            text=f"{label}: {recording.rate_hz} Hz instead of {rate_hz}",
            hint=f"convert it, for example with: ffmpeg -i IN -ar {rate_hz} OUT.wav",
            kind="files of another sample rate",
        )
    if not recording.frame_count:
        return Problem(
            severity="error", text=f"{label}: the file has no samples", hint="remove it", kind="silent files"
        )
    frames = recording.frame_count if sound.length is None else min(sound.length, recording.frame_count)
    if frames * max(recording.frame_bytes, 8 * recording.channel_count) > MAX_BYTES:
        return Problem(
            severity="error",
            text=f"{label}: {recording.frame_count / rate_hz:.0f} s at once need more than {MAX_BYTES >> 20} MiB",
            hint="cut it into pieces",
            kind="files that are too long",
        )
    return None


def _pieces(recording: Wav, sound: Sound, settings: AudioSettings, label: str) -> Iterator[Unread]:
    length = sound.length or recording.frame_count
    end = recording.frame_count if settings.take == "windows" else 1
    for first in range(0, end, length):
        name = label if end <= length else f"{label} at {first / recording.rate_hz:.2f} s"
        yield Unread(label=name, read=partial(_read, recording, sound, settings, first, length))


def _read(recording: Wav, sound: Sound, settings: AudioSettings, first: int, length: int) -> Arrays:
    import numpy

    numbers = numpy.zeros(length, DTYPES[sound.spec.element])
    count = min(length, recording.frame_count - first)
    numbers[:count] = recording.mono(first, count) * numpy.float32(1 if settings.scale is None else settings.scale)
    shape = [1] * len(sound.spec.shape)
    shape[sound.axis] = length
    return {sound.spec.name: numbers.reshape(shape)}
