"""The result of a set of rules for a graph: for every node, why a provider would not take it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Prediction of a provider's partitions of a graph, by the rules of its source code."""

    partitions: tuple[tuple[str, ...], ...]
    """names of the nodes of each partition, in their order"""
    left: Mapping[str, str]
    """node that it would leave to the CPU -> why, in words"""
    by: str
    """source of the rules: the provider and its version of ONNX Runtime"""
    refusal: str = ""
    """why the provider must not get the graph, in words: it fails with it, or computes it wrong; empty if it may"""
    fused: str = ""
    """the first node that the provider would join with another, which ONNX Runtime does not do in ORT format"""
