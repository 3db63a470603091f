"""Types of the JSON report; docs/report.schema.json is generated from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import DOCUMENT
from packager.core.values import Format, Style

Number = float | Literal["infinity", "-infinity", "not a number"]
"""a number, or its name if JSON cannot represent it"""
Verdict = Literal["passed", "failed", "not checked"]
State = Literal["passed", "failed", "refused", "skipped"]


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    name: str
    file: str
    """file name, without folders"""
    sha256: str
    size_bytes: int
    """including external data"""
    parameters: int
    opsets: Mapping[str, int]
    takes: tuple[str, ...] = ()
    """inputs that apps pass according to the model's contract, as text; empty without a contract"""
    gives: tuple[str, ...] = ()
    """outputs that apps get according to the contract, as text"""


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """A file of the release."""

    model: str
    variant: str
    quantizer: str
    style: Style
    format: Format
    processor: str
    """feature that the phone's processor must have: `FP16`; empty for every phone"""
    sha256: str
    size_bytes: int
    """including `data-files`"""
    data_files: tuple[str, ...]
    scales: "ScalesEntry | None" = None
    """scales that its quantizer has kept from the version before; null if it was not asked to"""


@dataclass(frozen=True, kw_only=True)
class ScalesEntry:
    """Scales of a variant that are those of the version before."""

    count: int
    kept: int
    own: tuple[str, ...]
    """tensors with scales of their own, and why, as text"""


@dataclass(frozen=True, kw_only=True)
class ChoiceEntry:
    """File that a provider opens, with the reason."""

    provider: str
    chips: tuple[str, ...]
    """chips whose devices alone open the file; empty for any"""
    style: Style
    format: Format
    sha256: str
    reason: str
    variant: str = ""
    """variant that these chips open in the place of the target's; empty for the target's own"""


@dataclass(frozen=True, kw_only=True)
class LeftOutEntry:
    """Provider of the target's defaults without a file of the model, with the reason."""

    provider: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AddedEntry:
    """Files of a variant that only devices with certain chips open."""

    variant: str
    chips: tuple[str, ...]
    size_bytes: int
    """of those that no other device opens"""


@dataclass(frozen=True, kw_only=True)
class PlanEntry:
    model: str
    target: str
    choices: tuple[ChoiceEntry, ...]
    """in the order in which they are tried; those of variants that only certain chips open come last"""
    left_out: tuple[LeftOutEntry, ...] = ()
    added: tuple[AddedEntry, ...] = ()
    """one for each of those variants"""


@dataclass(frozen=True, kw_only=True)
class OutputEntry:
    """Difference of one output from its reference, over all samples; errors are absolute, or shares of the scale: the
    largest finite magnitude of the reference on any sample, and at least that of the output's known range."""

    name: str
    max_abs_error: Number
    max_rel_error: Number
    """the largest absolute error divided by the scale"""
    scale: Number
    scale_from: str
    """origin of the scale, as text"""
    rtol: float | None
    """the largest absolute error may be atol + rtol * scale; null for another kind of limit"""
    atol: float | None
    mean_abs_error: Number
    cosine: Number
    sqnr_db: Number
    """infinity if nothing differs"""
    mismatches: int
    """number of values that are NaN or infinity on one side only, or differ as integers, booleans or strings"""
    numbers: int
    """number of compared values"""
    is_exact: bool
    """whether values must be equal"""
    top1_agreement: float | None
    """share of rows whose largest value is at the same index; null without rows"""
    top5_agreement: float | None
    worst_sample: int
    histogram: tuple[int, ...]
    """counts of errors as shares of the scale: 0, below 1e-9, 1e-8 ... 1, and above"""
    failure: str
    """why it is over its tolerance, as text; empty if it is within"""


@dataclass(frozen=True, kw_only=True)
class ParityEntry:
    """Comparison of a file or graph on one runner with its reference."""

    model: str
    variant: str
    runner: str
    label: str
    """the runner, with its processor if it has several"""
    style: Style
    sha256: str
    """sha256 of the file"""
    state: State
    runs_on: str
    """description of the runtime"""
    placed: int | None
    """number of nodes that the runner's provider took; null if unknown"""
    nodes: int | None
    against: str
    """description of the reference"""
    from_original: Number | None
    """largest error compared with the user's model, if that is not the reference"""
    from_original_samples: str
    """source of the samples for `from-original`, as text"""
    samples: str
    """source of the samples, as text"""
    sample_count: int
    tolerance: float
    """rtol, for outputs without their own tolerance: the largest allowed error is atol + rtol * scale"""
    atol: float
    outputs: tuple[OutputEntry, ...]
    conditioning: str
    """consequence of an ill-conditioned original, whose outputs change by more than the tolerance when inputs change in
    their last bits, as text; empty if no sample shows this"""
    not_compared: tuple[str, ...]
    """outputs that differ between two runs of the original, or have no number on any sample: NaN, infinite, empty"""
    reshaped: tuple[str, ...]
    """outputs whose actual shape contradicts the declared one"""
    skipped: str
    """why the runner did not run, as text; empty if it did"""
    refusal: str
    """the runtime's error if it did not run the file; empty if it did"""


@dataclass(frozen=True, kw_only=True)
class FailureEntry:
    """A comparison that blocks the release."""

    model: str
    variant: str
    runner: str
    style: Style
    sha256: str
    message: str
    hint: str
    node: str
    """the first node that computes a different result, as text"""
    evidence: str
    """name of the folder with the evidence; empty if there is none"""


@dataclass(frozen=True, kw_only=True)
class AgreementEntry:
    """Engines of different makes that ran the same graph. ONNX Runtime is one of them: its outputs of the original
    graph are the expected ones."""

    model: str
    variant: str
    sha256: str
    """of the graph"""
    engines: tuple[str, ...]
    agree: tuple[str, ...]
    """the majority, of which every two are within the tolerance; empty if there is none"""
    alone: tuple[str, ...]
    """engines outside of the majority"""
    within: Number
    """the largest error between engines of the majority, as a share of the output's scale"""
    apart: Number
    """the smallest error between one of the majority and one outside of it, as a share of the scale; 0 if all agree"""
    output: str
    """the output with that error; empty if all agree"""
    is_reference_alone: bool
    """whether ONNX Runtime itself is outside of the majority"""
    summary: str
    """all of this, as text"""


@dataclass(frozen=True, kw_only=True)
class FallbackEntry:
    """CPU fallbacks of a provider for one reason."""

    operator: str
    count: int
    reason: str
    example: str


@dataclass(frozen=True, kw_only=True)
class PartitionEntry:
    """The nodes that a provider takes of the file that it opens."""

    model: str
    target: str
    provider: str
    chips: tuple[str, ...]
    sha256: str
    by: str
    """source of the information"""
    is_measured: bool
    """whether the provider itself reported it"""
    nodes: int
    """of the model, without those of its contract"""
    taken: int
    partitions: int
    share: float | None
    """share of the MACs, 0 to 1; null if there are none, or if unknown"""
    left: tuple[FallbackEntry, ...]
    contract: str
    """fate of the nodes that a contract added, which count for nothing above, as text; empty without any"""
    refusal: str
    """why the provider cannot open the file, as text; empty if it can"""
    skipped: str
    """why nothing is known, as text; empty otherwise"""


@dataclass(frozen=True, kw_only=True)
class KernelsEntry:
    """Proof that every node of a file has a kernel in the runtime that ships."""

    model: str
    variant: str
    sha256: str
    runtime: str
    nodes: int
    by: str
    skipped: str
    """why it was not proven, as text; empty if it was"""


@dataclass(frozen=True, kw_only=True)
class LayerEntry:
    """Error of a layer after quantization."""

    name: str
    operator: str
    gives: Literal["integers", "float"]
    output_sqnr_db: Number
    """infinity if nothing differs"""
    weight_sqnr_db: Number | None
    """null if its weight is in float, or if it has none"""


@dataclass(frozen=True, kw_only=True)
class LayersEntry:
    model: str
    variant: str
    samples: int
    """number of samples for this comparison, spread evenly over the calibration samples"""
    layers: tuple[LayerEntry, ...]
    """in the order of the graph"""


@dataclass(frozen=True, kw_only=True)
class LatencyEntry:
    """Latency of one run of the user's model and of a variant: medians, with quartiles."""

    model: str
    variant: str
    machine: str
    is_emulated: bool
    """whether it ran in an emulator, so that only the ratio is meaningful"""
    original_ms: float
    original_spread_ms: tuple[float, float]
    variant_ms: float
    variant_spread_ms: tuple[float, float]
    ratio: float
    """variant divided by original: 0.5 is twice as fast"""
    runs: int
    skipped: str
    """why nothing was measured, as text; empty otherwise"""


@dataclass(frozen=True, kw_only=True)
class PipelineEntry:
    """A whole pipeline, run by the files that ship and by the originals."""

    pipeline: str
    targets: tuple[str, ...]
    runner: str
    state: State
    boxes: int
    """boxes that the originals found"""
    alike_boxes: int
    """those with the same pixels in both: later stages were compared on these"""
    max_rel_error: Number
    """largest error of an output of a stage, as a share of its scale"""
    result: str
    """the result as text, with the source of the samples"""


@dataclass(frozen=True, kw_only=True)
class ReportDocument:
    """Report of a check or a build about the files that ship."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    mobpack: str
    """version of mobpack that wrote the report"""
    converter: Mapping[str, str]
    """versions of the libraries that made the files"""
    verdict: Verdict
    """`not checked` if no runner ran"""
    failures: tuple[FailureEntry, ...]
    stopped_by: tuple[str, ...]
    """reasons other than failed comparisons that block the release, as text"""
    warnings: tuple[str, ...]
    models: tuple[ModelEntry, ...]
    files: tuple[FileEntry, ...]
    plans: tuple[PlanEntry, ...]
    parity: tuple[ParityEntry, ...]
    agreements: tuple[AgreementEntry, ...]
    """of engines of different makes; empty if none but ONNX Runtime ran"""
    pipelines: tuple[PipelineEntry, ...]
    partitions: tuple[PartitionEntry, ...]
    """by the rules of the providers: they decide"""
    measured: tuple[PartitionEntry, ...]
    """as the providers that run on this machine say themselves"""
    contradictions: tuple[str, ...]
    """differences between the two, as text"""
    kernels: tuple[KernelsEntry, ...]
    layers: tuple[LayersEntry, ...]
    """empty if nothing was quantized or measured"""
    latencies: tuple[LatencyEntry, ...]
    """empty if none was measured; builds measure none"""
