"""Inputs and results of a bisection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from packager.core.findings import OutputError
from packager.engines.runners import Runner


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two sides: a file and its runner."""

    label: str
    """its name in messages: `the original`, `arm64 cortex-a53`"""
    path: Path
    """an .ort file, or a serialized ModelProto"""
    data_folder: Path | None
    """folder of the external data of a ModelProto, if it is not the model's own"""
    runner: Runner
    settings: Mapping[str, str] = field(default_factory=dict)
    is_optimized: bool = True
    needs_fp16: bool = False


class BisectionKind(StrEnum):
    """Kind of a result."""

    NODE = "node"
    """one node computes something else from the same inputs"""
    ORDER = "order"
    """the outputs are right, but have each other's names"""
    FUSION = "fusion"
    """the nodes are right one by one, but not as the runtime merges them"""
    REFUSAL = "refusal"
    """one side does not run at all on samples that the other side runs on"""
    CONDITIONING = "conditioning"
    """no single node is at fault, and the first side moves as far by itself when its inputs change in the last bits"""
    GROWTH = "growth"
    """no single node is at fault: small errors add up"""
    AGREEMENT = "agreement"
    """the outputs do not part"""


@dataclass(frozen=True, kw_only=True)
class ValueDifference:
    """A value that both sides have. Errors are relative to its largest number on the first side."""

    node: str
    """name of the node that computes it"""
    operator: str
    value: str
    max_rel_error: float
    """accumulated over everything up to it"""
    sqnr_db: float
    """10 log10(sum a^2 / sum (a - b)^2) of the same; infinity if nothing differs"""
    local_rel_error: float | None = None
    """of its node alone, given the first side's values; None if `max_rel_error` is too small to measure it"""
    local_sqnr_db: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bisection:
    """The place where two sides part."""

    kind: BisectionKind
    words: str
    """the result in a sentence or two"""
    node: str | None = None
    """name of the node at fault, or of its first output if it has none; None if it is no single node"""
    operator: str = ""
    value: str = ""
    """the output of that node which is wrong"""
    sample: int = 0
    """index of the sample on which the two differ most"""
    local_error: OutputError | None = None
    """of `value`, computed by the second side from values of the first"""
    layers: tuple[ValueDifference, ...] = ()
    """compared values, in the order of the graph, up to the fault"""
    notes: tuple[str, ...] = ()
    """values that could not be compared, and why"""
    repro: Path | None = None
    """folder with the node alone, its inputs, and a program that shows the difference"""
