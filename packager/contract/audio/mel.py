"""Parameters of mel bands: the presets of librosa, torchaudio and Whisper, and changes to them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal

from packager.core.errors import SettingError
from packager.core.strict_tables import STRICT

Preset = Literal["whisper", "librosa", "torchaudio"]


@dataclass(frozen=True, kw_only=True)
class MelTable:
    """Changes to the defaults of the library."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    n_fft: int | None = None
    """samples per Fourier transform"""
    window: int | None = None
    """samples of the periodic Hann window, centred in the transform; default: all"""
    hop: int | None = None
    """samples from one frame to the next"""
    bands: int | None = None
    """number of mel bands"""
    fmin: float | None = None
    """lower end of the lowest band in Hz"""
    fmax: float | None = None
    """upper end of the highest band in Hz; default: half the rate"""
    scale: Literal["slaney", "htk"] | None = None
    """mel scale: `slaney` as in librosa, `htk` as in torchaudio"""
    norm: Literal["slaney", "none"] | None = None
    """`slaney`: all bands have the same area; `none`: the same height"""
    power: Literal[1, 2] | None = None
    """2 for energies, 1 for amplitudes"""
    pad: Literal["reflect", "zero", "none"] | None = None
    """padding of the recording, which centres the frames; `none`: the first frame starts with the recording"""
    log: Literal["none", "ln", "log10", "db"] | None = None
    """`db` is 10 log10 of energies, 20 log10 of amplitudes"""
    floor: float | None = None
    """lower limit of values, before the logarithm"""
    offset: float | None = None
    """added before the logarithm"""
    range: float | None = None
    """dynamic range: values further than this below the recording's maximum are raised to it; 0 for no limit"""
    reference: Literal["one", "loudest"] | None = None
    """`loudest`: the recording's maximum is subtracted, as with `ref=np.max`"""
    mean: float | None = None
    """subtracted after the logarithm"""
    std: float | None = None
    """divisor, applied after `mean`"""
    last: bool | None = None
    """whether the last frame is kept: Whisper drops it"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        for key in ("n_fft", "window", "hop", "bands"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise SettingError(
                    f"mel.{key.replace('_', '-')} {value} is less than 1", hint="omit it for the default"
                )
        if self.n_fft is not None and self.n_fft % 2:
            raise SettingError(
                f"mel.n-fft {self.n_fft} is odd, for which libraries define frequencies differently",
                hint="use an even number",
            )
        for key in ("floor", "offset", "range", "fmin"):
            value = getattr(self, key)
            if value is not None and not 0 <= value < float("inf"):
                raise SettingError(f"mel.{key} {value:g} is below zero", hint="omit it for the default")
        if self.std is not None and not 0 < abs(self.std) < float("inf"):
            raise SettingError("mel.std is zero", hint="use 1 for no change")

    @property
    def is_empty(self) -> bool:
        return self == MelTable()


PRESETS: Mapping[Preset, MelTable] = {
    "whisper": MelTable(
        n_fft=400, hop=160, bands=80, fmin=0.0, scale="slaney", norm="slaney", power=2, pad="reflect", log="log10",
        floor=1e-10, offset=0.0, range=8.0, reference="one", mean=-4.0, std=4.0, last=False,
    ),
    "librosa": MelTable(
        n_fft=2048, hop=512, bands=128, fmin=0.0, scale="slaney", norm="slaney", power=2, pad="zero", log="db",
        floor=1e-10, offset=0.0, range=80.0, reference="one", mean=0.0, std=1.0, last=True,
    ),
    "torchaudio": MelTable(
        n_fft=400, hop=200, bands=128, fmin=0.0, scale="htk", norm="none", power=2, pad="reflect", log="db",
        floor=1e-10, offset=0.0, range=0.0, reference="one", mean=0.0, std=1.0, last=True,
    ),
}  # fmt: skip
"""`whisper.log_mel_spectrogram`; `librosa.feature.melspectrogram` and `power_to_db`; `torchaudio.transforms`'
`MelSpectrogram` and `AmplitudeToDB`."""


@dataclass(frozen=True, kw_only=True)
class Mel:
    """A preset with a table's changes: all parameters are known."""

    rate: int
    n_fft: int
    window: int
    hop: int
    bands: int
    fmin: float
    fmax: float
    scale: str
    norm: str
    power: int
    pad: str
    log: str
    floor: float
    offset: float
    range: float
    reference: str
    mean: float
    std: float
    last: bool

    @property
    def numbers(self) -> int:
        """Numbers per frame."""
        return self.bands

    @property
    def is_first(self) -> bool:
        """Whether bands come before frames if the shape does not tell, as in all three libraries."""
        return True

    @property
    def around(self) -> int:
        """Samples of padding at either end."""
        return 0 if self.pad == "none" else self.n_fft // 2

    @property
    def shortest(self) -> int:
        """Samples of the shortest recording that has a frame; it must be longer than its reflected padding."""
        return max(self.length_of(1), self.around + 1 if self.pad == "reflect" else 1)

    def frames_of(self, length: int) -> int:
        return (length + 2 * self.around - self.n_fft) // self.hop + int(self.last)

    def length_of(self, frames: int) -> int:
        """Samples of the shortest recording with that many frames."""
        return max((frames - int(self.last)) * self.hop + self.n_fft - 2 * self.around, 1)


def mel_of(preset: Preset, table: MelTable, rate: int) -> Mel:
    """Applies a table to a preset. Raises SettingError for numbers that do not fit together."""
    given = {key.name: value for key in fields(table) if (value := getattr(table, key.name)) is not None}
    merged = replace(PRESETS[preset], **given)
    values = {key.name: getattr(merged, key.name) for key in fields(merged)}
    values["window"] = merged.window or merged.n_fft
    values["fmax"] = rate / 2 if merged.fmax is None else merged.fmax
    made = Mel(rate=rate, **values)
    if made.window > made.n_fft:
        raise SettingError(
            f"mel.window {made.window} is more than mel.n-fft {made.n_fft}", hint="set mel.n-fft as well"
        )
    if not made.fmin < made.fmax <= rate / 2:
        raise SettingError(
            f"mel.fmin {made.fmin:g} and mel.fmax {made.fmax:g} form no band below half of rate {rate}",
            hint=f"use fmin below fmax, and fmax of at most {rate / 2:g}",
        )
    if made.log != "none" and made.floor == 0 and made.offset == 0:
        raise SettingError("silence has no logarithm", hint="set mel.floor or mel.offset above 0")
    return made
