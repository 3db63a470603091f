"""Says what the numbers of pictures and recordings are taken to mean where nothing states it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from packager.core.sample_settings import AudioSettings, ImageSettings, Settings
from packager.core.values import ElementType
from packager.samples import folder, images, wav
from packager.samples.source import SampleSource

NORMALIZED = ImageSettings(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
"""mean and spread of ImageNet's pictures, with which most classifiers were trained"""
SHIFTED = ImageSettings(mean=(0.5,))
"""the numbers that are assumed, around 0"""
OTHER_IMAGES = (NORMALIZED, ImageSettings(mean=(0.5,), std=(0.5,)), SHIFTED, ImageSettings(scale=1.0))
OTHER_SOUNDS = (AudioSettings(scale=32768.0),)


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """A conversion that nobody stated."""

    source: SampleSource
    what: str
    """plural noun: pictures, recordings"""
    words: str
    """the conversion, in words"""
    keys: str
    """keys that state it"""
    statement: str
    """setting that states this very conversion"""
    others: tuple[SampleSource, ...]
    """the same samples in other usual conversions"""
    shifted: SampleSource | None = None
    """that of the others whose numbers have the same spread, around 0"""

    @property
    def unverified(self) -> str:
        return f"{self.what} were taken to be {self.words}; if that is wrong, set {self.keys}"

    @property
    def sentence(self) -> str:
        return f"{self.what} are {self.words}: set {self.keys} to what the model wants"


def assumed(source: SampleSource) -> Assumption | None:
    """The conversion of `source` that nobody stated; None for samples that are passed as they are, for one that a
    contract or the settings state, and for inputs of 8 bits, which take pixels. Raises ConfigError for a source that
    does not exist or does not fit the model."""
    path = source.path()
    if source.raw or path is None:
        return None
    files = folder.find(path)
    if files.kind == "images" and not source.settings.image.is_stated:
        return _of_images(source)
    if files.kind == "sounds" and not source.settings.audio.is_stated:
        return _of_sounds(source, files)
    return None


def _of_images(source: SampleSource) -> Assumption | None:
    settings = source.settings.image
    if len(source.inputs) != 1 or source.inputs[0].element is ElementType.UINT8:
        return None
    picture = images.wanted(source.inputs[0], settings)
    colour = settings.colour if settings.colour != "auto" else {1: "grey", 4: "rgba"}.get(picture.channels, "rgb")
    size = f", {picture.size[0]} x {picture.size[1]}" if picture.size else ""
    shown = colour if colour == "grey" else colour.upper()
    fitting = [each for each in OTHER_IMAGES if each.mean is None or len(each.mean) in (1, picture.channels)]
    others = {each: _with(source, _converted(source.settings, each)) for each in fitting}
    return Assumption(
        source=source,
        what="pictures",
        words=f"scaled by 1/255, {shown}{size}",
        keys="calibration.image.mean, .std and .scale",
        statement="calibration.image.mean=[0.0]",
        others=tuple(others.values()),
        shifted=others[SHIFTED],
    )


def _converted(settings: Settings, other: ImageSettings) -> Settings:
    """`settings` with the numbers of `other`."""
    return replace(settings, image=replace(settings.image, mean=other.mean, std=other.std, scale=other.scale))


def _of_sounds(source: SampleSource, files: folder.SampleFiles) -> Assumption:
    settings = source.settings.audio
    rate_hz = settings.sample_rate or wav.opened(files.paths[0]).rate_hz
    others = [replace(source.settings, audio=replace(settings, scale=each.scale)) for each in OTHER_SOUNDS]
    return Assumption(
        source=source,
        what="recordings",
        words=f"passed from -1 to 1, with {rate_hz} samples per second",
        keys="calibration.audio.scale and .sample-rate",
        statement="calibration.audio.scale=1.0",
        others=tuple(_with(source, each) for each in others),
    )


def _with(source: SampleSource, settings: Settings) -> SampleSource:
    return replace(source, settings=settings)


def in_words(source: SampleSource) -> Iterator[str]:
    """The stated keys of a conversion, as settings: `calibration.image.std=[0.5]`."""
    for table, settings in (("image", source.settings.image), ("audio", source.settings.audio)):
        for key in ("mean", "std", "scale"):
            value = getattr(settings, key, None)
            if value is not None:
                yield f"calibration.{table}.{key}={list(value) if isinstance(value, tuple) else value}"
