"""Decides whether a variant is worth shipping, by its size; and measures its latency, for reports."""

import json
from dataclasses import asdict
from pathlib import Path

from packager import samples
from packager.core import parsing
from packager.core.console import Console
from packager.core.errors import GateError
from packager.core.sample_settings import Settings
from packager.core.values import Model, Variant, baseline
from packager.files.store import Step, Store, content_key, key_of
from packager.quantization.measurement.gate import FileSizes
from packager.quantization.measurement.latency import Latency, latency
from packager.quantization.measurement.subject import MeasuredGraph
from packager.quantization.variants import BuiltVariant
from packager.samples import Samples
from packager.samples.reading import READER
from packager.verification import parity

LATENCY = Step(
    name="latency",
    caller=__name__,
    computed_by=(
        "packager.core.sample_settings",
        "packager.quantization.measurement.latency",
        "packager.verification.parity",
        "packager.samples",
        "packager.samples.reading",
    ),
    is_shared=False,
)
RANDOM_SAMPLES = 8
"""Number of random samples for a quantizer that needs none itself."""


def require_gain(made: BuiltVariant) -> None:
    """Raises GateError for a variant that is not smaller than its model. Latency does not count: what a build does is
    the same on every machine."""
    variant = made.variant
    if variant.weights is None:
        return
    sizes = FileSizes(float_bytes=variant.model.shipped_bytes, quantized_bytes=variant.size_bytes)
    if not sizes.is_smaller:
        raise GateError(
            f"model '{variant.model.name}', variant '{variant.name}': the quantized variant is not smaller than the "
            f"model: {sizes.words}",
            hint='another quantizer; or, if `mobpack bench` says that it is faster on your devices, gain = "skip" in '
            "[check]",
        )


def require_budget(made: BuiltVariant, console: Console, *, is_forced: bool = False) -> None:
    """Raises GateError for the result of a search that loses more than its budget on samples that were held out, unless
    `is_forced`; warns if a single sample may be the reason, and says why none were held out."""
    held_out = made.found.held_out if made.found else None
    if made.found is None or held_out is None:
        return
    which = f"model '{made.variant.model.name}', variant '{made.variant.name}'"
    if not held_out.count:
        console.say(f"  {which}: {held_out.why_none}")
        return
    told = (
        f"{which}: the drop is {made.found.drop:.3g} on the samples of the search, and {held_out.drop:.3g} on "
        f"{held_out.count} others: the budget is {made.found.budget:g}"
    )
    if held_out.drop <= made.found.budget:
        console.say(f"  {told}")
        return
    if is_forced or held_out.drop <= made.found.budget + held_out.resolution:
        console.warn(f"{told}; give more samples")
        return
    raise GateError(told, hint="give more samples, or allow more with max-drop")


def latency_of(made: BuiltVariant, store: Store, console: Console) -> Latency:
    """Latency of a variant with weights of its own and of its model, on this machine; measured once."""
    variant = made.variant
    assert variant.weights

    def make(folder: Path) -> None:
        with console.step(f"measure latency of {variant.model.name} ({variant.name})"), store.scratch() as scratch:
            original, quantized = subjects(made)
            used, _ = samples_for(variant.model, made.samples, scratch)
            found = latency(original, quantized, used, scratch)
        (folder / "latency.json").write_text(json.dumps(asdict(found)), encoding="utf-8", newline="\n")

    folder = store.results(LATENCY, graphs_of(variant), make)
    return Latency(**parsing.json_of((folder / "latency.json").read_text(encoding="utf-8")))


def graphs_of(variant: Variant) -> list[str]:
    """Keys that identify a quantized graph, its weights and its model."""
    return [key_of(variant.graph.hex()), content_key(variant.weights)]


def subjects(made: BuiltVariant) -> tuple[MeasuredGraph, MeasuredGraph]:
    """The float graph and the quantized one."""
    variant = made.variant
    return (
        MeasuredGraph(graph=made.graph, data_folder=variant.model.data_folder),
        MeasuredGraph(graph=variant.graph, data_folder=variant.data_folder),
    )


def samples_for(model: Model, given: Samples | None, scratch: Path) -> tuple[Samples, str]:
    """The `given` samples, or random ones that the model accepts; with a description."""
    if given:
        return given, f"{given.count} given"
    folder = scratch / "random"
    folder.mkdir()
    found = parity.random_inputs(baseline(model), folder, count=RANDOM_SAMPLES, seed=0).found.samples
    description = samples.describe(str(found.paths[0].parent), model, Settings())
    return Samples(reader=READER, description=description, count=len(found.paths)), found.description
