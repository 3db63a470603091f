"""The report as JSON has it; docs/report.schema.json is made from these types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from packager.core.names import kebab_case
from packager.core.values import Format, Style

Number = float | Literal["infinity", "-infinity", "not a number"]
"""JSON has no infinity."""
Verdict = Literal["passed", "failed", "not checked"]
State = Literal["passed", "failed", "refused", "skipped"]


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    name: str
    file: str
    """its name, without folders"""
    sha256: str
    size_bytes: int
    """external data included"""
    parameters: int
    opsets: Mapping[str, int]
    takes: tuple[str, ...] = ()
    """what an app passes by the model's contract, in words; empty without one"""
    gives: tuple[str, ...] = ()
    """what it gets"""


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """A file that ships."""

    model: str
    variant: str
    quantizer: str
    style: Style
    format: Format
    processor: str
    """what only its phones have: `FP16`; empty for every phone"""
    sha256: str
    size_bytes: int
    """`data-files` included"""
    data_files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ChoiceEntry:
    """Which file a provider opens, and why."""

    provider: str
    chips: tuple[str, ...]
    """that the file was compiled for; empty for any"""
    style: Style
    format: Format
    sha256: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PlanEntry:
    model: str
    target: str
    choices: tuple[ChoiceEntry, ...]
    """in the order in which they are tried"""


@dataclass(frozen=True, kw_only=True)
class OutputEntry:
    """How far one output is from the expected one, over all samples; errors are absolute, or shares of the scale: the
    largest finite magnitude that is expected on any sample, and at least that of a range that the output is known to
    have."""

    name: str
    max_abs_error: Number
    max_rel_error: Number
    """the largest absolute error over the scale"""
    scale: Number
    scale_from: str
    """where the scale is from, in words"""
    rtol: float | None
    """the largest absolute error may be atol + rtol * scale; null where something else is asked of the output"""
    atol: float | None
    mean_abs_error: Number
    cosine: Number
    sqnr_db: Number
    """infinity where nothing differs"""
    mismatches: int
    """NaN or infinity in one alone; integers, booleans and strings that differ"""
    numbers: int
    """values that were compared"""
    is_exact: bool
    """whether nothing but equality counts"""
    top1_agreement: float | None
    """share of rows whose largest number is at the same place; null where there are no rows"""
    top5_agreement: float | None
    worst_sample: int
    histogram: tuple[int, ...]
    """of errors as shares of the scale: how many are 0, below 1e-9, 1e-8 ... 1, and the rest"""
    failure: str
    """why it is over its tolerance, in words; empty when it is within"""


@dataclass(frozen=True, kw_only=True)
class ParityEntry:
    """What a runner makes of a file or a graph, beside what it should compute."""

    model: str
    variant: str
    runner: str
    label: str
    """the runner, and its processor where it has several"""
    style: Style
    sha256: str
    """of the file"""
    state: State
    runs_on: str
    """what ran it, in words"""
    placed: int | None
    """nodes that the runner's provider took; null where nobody says so"""
    nodes: int | None
    against: str
    """what it was compared with, in words"""
    from_original: Number | None
    """largest error beside the user's model, where that is not what it was compared with"""
    from_original_samples: str
    """where the samples of that came from, in words"""
    samples: str
    """where they came from, in words"""
    sample_count: int
    tolerance: float
    """rtol, for outputs without a tolerance of their own: the largest allowed error is atol + rtol * scale"""
    atol: float
    outputs: tuple[OutputEntry, ...]
    conditioning: str
    """what it means that the original itself moves by more than is allowed when inputs change in their last bits, in
    words; empty where no sample showed it"""
    not_compared: tuple[str, ...]
    """outputs that differ between two runs of the original"""
    reshaped: tuple[str, ...]
    """outputs whose real shape contradicts the declared one"""
    skipped: str
    """why the runner did not run, in words; empty when it did"""
    refusal: str
    """what the runtime said when it did not run the file; empty when it did"""


@dataclass(frozen=True, kw_only=True)
class FailureEntry:
    """A comparison that stops a release."""

    model: str
    variant: str
    runner: str
    style: Style
    sha256: str
    message: str
    hint: str
    node: str
    """what is known of the first node that computes something else, in words"""
    evidence: str
    """name of the folder with what shows it; empty where there is none"""


@dataclass(frozen=True, kw_only=True)
class LeftEntry:
    """Nodes that a provider leaves to the CPU, for one reason."""

    operator: str
    count: int
    reason: str
    example: str


@dataclass(frozen=True, kw_only=True)
class PartitionEntry:
    """What a provider takes of the file that it opens."""

    model: str
    target: str
    provider: str
    chips: tuple[str, ...]
    sha256: str
    by: str
    """who says so"""
    is_measured: bool
    """whether the provider itself was asked"""
    nodes: int
    taken: int
    partitions: int
    share: float | None
    """of the multiply-adds, 0 to 1; null where there are none, or nobody knows"""
    left: tuple[LeftEntry, ...]
    refusal: str
    """why the provider cannot open the file, in words; empty when it can"""
    skipped: str
    """why nothing can be said, in words; empty when something is"""


@dataclass(frozen=True, kw_only=True)
class KernelsEntry:
    """That every node of a file has a kernel in the runtime that ships."""

    model: str
    variant: str
    sha256: str
    runtime: str
    nodes: int
    by: str
    skipped: str
    """why it was not proven, in words; empty when it was"""


@dataclass(frozen=True, kw_only=True)
class LayerEntry:
    """What quantization did to a layer."""

    name: str
    operator: str
    gives: Literal["integers", "float"]
    output_sqnr_db: Number
    """infinity where nothing differs"""
    weight_sqnr_db: Number | None
    """null where its weight is in float, or there is none"""


@dataclass(frozen=True, kw_only=True)
class LayersEntry:
    model: str
    variant: str
    samples: int
    """on how many the layers were compared, from the first to the last of those that ranges were measured on"""
    layers: tuple[LayerEntry, ...]
    """in the order of the graph"""


@dataclass(frozen=True, kw_only=True)
class LatencyEntry:
    """How long one run takes, the user's model and a variant of it: medians, and the quartiles around them."""

    model: str
    variant: str
    machine: str
    is_emulated: bool
    """whether only the ratio says something"""
    original_ms: float
    original_spread_ms: tuple[float, float]
    variant_ms: float
    variant_spread_ms: tuple[float, float]
    ratio: float
    """variant for original: 0.5 is twice as fast"""
    runs: int
    skipped: str
    """why nothing was measured, in words; empty when something was"""


@dataclass(frozen=True, kw_only=True)
class ReportDocument:
    """What a check or a build found out about the files that ship."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "alias_generator": kebab_case,
        "extra": "forbid",
        "use_attribute_docstrings": True,
    }

    schema_version: Literal[1]
    mobpack: str
    """the version that wrote this"""
    converter: Mapping[str, str]
    """versions of the libraries that made the files"""
    verdict: Verdict
    """`not checked` where no runner ran"""
    failures: tuple[FailureEntry, ...]
    stopped_by: tuple[str, ...]
    """what else stops the release, in words"""
    warnings: tuple[str, ...]
    models: tuple[ModelEntry, ...]
    files: tuple[FileEntry, ...]
    plans: tuple[PlanEntry, ...]
    parity: tuple[ParityEntry, ...]
    partitions: tuple[PartitionEntry, ...]
    kernels: tuple[KernelsEntry, ...]
    layers: tuple[LayersEntry, ...]
    """empty where nothing was quantized, or where nobody measured it"""
    latencies: tuple[LatencyEntry, ...]
    """empty where nobody measured any: builds do not"""
