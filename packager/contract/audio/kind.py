"""The kind `audio`: recordings of any rate, length and number of channels, as samples, frames or mel bands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.audio import hidden
from packager.contract.audio.mel import Mel, MelTable, mel_of
from packager.contract.audio.resampling import Resampled, resample
from packager.contract.audio.spectrogram import write_mel
from packager.contract.audio.timeline import SoundPlace, place_of
from packager.contract.kind import AttachedInput, Inputs
from packager.core.contract import AudioInput, Streamed
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

FLOATS = (ElementType.FLOAT, ElementType.FLOAT16, ElementType.DOUBLE)
STEPS = {ElementType.INT16: 1 << 15, ElementType.INT32: 1 << 31}
"""steps from 0 to 1, by integer type"""
HIGHEST_HZ = 768_000

RANDOM_SHAPES = ((4000, 1), (6000, 2))
RANDOM_RATES = (8000, 16000, 44100, 48000)
RANDOM_PLACES = (0, 7)


@dataclass(frozen=True, kw_only=True)
class Framing:
    """Frames of raw samples."""

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
    """kind of the input"""
    rate: int
    """sample rate of the model in Hz: other recordings are resampled"""
    format: Literal["float", "pcm16"] = "float"
    """sample format of apps: floats from -1 to 1, or 16-bit integers"""
    length: int | None = None
    """number of samples, if the model's shape leaves it open: shorter recordings are padded with zeros, longer ones are
    cut. Default: a model of open length gets the whole recording"""
    take: Literal["start", "end"] = "start"
    """part of a longer recording that the model gets; zeros are added at the opposite end of a shorter one"""
    scale: float = 1.0
    """factor for samples from -1 to 1: 32768 for models that expect 16-bit values"""
    frame: int | None = None
    """samples per frame, for models that take frames; the last frame is padded with zeros"""
    hop: int | None = None
    """samples from one frame to the next; default: `frame`"""
    features: Literal["none", "whisper", "librosa", "torchaudio"] = "none"
    """`none`: the model takes samples. Otherwise mel bands with a library's defaults: `whisper`, log_mel_spectrogram;
    `librosa`, melspectrogram and power_to_db; `torchaudio`, MelSpectrogram and AmplitudeToDB"""
    mel: MelTable = field(default_factory=MelTable)
    """changes to those defaults"""
    stream_hop: int | None = None
    """samples from one run to the next of a stream, for a model of a fixed number of samples that is its only input
    besides states: apps may push a sound piece by piece. The model gets the samples of each hop, after the last ones of
    the hops before; the first hop comes after zeros"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if not 1 <= self.rate <= HIGHEST_HZ:
            raise SettingError(
                f"rate {self.rate} is not between 1 and {HIGHEST_HZ}", hint="use, for example, 16000 for speech"
            )
        for key in ("length", "frame", "hop", "stream_hop"):
            value = getattr(self, key)
            if value is not None and value < 1:
                key = key.replace("_", "-")
                raise SettingError(f"{key} {value} is less than 1", hint="omit it, or use a positive number of samples")
        if not isfinite(self.scale) or self.scale == 0:
            raise SettingError(f"scale {self.scale:g} silences the recording", hint="use 1 for no change")
        if self.hop and not self.frame:
            raise SettingError("hop has no effect without frame", hint="set frame as well, or mel.hop for mel bands")
        if self.frame and self.features != "none":
            raise SettingError(f"frame has no effect with features '{self.features}'", hint="set mel.n-fft instead")
        if self.features == "none" and not self.mel.is_empty:
            raise SettingError("mel has no effect without features", hint='set, for example, features = "torchaudio"')
        if self.stream_hop and (self._frames or self.take == "end"):
            raise SettingError(
                "stream-hop is for a model that takes samples", hint="omit frame, features and take, or stream-hop"
            )
        _ = self._frames  # validates the frames as well

    @property
    def _frames(self) -> Mel | Framing | None:
        if self.features != "none":
            return mel_of(self.features, self.mel, self.rate)
        return Framing(numbers=self.frame, hop=self.hop or self.frame) if self.frame else None

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, tuple[int, ...]]:
        shape = self._place(spec).shape
        return {} if -1 in shape else {spec.name: shape}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        place = self._place(spec)
        element = ElementType.FLOAT if self.format == "float" else ElementType.INT16
        samples = writer.input("samples", element, (f"{spec.name}.frames", f"{spec.name}.channels"))
        rate = writer.input("rate", ElementType.INT64, ())
        streamed = self._streamed(place)
        piece = writer.input("place", ElementType.INT64, (3,)) if streamed else None
        value = self._heard(writer, samples, rate, piece, place)
        rates = tuple(dict.fromkeys((self.rate, *RANDOM_RATES)))
        return AttachedInput(
            typed=(AudioInput(identifier=spec.identifier, samples=samples, rate=rate, place=piece, streamed=streamed),),
            value=_laid(writer, value, spec.element, place.shape),
            rate=self.rate,
            shapes={samples.name: RANDOM_SHAPES},
            values={rate.name: rates, **({piece.name: RANDOM_PLACES} if piece else {})},
        )

    def _streamed(self, place: SoundPlace) -> Streamed | None:
        if self.stream_hop is None:
            return None
        if place.length is None:
            raise ConfigError("stream-hop needs a fixed number of samples", hint="set length as well")
        if self.stream_hop > place.length:
            raise ConfigError(
                f"stream-hop is {self.stream_hop}, but the model takes {place.length} samples",
                hint=f"use at most {place.length}: samples beyond the hop are those before it",
            )
        return Streamed(rate=self.rate, hop=self.stream_hop, length=place.length)

    def _heard(
        self, writer: Writer, samples: TensorSpec, rate: TensorSpec, piece: TensorSpec | None, place: SoundPlace
    ) -> str:
        """The model's numbers: double, one-dimensional for samples, [frames, numbers] or its transpose for frames."""
        sound = writer.cast(samples.name, ElementType.DOUBLE)
        writer = writer.hiding(hidden.nothing(writer, sound))
        scale = self.scale / STEPS.get(samples.element, 1)
        mono = _mono(writer, sound)
        mono = mono if scale == 1 else writer.node("Mul", mono, float(scale))
        at = piece.name if piece else ""
        from_end = self.take == "end"
        made = resample(writer, mono, rate.name, self.rate, length=place.length, from_end=from_end, place=at)
        return self._in_frames(writer, self._filled(writer, made, place.length), place)

    def _place(self, spec: TensorSpec) -> SoundPlace:
        if spec.element not in FLOATS and spec.element not in STEPS:
            known = ", ".join((*FLOATS, *STEPS))
            raise ConfigError(f"is {spec.element}, which cannot be sound", hint=f"supported types: {known}")
        if spec.element in STEPS and abs(self.scale) <= 1:
            hint = f"scale = {STEPS[spec.element]}"
            raise ConfigError(f"is {spec.element}, but samples are at most {self.scale:g}", hint=hint)
        return place_of(spec, self._frames, self.length)

    def _filled(self, writer: Writer, made: Resampled, length: int | None) -> str:
        """Padded with zeros to `length`; for a model of open length, to its shortest recording."""
        frames = self._frames
        shortest = 1 if frames is None else frames.shortest
        wanted = writer.integers(length) if length is not None else writer.node("Max", made.count, [shortest])
        missing = writer.node("Sub", wanted, made.count)
        pads: tuple[str | list[int], ...] = (missing, [0]) if self.take == "end" else ([0], missing)
        if made.ahead:
            pads = (made.ahead, writer.node("Sub", missing, made.ahead))
        return writer.node("Pad", made.value, writer.node("Concat", *pads, axis=0))

    def _in_frames(self, writer: Writer, value: str, place: SoundPlace) -> str:
        frames = self._frames
        if frames is None:
            return value
        are_bands = isinstance(frames, Mel)  # mel bands come before the frames
        made = write_mel(writer, value, frames) if isinstance(frames, Mel) else _framed(writer, value, frames)
        return made if are_bands is place.is_turned else writer.node("Transpose", made, perm=[1, 0])


def _mono(writer: Writer, sound: str) -> str:
    """The mean of the channels: double, one-dimensional. An empty recording is silence."""
    channels = writer.node("Max", hidden.size(writer, sound, 1), [1])
    total = writer.node("ReduceSum", sound, [1], keepdims=0)
    return writer.node("Div", total, writer.cast(channels, ElementType.DOUBLE))


def _framed(writer: Writer, value: str, frames: Framing) -> str:
    """[frames, numbers], with zeros after the last sample."""
    over = writer.node("Max", writer.node("Sub", hidden.size(writer, value), [frames.numbers]), [0])
    hops = writer.node("Div", writer.node("Add", over, [frames.hop - 1]), [frames.hop])
    starts = writer.node("Mul", hidden.counted(writer, writer.node("Add", hops, [1])), [frames.hop])
    places = writer.node("Add", writer.node("Unsqueeze", starts, [1]), range(frames.numbers))
    made = hidden.picked(writer, writer.node("Pad", value, [0, frames.numbers]), places)
    return writer.node("Reshape", made, [-1, frames.numbers])


def _laid(writer: Writer, value: str, element: ElementType, shape: tuple[int, ...]) -> str:
    """`value`, a double, in the model's shape and type. The shape may be known to providers from the Reshape on."""
    if element is ElementType.DOUBLE:
        # QNN takes a node of the model that follows a double, and then rejects the double.
        floats = writer.node("Reshape", writer.cast(value, ElementType.FLOAT), shape)
        return writer.cast(floats, element)
    if element in STEPS:
        lowest, highest = writer.double(-STEPS[element]), writer.double(STEPS[element] - 1)
        value = writer.node("Clip", writer.node("Round", value), lowest, highest)
    return writer.node("Reshape", writer.cast(value, element), shape)
