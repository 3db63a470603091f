"""Layer errors and latencies of variants for the report: measured once, cached by content."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from packager.core import parsing
from packager.core.console import Console
from packager.files.store import Step, Store
from packager.quantization.measurement.layers import LayerError, layer_errors
from packager.quantization.variants import BuiltVariant
from packager.quantization.worth import graphs_of, latency_of, samples_for, subjects
from packager.reporting.describing import Extras, MeasuredLatency

LAYERS = Step(
    name="layers",
    caller=__name__,
    computed_by=("packager.quantization.measurement.layers", "packager.quantization.worth"),
)


def measured(variants: Sequence[BuiltVariant], store: Store, console: Console, *, has_latency: bool = True) -> Extras:
    """The error of every layer of the quantized `variants`, and with `has_latency` their latency compared with their
    models. Releases omit latency, because their manifest must be reproducible.

    Raises ModelError when ONNX Runtime cannot run one of the graphs, ConfigError for samples that fail.
    """
    quantized = {(each.variant.model.name, each.variant.name): each for each in variants if each.variant.weights}
    return Extras(
        layers={key: _layers(made, store, console) for key, made in quantized.items()},
        latencies=tuple(
            MeasuredLatency(model=model, variant=variant, latency=latency_of(made, store, console))
            for (model, variant), made in quantized.items()
            if has_latency
        ),
    )


def _layers(made: BuiltVariant, store: Store, console: Console) -> tuple[LayerError, ...]:
    """Layer errors of the variant, from the store if the same graphs were compared before."""
    variant = made.variant

    def make(folder: Path) -> None:
        with (
            console.progress(f"compare layers of {variant.model.name} ({variant.name})") as advance,
            store.scratch() as scratch,
        ):
            original, quantized = subjects(made)
            used, _ = samples_for(variant.model, made.samples, scratch)
            found = [asdict(each) for each in layer_errors(original, quantized, used, scratch, advance)]
        (folder / "layers.json").write_text(json.dumps(found), encoding="utf-8", newline="\n")

    folder = store.results(LAYERS, graphs_of(variant), make)
    return tuple(LayerError(**each) for each in parsing.json_of((folder / "layers.json").read_text(encoding="utf-8")))
