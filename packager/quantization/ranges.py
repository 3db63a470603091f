"""Finds the ranges of a graph's values, with the samples of a quantizer's calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager import samples as samples_of
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.quantized import Range
from packager.core.values import Model
from packager.files.store import Store
from packager.graph.rewriting.draft import Draft, draft_of
from packager.quantization import calibration
from packager.quantization.meaning import refuse_meaningless
from packager.quantization.scales import NO_SCALES, Earlier
from packager.quantizers import Calibration
from packager.samples.assumed import assumed
from packager.samples.reading import READER


@dataclass(frozen=True, kw_only=True)
class Basis:
    """The graph and the samples of a calibration."""

    model: Model
    graph: bytes
    """prepared, in float"""
    samples: calibration.Samples
    """for the ranges, and for a search"""
    held_out: calibration.Samples | None = None
    """samples that judge the result of a search; None for too few, for a metric with data of its own, or without a
    search"""
    outputs: Path | None = None
    """folder in which to record the outputs of `graph` for the samples, if they have to run"""
    earlier: Earlier = NO_SCALES
    """scales to keep"""

    def draft(self) -> Draft:
        return draft_of(self.graph, self.model.data_folder)


def ranges_for(
    basis: Basis, values: Sequence[str], settings: Calibration, store: Store, console: Console
) -> Mapping[str, Range]:
    """The ranges of `values`; one calibration serves all methods.

    Raises ModelError for values that have no range. Unusual ranges cause warnings.
    """
    model = basis.model
    request = calibration.CalibrationRequest(
        graph=basis.graph,
        weights_sha256=model.sha256,
        data_folder=model.data_folder,
        tensors=tuple(values),
        samples=basis.samples,
        method=calibration.RangeMethod(name=settings.method, percentile=settings.percentile),
        outputs=basis.outputs,
    )
    with console.progress(f"calibrate {model.name} ({settings.method})") as advance:
        found = calibration.calibrate(request, store, advance)
    for note in calibration.warnings(request, found):
        console.warn(f"model '{model.name}': {note}")
    return found


def read_samples(
    model: Model, settings: Calibration, store: Store, console: Console, *, metric: str = ""
) -> calibration.Samples:
    """The samples of `settings`, each checked once. Raises ConfigError for the first that cannot be used, and for
    samples that cannot mean to the model what nothing but a guess takes them for; `metric` will compare them."""
    how = samples_of.Settings(image=settings.image, audio=settings.audio, limit=settings.limit)
    shown = settings.samples if settings.is_function else Path(settings.samples).name
    with console.step(f"read samples from {shown}"):
        inspection = samples_of.inspect(settings.samples, model, how)
    if inspection.errors:
        first, *rest = inspection.errors
        more = f" (and {len(rest)} more)" if rest else ""
        raise ConfigError(f"calibration samples of model '{model.name}': {first.text}{more}", hint=first.hint)
    for problem in inspection.problems:
        console.warn(f"calibration samples of model '{model.name}': {problem.text}")
    source = samples_of.source_of(settings.samples, model, how)
    if source.raw and (settings.image.is_stated or settings.audio.is_stated):
        console.warn(
            f"calibration samples of model '{model.name}': the contract converts them, so calibration.image and "
            "calibration.audio have no effect"
        )
    if assumption := assumed(source):
        console.warn(f"calibration samples of model '{model.name}': {assumption.sentence}")
        is_classifier = metric == "top1"
        refuse_meaningless(model, assumption, inspection.fingerprint, store, console, is_classifier=is_classifier)
    return calibration.Samples(
        reader=READER,
        description=samples_of.describe(settings.samples, model, how),
        fingerprint=inspection.fingerprint,
        count=inspection.count,
    )
