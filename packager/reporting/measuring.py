"""What quantization did to variants, for the report: measured once, kept by content."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from packager.console import Console
from packager.measurement.latency import Latency, latency
from packager.measurement.layers import LayerError, layer_errors
from packager.measurement.subject import Subject
from packager.quantization import Made
from packager.quantization.worth import samples_for, subjects
from packager.reporting.describing import Extras, MeasuredLatency
from packager.samples import Samples
from packager.store import Store, key_of

Measure = Callable[[Subject, Subject, Samples, Path], object]


def measured(variants: Sequence[Made], store: Store, console: Console) -> Extras:
    """The error of every layer of quantized `variants`, and their latency beside their models.

    Raises ModelError when ONNX Runtime cannot run one of the graphs, ConfigError for samples that fail.
    """
    quantized = {(each.variant.model.name, each.variant.name): each for each in variants if each.variant.weights}
    return Extras(
        layers={key: _layers(made, store, console) for key, made in quantized.items()},
        latencies=tuple(
            MeasuredLatency(model=model, variant=variant, latency=_latency(made, store, console))
            for (model, variant), made in quantized.items()
        ),
    )


def _layers(made: Made, store: Store, console: Console) -> tuple[LayerError, ...]:
    def measure(original: Subject, quantized: Subject, used: Samples, scratch: Path) -> object:
        with console.progress(f"compare layers of {_words(made)}") as advance:
            return [asdict(each) for each in layer_errors(original, quantized, used, scratch, advance)]

    return tuple(LayerError(**each) for each in _kept("layers", made, store, measure))


def _latency(made: Made, store: Store, console: Console) -> Latency:
    """The one that the gate of a build is judged by, where that was measured already."""

    def measure(original: Subject, quantized: Subject, used: Samples, scratch: Path) -> object:
        with console.step(f"measure latency of {_words(made)}"):
            return asdict(latency(original, quantized, used, scratch))

    return Latency(**_kept("latency", made, store, measure))


def _kept(kind: str, made: Made, store: Store, measure: Measure) -> Any:
    """What `measure` found, from the store when the same two graphs were measured before."""
    variant = made.variant
    assert variant.weights

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            original, quantized = subjects(made)
            used, _ = samples_for(variant.model, made.samples, original, scratch)
            found = measure(original, quantized, used, scratch)
        (folder / f"{kind}.json").write_text(json.dumps(found), encoding="utf-8")

    folder = store.results(kind, [key_of(variant.graph.hex()), variant.weights.parent.name], make)
    return json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))


def _words(made: Made) -> str:
    return f"{made.variant.model.name} ({made.variant.name})"
