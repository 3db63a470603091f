"""Types of the JSON that `mobpack bench` writes; docs/bench.schema.json is generated from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import DOCUMENT
from packager.measuring.bench.statistics import Verdict


@dataclass(frozen=True, kw_only=True)
class MachineEntry:
    """The machine, and what disturbed it."""

    processor: str
    architecture: str
    system: str
    cores: int
    """that mobpack may use"""
    governor: str
    """policy of the clock frequency; empty if the system does not tell"""
    load_before: float | None
    """average number of running programs over a minute, before the measurement; null if the system does not tell"""
    steal: float | None
    """share of the time that the host of a virtual machine took during the measurement; null if unknown"""
    disturbances: tuple[str, ...]
    """sentences about what makes the times uncertain"""


@dataclass(frozen=True, kw_only=True)
class MethodEntry:
    """How times were taken."""

    threads: int
    pinned_cores: tuple[int, ...]
    """numbers of the cores that all threads ran on; empty if the system cannot pin"""
    rounds: int
    rounds_done: int
    """complete ones"""
    seconds: float
    """longest time of the timed runs of a round"""
    runs: int
    """maximum number of timed runs of a round"""
    warm_up_seconds: float
    confidence: float
    """of the intervals of medians, from a two-stage bootstrap over rounds and runs"""


@dataclass(frozen=True, kw_only=True)
class InputEntry:
    """The inputs that all files of a model ran on."""

    model: str
    samples: str
    """where they come from, as text"""
    shapes: tuple[str, ...]
    """`name: 1 x 3 x 224 x 224`"""
    batch: int
    """number of items in one run"""


@dataclass(frozen=True, kw_only=True)
class RoundEntry:
    """One round of a row."""

    times_ns: tuple[int, ...]
    """every timed run in order, outliers too"""
    warm_up_ns: tuple[int, ...]
    cpu_ns: int
    """CPU time of the process during the timed runs, all threads"""
    load_ms: float | None
    """null if the session was open already, or if its program does not tell"""
    peak_bytes: int | None
    base_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class RowEntry:
    """A file or a graph on a runner. Times are of one run, from inputs in memory to outputs in memory."""

    number: int
    model: str
    variant: str
    file: str
    """`graph`, or the kind and the sha256 of a file that ships"""
    is_original: bool
    """whether it is the user's model itself"""
    sha256: str
    """of the file, or of the graph without its weights"""
    size_bytes: int
    ships_for: tuple[str, ...]
    """targets and providers that open the file"""
    runner: str
    about: str
    """the runtime, as text"""
    placed: int | None
    """number of nodes that the provider runs; null if unknown"""
    nodes: int | None
    threads: int
    p50_ms: float
    p50_low_ms: float
    """ends of the interval of the median"""
    p50_high_ms: float
    p90_ms: float
    p99_ms: float | None
    """null for fewer than 100 runs"""
    slowest_ms: float
    runs: int
    outliers: int
    """runs beyond the third quartile plus three interquartile ranges"""
    round_medians_ms: tuple[float, ...]
    is_noisy: bool
    """whether medians of rounds differ by a tenth of the median or more"""
    items_per_second: float
    """batch divided by the median"""
    load_ms: float | None
    """median over the rounds; null if its program does not tell"""
    peak_bytes: int | None
    """largest memory of the process; null if the system does not tell"""
    base_bytes: int | None
    """memory of the process before it opened the model"""
    cpu_ms: float
    """CPU time of one run, all threads: a measure of energy"""
    ratio: float
    """median divided by that of the model's first row"""
    ratio_low: float
    ratio_high: float
    """ends of the interval of the ratio, at 99 %"""
    error: float | None
    """largest difference from the original's outputs, as a share of their scale; null for random outputs, and if
    `differs`"""
    differs: bool
    """whether outputs have other shapes than the original's, other integers or texts, or NaN elsewhere"""
    rounds: tuple[RoundEntry, ...]


@dataclass(frozen=True, kw_only=True)
class SkippedEntry:
    """A runner, or a file on a runner, that was not timed."""

    runner: str
    model: str
    """empty if the runner cannot run at all"""
    file: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ComparisonEntry:
    """A row beside the same row of an earlier run."""

    number: int
    """of the row"""
    before_ms: float
    ratio: float
    """median now divided by the median before"""
    ratio_low: float
    ratio_high: float
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class BenchDocument:
    """Result of `mobpack bench`."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    mobpack: str
    """version of mobpack that measured"""
    is_partial: bool
    """whether the measurement was interrupted: rows have fewer rounds, and some are missing"""
    machine: MachineEntry
    method: MethodEntry
    inputs: tuple[InputEntry, ...]
    rows: tuple[RowEntry, ...]
    skipped: tuple[SkippedEntry, ...]
    baseline: str
    """name of the file with earlier results; empty without one"""
    comparisons: tuple[ComparisonEntry, ...]
    failed_gates: tuple[str, ...]
    """gates of --fail-on that were not met, as text"""
