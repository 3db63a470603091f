"""What a set of rules says about a graph: for every node, why a provider would not take it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a provider would take of a graph, by the rules of its source code."""

    partitions: tuple[tuple[str, ...], ...]
    """names of the nodes that it would run as one, in their order"""
    left: Mapping[str, str]
    """node that it would leave to the CPU -> why, in words"""
    by: str
    """whose rules: the provider and the version of ONNX Runtime that they were read from"""
