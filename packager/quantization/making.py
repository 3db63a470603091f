"""Lets a quantizer rewrite a graph, into a folder or in place."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from packager import models
from packager.core.values import FloatLayer, Model, Range, Variant
from packager.graph.weights.writing import WeightFile
from packager.quantizers import Quantizer
from packager.rewriting.draft import draft_of

GRAPH, WEIGHTS, LEFT = "graph.onnx", "weights.bin", "left.json"


def quantize(
    graph: bytes, data_folder: Path, quantizer: Quantizer, ranges: Mapping[str, Range], folder: Path
) -> tuple[FloatLayer, ...]:
    """Writes the graph that `quantizer` makes of `graph` to `folder`, and returns the layers it left in float."""
    weights = folder / WEIGHTS
    weights.touch()  # even if all weights are small enough for the graph: the variant has weights of its own
    draft = replace(draft_of(graph, data_folder), weights=WeightFile(weights), ranges=ranges)
    quantizer.quantize(draft)
    (folder / GRAPH).write_bytes(draft.finish())
    left = tuple(draft.left)
    (folder / LEFT).write_text(json.dumps([asdict(each) for each in left]), encoding="utf-8", newline="\n")
    return left


def read_variant(folder: Path, model: Model, name: str, quantizer: str) -> Variant:
    """The variant that `quantize` wrote to `folder`."""
    return models.derived(
        model,
        name=name,
        graph=(folder / GRAPH).read_bytes(),
        quantizer=quantizer,
        weights=folder / WEIGHTS,
        left=tuple(FloatLayer(**each) for each in json.loads((folder / LEFT).read_text(encoding="utf-8"))),
    )
