"""The kind `sound`: a waveform that a model cleans or makes, such as that of a denoiser or of a voice."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import floats, in_words, sizes_of_one
from packager.core.contract import SoundOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

LOWEST_HZ, HIGHEST_HZ = 1_000, 768_000
"""rates that sounds of apps have"""
MOST_CHANNELS = 64
FLOATS = (ElementType.FLOAT, ElementType.FLOAT16, ElementType.DOUBLE)
INTEGERS = (ElementType.INT16, ElementType.INT32)


@dataclass(frozen=True, kw_only=True)
class Waveform:
    """Samples from -1 to 1: `[1, samples]`, `[1, 1, samples]` or `[samples]`, of several channels `[1, channels,
    samples]` or `[1, samples, channels]`.

    Samples beyond -1 and 1 are cut off.
    """

    KIND: ClassVar[str] = "sound"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["sound"] = "sound"
    """kind of the output"""
    rate: int | None = None
    """sample rate of the model in Hz; default: that of the model's sound input"""
    channels: int = 1
    """number of channels"""
    scale: float = 1.0
    """loudest sample of the model: 32768 for models that give 16-bit values"""
    length: str = ""
    """output with the number of samples of each channel: others behind them are padding, and are cut off. Default: all
    samples are sound"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if not 1 <= self.channels <= MOST_CHANNELS:
            raise SettingError(
                f"channels {self.channels} is not between 1 and {MOST_CHANNELS}", hint="omit it for one channel"
            )
        if not isfinite(self.scale) or self.scale <= 0:
            raise SettingError(f"scale {self.scale:g} is no loudest sample", hint="use 1 for samples from -1 to 1")

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        core.refuse_batch(self.KIND)
        if spec.element not in (*FLOATS, *INTEGERS):
            raise ConfigError(
                f"the output is {in_words(spec)}: not a sound",
                hint=f"supported types: {', '.join((*FLOATS, *INTEGERS))}",
            )
        if spec.element in INTEGERS and self.scale <= 1:
            hint = "set scale to its loudest sample: 32768 for int16"
            raise ConfigError(f"the output is {in_words(spec)}, but samples are at most {self.scale:g}", hint=hint)
        frames, is_planar = self._form(spec)
        value = writer.node("Reshape", floats(writer, spec), [self.channels, -1] if is_planar else [-1, self.channels])
        value = writer.node("Transpose", value, perm=[1, 0]) if is_planar else value
        value = value if self.scale == 1 else writer.node("Div", value, float(self.scale))
        value = writer.node("Min", writer.node("Max", value, -1.0), 1.0)  # Clip makes a number of NaN
        if self.length:
            value = writer.node("Slice", value, [0], self._count(writer, spec, core), [0])
        is_open = bool(self.length) or not isinstance(frames, int)
        shape = (f"{spec.name}.frames" if is_open else frames, self.channels)
        typed = SoundOutput(
            identifier=spec.identifier,
            samples=writer.output(value, "samples", ElementType.FLOAT, shape),
            rate=self._rate(core),
            channels=self.channels,
        )
        return AttachedOutput(typed=typed, taken=tuple(filter(None, (spec.name, self.length))))

    def _form(self, spec: TensorSpec) -> tuple[Dimension, bool]:
        """Number of frames, and whether each channel is in one piece. Raises ConfigError for other shapes."""
        sizes = [size for size in sizes_of_one(spec) if size != 1]
        are_open = not any(isinstance(size, int) for size in sizes)
        if self.channels == 1 and spec.shape and 0 not in sizes and (len(sizes) < 2 or are_open):
            return (sizes[0] if len(sizes) == 1 else None if sizes else 1), False
        if self.channels > 1 and len(sizes) == 2 and self.channels in sizes:
            is_planar = sizes[0] == self.channels
            return sizes[is_planar], is_planar
        wanted = "[1, samples]" if self.channels == 1 else f"[1, {self.channels}, samples]"
        raise ConfigError(
            f"the output is {in_words(spec)}: not {wanted}, a sound of "
            + ("one channel" if self.channels == 1 else f"{self.channels} channels"),
            hint='write the number of its channels as channels; spectra and several sounds are kind = "tensor"',
        )

    def _count(self, writer: Writer, spec: TensorSpec, core: Core) -> str:
        """int64 [1]: number of frames that are sound."""
        known = core.other("length", self.length, spec)
        if any(size != 1 for size in sizes_of_one(known) if isinstance(size, int)):
            raise ConfigError(
                f"length '{self.length}' is {in_words(known)}, not one number", hint="name the output with the length"
            )
        count = writer.node("Reshape", writer.cast(known.name, ElementType.INT64), [1])
        return writer.node("Max", count, [0])

    def _rate(self, core: Core) -> int:
        hint = "write the model's sample rate in Hz"
        known = core.rates if self.rate is None else {self.rate}
        if len(known) != 1:
            few = "no sound input" if not known else "sound inputs of several rates"
            raise ConfigError(f"'rate' is missing: the model has {few}", hint=hint)
        (rate,) = known
        if not LOWEST_HZ <= rate <= HIGHEST_HZ:
            raise ConfigError(f"rate {rate} is not between {LOWEST_HZ} and {HIGHEST_HZ}", hint=hint)
        return rate
