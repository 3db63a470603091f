"""What a bisection takes and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from packager.core.findings import OutputError
from packager.runners import Runner


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two that part: a file and what runs it."""

    label: str
    """what it is called in messages: `the original`, `arm64 cortex-a53`"""
    path: Path
    """an .ort file, or a serialized ModelProto"""
    data_folder: Path | None
    """folder of the external data of a ModelProto, where that is not the model's own"""
    runner: Runner
    settings: Mapping[str, str] = field(default_factory=dict)
    is_optimized: bool = True
    needs_fp16: bool = False


class Kind(StrEnum):
    """What was found."""

    NODE = "node"
    """one node gives something else, though it is given the same"""
    ORDER = "order"
    """the outputs are right, but carry each other's names"""
    FUSION = "fusion"
    """the nodes are right one by one; what the runtime makes of several is not"""
    REFUSAL = "refusal"
    """one side does not run at all on what the other side runs on"""
    CONDITIONING = "conditioning"
    """no node is at fault alone, and the first side moves as far by itself when its inputs change in the last bits"""
    GROWTH = "growth"
    """no node is at fault alone: small errors add up"""
    AGREEMENT = "agreement"
    """the outputs do not part"""


@dataclass(frozen=True, kw_only=True)
class ValueDifference:
    """A value that both sides have. Errors are shares of the largest number that it has on the first side."""

    node: str
    """what gives it, by name"""
    operator: str
    value: str
    max_rel_error: float
    """of all that happened up to it"""
    sqnr_db: float
    """10 log10(sum a^2 / sum (a - b)^2) of the same; infinity where nothing differs"""
    local_rel_error: float | None = None
    """of its node alone, given what the first side has; None where `max_rel_error` is too small to ask"""
    local_sqnr_db: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bisection:
    """Where two sides part."""

    kind: Kind
    words: str
    """all of it in a sentence or two"""
    node: str | None = None
    """name of the node at fault, or of its first output where it has none; None where it is no single one"""
    operator: str = ""
    value: str = ""
    """the output of that node which is wrong"""
    sample: int = 0
    """index of the sample on which the two are the farthest apart"""
    local_error: OutputError | None = None
    """of `value`, computed by the second side from what the first side has"""
    layers: tuple[ValueDifference, ...] = ()
    """what was compared, in the order of the graph, up to what was found"""
    notes: tuple[str, ...] = ()
    """values that could not be compared, and why"""
    repro: Path | None = None
    """folder with the node alone, what it was given, and a program that shows the difference"""
