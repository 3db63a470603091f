"""Recordings of any rate, length and number of channels, as the samples, frames or mel bands that a model wants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.audio import hidden
from packager.contract.audio.mel import Mel, MelTable, mel_of
from packager.contract.audio.resampling import Resampled, resample
from packager.contract.audio.spectrogram import write_mel
from packager.contract.audio.timeline import Place, place_of
from packager.contract.kind import AttachedInput
from packager.contract.writer import Writer
from packager.core.contract import AudioInput
from packager.core.errors import ConfigError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT

FLOATS = (ElementType.FLOAT, ElementType.FLOAT16, ElementType.DOUBLE)
STEPS = {ElementType.INT16: 1 << 15, ElementType.INT32: 1 << 31}
"""How many steps there are from 0 to 1."""
HIGHEST_HZ = 768_000

RANDOM_SHAPES = ((4000, 1), (6000, 2))
RANDOM_RATES = (8000, 16000, 44100, 48000)


@dataclass(frozen=True, kw_only=True)
class Framing:
    """Stretches of samples as they are."""

    numbers: int
    hop: int
    is_first: bool = False

    @property
    def shortest(self) -> int:
        return 1

    def frames_of(self, length: int) -> int:
        return 1 + max(0, -(-(length - self.numbers) // self.hop))

    def length_of(self, frames: int) -> int:
        return (frames - 1) * self.hop + self.numbers


@dataclass(frozen=True, kw_only=True)
class SoundInput:
    """One recording at the model's rate."""

    KIND: ClassVar[str] = "audio"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["audio"] = "audio"
    """what the input is"""
    rate: int
    """samples per second that the model wants: recordings of other rates are resampled"""
    format: Literal["float", "pcm16"] = "float"
    """what apps pass: floats from -1 to 1, or 16-bit integers"""
    length: int | None = None
    """samples that the model gets, where its shape does not say so: shorter recordings are filled with zeros, longer
    ones are cut. Without it a model of any length gets the whole recording"""
    take: Literal["start", "end"] = "start"
    """which part of a longer recording the model gets; the zeros of a shorter one are behind it, or ahead of it"""
    scale: float = 1.0
    """what samples from -1 to 1 are multiplied by: 32768 for models that want 16-bit numbers"""
    frame: int | None = None
    """samples of a frame, for models that take frames; the last one is filled with zeros"""
    hop: int | None = None
    """samples from one frame to the next; `frame`, if left out"""
    features: Literal["none", "whisper", "librosa", "torchaudio"] = "none"
    """`none`: the model takes samples. Else mel bands, with the defaults of a library: `whisper`, log_mel_spectrogram;
    `librosa`, melspectrogram and power_to_db; `torchaudio`, MelSpectrogram and AmplitudeToDB"""
    mel: MelTable = field(default_factory=MelTable)
    """what is other than those defaults"""

    def __post_init__(self) -> None:
        """Raises ValueError: what is wrong, `|`, what to do."""
        if not 1 <= self.rate <= HIGHEST_HZ:
            raise ValueError(f"rate {self.rate} is not between 1 and {HIGHEST_HZ}|16000 is usual for speech")
        for key in ("length", "frame", "hop"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise ValueError(f"{key} {value} is less than 1|leave it out, or give a number of samples")
        if not isfinite(self.scale) or self.scale == 0:
            raise ValueError(f"scale {self.scale:g} leaves no sound|1 changes nothing")
        if self.hop and not self.frame:
            raise ValueError("hop without frame|give frame, too; the hop of mel bands is mel.hop")
        if self.frame and self.features != "none":
            raise ValueError(f"frame with features '{self.features}'|the samples of a frame are mel.n-fft then")
        if self.features == "none" and not self.mel.is_empty:
            raise ValueError('mel without features|name what it changes: features = "torchaudio"')
        _ = self._frames  # it, too, checks

    @property
    def _frames(self) -> Mel | Framing | None:
        if self.features != "none":
            return mel_of(self.features, self.mel, self.rate)
        return Framing(numbers=self.frame, hop=self.hop or self.frame) if self.frame else None

    def within(self, folder: Path) -> Self:
        return self

    def shape(self, spec: TensorSpec) -> tuple[int, ...] | None:
        shape = self._place(spec).shape
        return None if -1 in shape else shape

    def attach(self, writer: Writer, spec: TensorSpec) -> AttachedInput:
        place = self._place(spec)
        element = ElementType.FLOAT if self.format == "float" else ElementType.INT16
        samples = writer.input("samples", element, (f"{spec.name}.frames", f"{spec.name}.channels"))
        rate = writer.input("rate", ElementType.INT64, ())
        value = self._heard(writer, samples, rate, place)
        return AttachedInput(
            typed=AudioInput(identifier=spec.identifier, samples=samples, rate=rate),
            value=_laid(writer, value, spec.element, place.shape),
            shapes={samples.name: RANDOM_SHAPES},
            values={rate.name: tuple(dict.fromkeys((self.rate, *RANDOM_RATES)))},
        )

    def _heard(self, writer: Writer, samples: TensorSpec, rate: TensorSpec, place: Place) -> str:
        """What the model hears, as double in one dimension, or in [frames, numbers] or the other way round."""
        sound = writer.cast(samples.name, ElementType.DOUBLE)
        writer = writer.hiding(hidden.nothing(writer, sound))
        scale = self.scale / STEPS.get(samples.element, 1)
        mono = _mono(writer, sound)
        mono = mono if scale == 1 else writer.node("Mul", mono, float(scale))
        from_end = self.take == "end"
        made = resample(writer, mono, rate.name, self.rate, length=place.length, from_end=from_end)
        return self._in_frames(writer, self._filled(writer, made, place.length), place)

    def _place(self, spec: TensorSpec) -> Place:
        if spec.element not in FLOATS and spec.element not in STEPS:
            known = ", ".join((*FLOATS, *STEPS))
            raise ConfigError(f"takes {spec.element}: no sound", hint=f"sounds are {known}")
        if spec.element in STEPS and abs(self.scale) <= 1:
            hint = f"scale = {STEPS[spec.element]}"
            raise ConfigError(f"takes {spec.element}, and samples are at most {self.scale:g}", hint=hint)
        return place_of(spec, self._frames, self.length)

    def _filled(self, writer: Writer, made: Resampled, length: int | None) -> str:
        """With zeros up to `length`; of a model of any length, up to the shortest recording that it can take."""
        frames = self._frames
        shortest = 1 if frames is None else frames.shortest
        wanted = writer.integers(length) if length is not None else writer.node("Max", made.count, [shortest])
        missing = writer.node("Sub", wanted, made.count)
        pads = (missing, [0]) if self.take == "end" else ([0], missing)
        return writer.node("Pad", made.value, writer.node("Concat", *pads, axis=0))

    def _in_frames(self, writer: Writer, value: str, place: Place) -> str:
        frames = self._frames
        if frames is None:
            return value
        are_bands = isinstance(frames, Mel)  # those come before the frames
        made = write_mel(writer, value, frames) if isinstance(frames, Mel) else _framed(writer, value, frames)
        return made if are_bands is place.is_turned else writer.node("Transpose", made, perm=[1, 0])


def _mono(writer: Writer, sound: str) -> str:
    """The mean of the channels: double, one dimension. Nothing at all is silence."""
    channels = writer.node("Max", hidden.size(writer, sound, 1), [1])
    total = writer.node("ReduceSum", sound, [1], keepdims=0)
    return writer.node("Div", total, writer.cast(channels, ElementType.DOUBLE))


def _framed(writer: Writer, value: str, frames: Framing) -> str:
    """[frames, numbers], with zeros behind the last sample."""
    over = writer.node("Max", writer.node("Sub", hidden.size(writer, value), [frames.numbers]), [0])
    hops = writer.node("Div", writer.node("Add", over, [frames.hop - 1]), [frames.hop])
    starts = writer.node("Mul", hidden.counted(writer, writer.node("Add", hops, [1])), [frames.hop])
    places = writer.node("Add", writer.node("Unsqueeze", starts, [1]), range(frames.numbers))
    made = hidden.picked(writer, writer.node("Pad", value, [0, frames.numbers]), places)
    return writer.node("Reshape", made, [-1, frames.numbers])


def _laid(writer: Writer, value: str, element: ElementType, shape: tuple[int, ...]) -> str:
    """`value`, double, as what the model takes. What follows the Reshape may be of a shape that providers know."""
    if element is ElementType.DOUBLE:
        # QNN takes a model's own node behind a double, and then refuses the double.
        floats = writer.node("Reshape", writer.cast(value, ElementType.FLOAT), shape)
        return writer.cast(floats, element)
    if element in STEPS:
        lowest, highest = writer.double(-STEPS[element]), writer.double(STEPS[element] - 1)
        value = writer.node("Clip", writer.node("Round", value), lowest, highest)
    return writer.node("Reshape", writer.cast(value, element), shape)
