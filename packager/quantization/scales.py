"""Reads and writes files of scales, with which the next version of a model is quantized alike.

A file has one safetensors tensor for each: `scale/KIND:TENSOR`, and `zero_point/KIND:TENSOR` unless it is that of all
symmetric ones. `__metadata__` has the quantizer and those of its settings on which scales depend.
"""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from packager.core import parsing
from packager.core.errors import ConfigError
from packager.core.names import kebab_case
from packager.core.quantized import KeptScales, ScaleChoice
from packager.files.hashes import known_sha256
from packager.graph.rewriting.scales import ACTIVATION, Scales
from packager.graph.weights.keeping import Scaling
from packager.quantizers import Quantizer, Recipe
from packager.vectors import safetensors

if TYPE_CHECKING:
    import numpy

FOLDER = "scales"
"""of a release"""
SCALE, ZERO_POINT = "scale/", "zero_point/"
FORMAT = "mobpack scales 1"
SETTINGS = ("activations", "weights", "per_channel", "symmetric", "bits", "block_size")
"""Settings of quantizers on which the meaning of a scale depends."""
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, struct.error)
FIRST = "for the first release, remove scales-from"


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Scales of the version before."""

    sha256: str = ""
    """of their file; empty if none are to be kept"""
    about: Mapping[str, str] = field(default_factory=dict)
    """quantizer and settings"""
    scales: Mapping[str, Scaling] = field(default_factory=dict)
    path: Path = Path()

    def refuse_other(self, quantizer: Quantizer) -> None:
        """Raises ConfigError for scales of another quantizer than `quantizer`, or of other settings."""
        if not self.sha256:
            return
        before, now = self.about, about(quantizer)
        if before.get("quantizer") != now["quantizer"]:
            was, of = before.get("quantizer", ""), now["quantizer"]
            raise ConfigError(f"scales-from: {self.path} is of quantizer '{was}', not '{of}'", hint=FIRST)
        old, new = (parsing.json_of(each["settings"]) for each in (before, now))
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                was, now_is = json.dumps(old.get(key)), json.dumps(new.get(key))
                raise ConfigError(
                    f"scales-from: {self.path} is of {key} = {was}, not {now_is}",
                    hint=f"with other settings no scale can be kept: {FIRST}",
                )

    def kept(self, choices: tuple[ScaleChoice, ...]) -> KeptScales | None:
        """The scales that were kept of these; None if none were to be. Raises ConfigError if no weight is the same."""
        if not self.sha256:
            return None
        found = KeptScales(sha256=self.sha256, choices=choices)
        # Inputs have the same names in many models; weights decide.
        names = {f"{each.kind}:{each.name}" for each in choices if each.kind != ACTIVATION}
        if names and not names & set(self.scales):
            raise ConfigError(
                f"scales-from: {self.path} has no weight of this model",
                hint=f"it is of another model, or the weights have other names now: {FIRST}",
            )
        return found


NO_SCALES = Earlier()


def file_name(model: str, variant: str) -> str:
    """Name of the file in the folder `scales` of a release."""
    return f"{quote(model, safe='')}.{quote(variant, safe='')}.safetensors"


def file_for(source: Path, model: str, variant: str) -> Path | None:
    """The file that `source` names for a variant: itself, or one in a release or in its folder of scales. None if there
    is none."""
    name = file_name(model, variant)
    candidates = (source, source / FOLDER / name, source / name)
    return next((each for each in candidates if each.is_file()), None)


def earlier_scales(recipe: Recipe, model: str, variant: str) -> Earlier:
    """The scales that `recipe` is to keep. Raises ConfigError where it names some and there are none."""
    source: Path | None = getattr(recipe, "scales_from", None)
    if source is None:
        return NO_SCALES
    path = file_for(source, model, variant)
    if path is None:
        raise ConfigError(
            f"scales-from: {source} has no scales of model '{model}', variant '{variant}'",
            hint=f"name a release with {FOLDER}/{file_name(model, variant)}, or that file; {FIRST}",
        )
    return read(path)


def about(quantizer: Quantizer) -> dict[str, str]:
    """Quantizer and settings, as a file has them."""
    settings = asdict(quantizer)  # type: ignore[call-overload]
    chosen = {kebab_case(key): settings[key] for key in SETTINGS if key in settings}
    return {"format": FORMAT, "quantizer": quantizer.NAME, "settings": json.dumps(chosen, sort_keys=True)}


def write(path: Path, scales: Scales, quantizer: Quantizer) -> None:
    """Writes the scales in use; the same ones give the same bytes."""
    safetensors.write(path, dict(_tensors(scales)), about(quantizer))


def _tensors(scales: Scales) -> "Iterator[tuple[str, numpy.ndarray]]":
    for key, parameters in scales.used.items():
        found = Scaling.of(parameters)
        yield f"{SCALE}{key}", found.scale
        if found.zero_point is not None:
            yield f"{ZERO_POINT}{key}", found.zero_point


def read(path: Path) -> Earlier:
    """Raises ConfigError for a file that is not one of scales, or damaged."""
    try:
        about, entries = safetensors.read(path)
        if about.get("format") != FORMAT or not isinstance(parsing.json_of(about["settings"]), dict):
            raise ValueError("it has another format")
        scales = dict(_scales(path, entries))
    except DAMAGED as error:
        raise ConfigError(
            f"scales-from: {path} is not a file of scales: {error}",
            hint=f"name a release, or a file in its folder {FOLDER}; get it again from where it was published",
        ) from error
    return Earlier(sha256=known_sha256(path), about=about, scales=scales, path=path)


def _scales(path: Path, entries: Mapping[str, safetensors.TensorEntry]) -> Iterator[tuple[str, Scaling]]:
    import numpy

    end = path.stat().st_size
    for name, entry in entries.items():
        if not (0 <= entry.offset <= entry.offset + entry.size_bytes <= end and math.prod(entry.shape) >= 0):
            raise ValueError(f"'{name}' lies outside of it")
        if not name.startswith(SCALE):
            continue
        key = name.removeprefix(SCALE)
        scale = safetensors.values(path, entry)
        zero = entries.get(f"{ZERO_POINT}{key}")
        point = None if zero is None else safetensors.values(path, zero)
        if scale.dtype != numpy.float32 or not (numpy.isfinite(scale).all() and (scale > 0).all()):
            raise ValueError(f"'{name}' has numbers that are no scales")
        if point is not None and (point.dtype.kind not in "iu" or point.shape != scale.shape):
            raise ValueError(f"the zero points of '{key}' do not fit its scales")
        yield key, Scaling(scale, point)
