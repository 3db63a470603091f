"""Lets a quantizer rewrite a graph, into a folder or in place."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from packager import models
from packager.core import parsing
from packager.core.quantized import FloatLayer, Range, ScaleChoice
from packager.core.values import Model, Variant
from packager.graph.rewriting.draft import draft_of
from packager.graph.rewriting.scales import Scales
from packager.graph.weights.writing import WeightFile
from packager.quantization.scales import NO_SCALES, Earlier, write
from packager.quantizers import Quantizer

GRAPH, WEIGHTS, LEFT = "graph.onnx", "weights.bin", "left.json"
NO_MOMENTS: Mapping[str, Path] = {}
SCALES, CHOICES = "scales.safetensors", "scales.json"


def quantize(
    graph: bytes,
    data_folder: Path,
    quantizer: Quantizer,
    ranges: Mapping[str, Range],
    folder: Path,
    earlier: Earlier = NO_SCALES,
    moments: Mapping[str, Path] = NO_MOMENTS,
) -> tuple[FloatLayer, ...]:
    """Writes the graph that `quantizer` makes of `graph` to `folder`, and returns the layers it left in float. Scales
    of `earlier` are kept where they fit.

    Raises ConfigError for scales of another quantizer.
    """
    earlier.refuse_other(quantizer)
    weights = folder / WEIGHTS
    weights.touch()  # even if all weights are small enough for the graph: the variant has weights of its own
    scales = Scales(earlier=earlier.scales)
    draft = replace(draft_of(graph, data_folder), weights=WeightFile(weights), ranges=ranges, scales=scales)
    draft.moments = moments
    quantizer.quantize(draft)
    (folder / GRAPH).write_bytes(draft.finish())
    left = tuple(draft.left)
    (folder / LEFT).write_text(json.dumps([asdict(each) for each in left]), encoding="utf-8", newline="\n")
    if scales.used:
        write(folder / SCALES, scales, quantizer)
    choices = [asdict(each) for each in scales.choices()]
    (folder / CHOICES).write_text(json.dumps(choices), encoding="utf-8", newline="\n")
    return left


def read_variant(folder: Path, model: Model, name: str, quantizer: str, earlier: Earlier = NO_SCALES) -> Variant:
    """The variant that `quantize` wrote to `folder`. Raises ConfigError for `earlier` scales of another model."""
    choices = parsing.json_of((folder / CHOICES).read_text(encoding="utf-8"))
    found = models.derived(
        model,
        name=name,
        graph=(folder / GRAPH).read_bytes(),
        quantizer=quantizer,
        weights=folder / WEIGHTS,
        left=tuple(FloatLayer(**each) for each in parsing.json_of((folder / LEFT).read_text(encoding="utf-8"))),
    )
    return replace(
        found,
        scales=folder / SCALES if choices else None,
        kept_scales=earlier.kept(tuple(ScaleChoice(**each) for each in choices)),
    )
