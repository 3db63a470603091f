"""Results of the checks on the files that ship."""

import math
from dataclasses import dataclass
from pathlib import Path

from packager.core.cost import Estimate
from packager.core.values import Style

NUMBERS_IN_JSON = {"ser_json_inf_nan": "strings"}
"""Pydantic setting for these values: JSON has no infinity."""


LARGEST_VALUE = "its largest value"
"""Source of an output's scale, unless its values have a known range."""
DECADES = 10
"""Number of powers of ten below an output's scale that a histogram of errors distinguishes."""


@dataclass(frozen=True, kw_only=True)
class OutputError:
    """Difference between an output and the expected one, over all samples. Errors are absolute, or relative to the
    scale: the largest finite magnitude that is expected on any sample, and at least that of the output's known
    range."""

    __pydantic_config__ = NUMBERS_IN_JSON

    output: str
    max_abs_error: float
    """largest |a - b|; infinity where exactly one of the two is NaN or infinite, or integers differ"""
    max_rel_error: float
    """the largest absolute error divided by the scale"""
    worst_sample: int
    scale: float = 0.0
    scale_from: str = LARGEST_VALUE
    """source of the scale, in words"""
    rtol: float | None = None
    """tolerance: the largest absolute error may be atol + rtol * scale. None if the output is judged otherwise"""
    atol: float | None = None
    mean_abs_error: float = 0.0
    """over the numbers that are finite in both"""
    cosine: float = 1.0
    """between the two as vectors, all samples concatenated"""
    sqnr_db: float = math.inf
    """10 log10(sum a^2 / sum (a - b)^2); infinity where nothing differs"""
    mismatch_count: int = 0
    """NaN or infinity in only one of the two; integers, booleans and strings that differ"""
    number_count: int = 0
    """number of values compared"""
    finite_count: int = 0
    """numbers that were finite in both; values that must be equal are not counted"""
    is_exact: bool = False
    """whether values must be equal: strings, booleans, integers wider than 8 bits"""
    top1_agreement: float | None = None
    """share of rows (last axis) with the largest number at the same index; None if there are no rows"""
    top5_agreement: float | None = None
    """share of rows whose largest expected number is among the five largest"""
    histogram: tuple[int, ...] = ()
    """number of values with |error| / scale of 0, below 10^-9, 10^-8 ... 1, and the rest"""
    failure: str = ""
    """why it exceeds its tolerance, in words; empty if it does not"""


@dataclass(frozen=True, kw_only=True)
class IllConditioned:
    """A sample that is useless for comparison: last-bit changes of the input move the model's own output by more than
    the tolerance."""

    __pydantic_config__ = NUMBERS_IN_JSON

    sample: int
    output: str
    """the output that moves the most relative to its tolerance"""
    moves_by: float
    """largest |a - b|; infinity where the size or integers change, or numbers become NaN or infinite"""
    scale: float

    @property
    def words(self) -> str:
        by = f"by {self.moves_by:.3g} of {self.scale:.3g}"
        how = "to another size, other integers, NaN or infinity" if math.isinf(self.moves_by) else by
        return f"ill-conditioned: the model itself moves {how} (output '{self.output}')"


@dataclass(frozen=True, kw_only=True)
class Parity:
    """Comparison of a runner's outputs for a file or a graph with the expected ones."""

    __pydantic_config__ = NUMBERS_IN_JSON

    model: str
    variant: str
    runner: str
    """name of the runner: `cpu`, `arm64` ..."""
    label: str = ""
    """name and, where a runner has several, the processor"""
    runs_on: str = ""
    """runtime and machine, in words"""
    placed: int | None = None
    """nodes that the runner's provider took; None if the runtime does not report it"""
    node_count: int | None = None
    sample_count: int
    samples: str
    """source of the samples, in words"""
    tolerance: float
    """rtol: largest allowed error is atol + rtol * scale, for outputs without a tolerance of their own"""
    atol: float = 0.0
    outputs: tuple[OutputError, ...]
    style: Style = Style.FIXED
    sha256: str = ""
    """of the file"""
    against: str = "the original"
    """reference of the comparison, in words"""
    from_original: float | None = None
    """max_rel_error of its float outputs against the user's model, if that is not the reference"""
    distances: tuple[OutputError, ...] = ()
    """errors against the user's model, one by one; a failure among them is one of the variant, not of the file"""
    distance_samples: str = ""
    """source of the samples of `distances`, in words"""
    strays: tuple[OutputError, ...] = ()
    """outputs of the variant that are too far from the model on `samples`, where `distance_samples` differ: not
    failures"""
    reshaped_outputs: tuple[str, ...] = ()
    """outputs whose real shape contradicts the declared one: packages treat them as dynamic"""
    ill_conditioned: tuple[IllConditioned, ...] = ()
    """samples excluded from all figures, unless all samples are; random samples were replaced by others"""
    is_judged_locally: bool = False
    """whether all samples are ill-conditioned: the figures then include them, and nodes are judged one by one"""
    nodes_not_judged: str = ""
    """why nodes were not judged one by one although all samples are ill-conditioned, in words; empty if they were"""
    unstable_outputs: tuple[str, ...] = ()
    """outputs that differ between two runs of the original (random operators): not compared"""
    skipped: str = ""
    """why this runner did not run, in words; empty if it did"""
    refusal: str = ""
    """the runtime's message when it refused the file; empty if it ran"""
    is_opened: bool = False
    """after a refusal: whether the file opened, and a sample was then refused or crashed"""

    @property
    def conditioning(self) -> str:
        """Effect of ill-conditioned samples on the comparison, in words; empty if there are none."""
        if not self.ill_conditioned:
            return ""
        count = len({each.sample for each in self.ill_conditioned})
        worst = max(self.ill_conditioned, key=lambda each: each.moves_by / each.scale)
        how = "every sample is, and nodes were judged one by one" if self.is_judged_locally else "others were compared"
        if self.nodes_not_judged:
            how = f"every sample is, and mobpack failed to judge nodes one by one: {self.nodes_not_judged}"
        return f"{worst.words} on {count} of the samples; {how}"

    @property
    def max_abs_error(self) -> float:
        return max((output.max_abs_error for output in self.outputs), default=0.0)

    @property
    def max_rel_error(self) -> float:
        return max((output.max_rel_error for output in self.outputs), default=0.0)

    @property
    def has_run(self) -> bool:
        """Whether there are any results to compare."""
        return not self.skipped and not self.refusal

    @property
    def without_numbers(self) -> tuple[str, ...]:
        """Outputs whose values are all NaN or infinite: their equality proves nothing."""
        return tuple(
            each.output for each in self.outputs if each.number_count and not each.finite_count and not each.is_exact
        )

    @property
    def empty_outputs(self) -> tuple[str, ...]:
        """Outputs without a single value on any sample: nothing was compared."""
        return tuple(each.output for each in self.outputs if not each.number_count)

    @property
    def compared_outputs(self) -> tuple[OutputError, ...]:
        """Outputs with numbers that were compared, and those that failed."""
        void = {*self.without_numbers, *self.empty_outputs}
        return tuple(each for each in self.outputs if each.failure or each.max_abs_error or each.output not in void)

    @property
    def not_compared(self) -> tuple[str, ...]:
        """Outputs that are random, and those without a number on any sample: NaN, infinite, or empty."""
        compared = {each.output for each in self.compared_outputs}
        return (*self.unstable_outputs, *(each.output for each in self.outputs if each.output not in compared))

    @property
    def nothing_compared(self) -> str:
        """Why the comparison says nothing, in words; empty if it does, or did not run."""
        if not self.has_run or self.compared_outputs or not self.not_compared:
            return ""
        return "not compared: on every sample all outputs are NaN, infinite, empty or random"

    @property
    def result(self) -> str:
        """The result of a comparison that ran and did not fail, in words."""
        if self.nothing_compared:
            return f"{self.nothing_compared} ({self.samples})"
        if self.nodes_not_judged:
            return f"not compared: its outputs are ill-conditioned on every sample ({self.samples})"
        if self.is_judged_locally:
            return (
                f"compared node by node with {self.against}: its outputs are ill-conditioned on every sample "
                f"({self.samples})"
            )
        names = ", ".join(f"'{each}'" for each in self.not_compared)
        rest = f"; not compared: {names}" if names else ""
        return f"equals {self.against} within {self.atol:g} + {self.tolerance:g} x scale ({self.samples}){rest}"

    @property
    def over(self) -> tuple[OutputError, ...]:
        """Outputs that exceed their tolerance."""
        return tuple(output for output in self.outputs if output.failure)

    @property
    def has_failed(self) -> bool:
        return bool(self.refusal or self.over or self.too_far)

    @property
    def too_far(self) -> tuple[OutputError, ...]:
        """Outputs of the variant that are farther from the user's model than allowed."""
        return tuple(output for output in self.distances if output.failure)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Engines of different makes that ran one graph, and which of them agree. `within` and `apart` are shares of the
    output's scale."""

    __pydantic_config__ = NUMBERS_IN_JSON

    model: str
    variant: str
    sha256: str
    """of the graph"""
    engines: tuple[str, ...]
    """the first is ONNX Runtime, whose outputs of the original graph are the expected ones"""
    agree: tuple[str, ...]
    """the majority: engines of which every two are within the tolerance; empty if there is none"""
    within: float = 0.0
    """the largest error between those that agree"""
    apart: float = 0.0
    """the smallest of the errors between an engine of the majority and one outside of it"""
    output: str = ""
    """the output with that error"""

    @property
    def alone(self) -> tuple[str, ...]:
        """Engines outside of the majority."""
        return tuple(each for each in self.engines if each not in self.agree) if self.agree else ()

    @property
    def is_reference_alone(self) -> bool:
        """Whether ONNX Runtime, whose outputs are the expected ones, is outside of the majority."""
        return self.engines[0] in self.alone

    @property
    def words(self) -> str:
        if not self.agree:
            if len(self.engines) == 2:
                return f"{_listed(self.engines)} differ; name a third engine in runners to decide"
            return f"{_listed(self.engines)} differ, and no majority of them agrees"
        together = f"{_listed(self.agree)} agree within {self.within:.2g} of the scale"
        if not self.alone:
            return together
        stand = "stands alone" if len(self.alone) == 1 else "differ from the majority"
        expected = ", and the expected outputs are its own" if self.is_reference_alone else ""
        apart = f"output '{self.output}' differs by {self.apart:.2g}"
        return f"{_listed(self.alone)} {stand}{expected}: {together}, and {apart}"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A comparison that stops a release."""

    parity: Parity
    message: str
    """message for the user: what is wrong and where"""
    hint: str
    evidence: Path | None = None
    """folder with files that reproduce it"""
    node: str = ""
    """description of the first node that computes a different result"""


@dataclass(frozen=True, kw_only=True)
class CpuFallback:
    """CPU fallback: nodes that a provider leaves to the CPU, for one reason."""

    operator: str
    count: int
    reason: str
    example: str
    """name of the first of them"""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """The part of a model's graph that a provider takes of a file."""

    model: str
    target: str
    provider: str
    sha256: str
    """of the file"""
    soc_models: tuple[str, ...] = ()
    """chips that the file was compiled for; empty for any"""
    taken_count: int = 0
    """nodes of the model that the provider runs"""
    node_count: int = 0
    """nodes of the model in the file, without those that a contract added"""
    added_count: int = 0
    """nodes that the contract added before and after the model"""
    added_taken_count: int = 0
    """those that the provider runs, too: they count for nothing else here"""
    partition_count: int = 0
    """partitions of the model on the provider: every border between two is a copy"""
    mac_node_count: int = 0
    """nodes with MACs that the provider runs, those that the contract added among them"""
    share: float | None = None
    """of the model's MACs, 0 to 1, estimated from shapes; None if it has no operator with MACs"""
    estimate: Estimate | None = None
    """how long a run takes; None without nodes that the provider takes, or if what it costs is unknown"""
    left: tuple[CpuFallback, ...] = ()
    by: str = ""
    """source of the result: the provider itself, or rules derived from its source code"""
    is_measured: bool = False
    """True if the provider itself was asked, False for rules"""
    refusal: str = ""
    """why the provider cannot open the file, or must not run it because it computes it wrong, in words; empty if it
    may"""
    skipped: str = ""
    """why there is no result, in words; empty if there is one"""

    @property
    def contract(self) -> str:
        """Fate of the nodes that a contract added, in words; empty without any, and without a result."""
        if not self.added_count or self.skipped or self.refusal:
            return ""
        taken, left = self.added_taken_count, self.added_count - self.added_taken_count
        where = f"{self.provider} runs {taken} of them, the CPU {left}" if taken else "the CPU runs them"
        return f"the contract adds {self.added_count} nodes before and after the model: {where}"


@dataclass(frozen=True, kw_only=True)
class KernelProof:
    """Proof that every node of a file has a kernel in the runtime that ships."""

    model: str
    variant: str
    sha256: str
    """of the file"""
    runtime: str
    node_count: int
    """nodes of the graph after the runtime's own rewrites"""
    by: str
    """method of the proof, in words"""
    skipped: str = ""
    """why there is no proof, in words"""


@dataclass(frozen=True, kw_only=True)
class PipelineProof:
    """Comparison of a whole pipeline: what files that ship compute of a picture, and what the originals do."""

    __pydantic_config__ = NUMBERS_IN_JSON

    pipeline: str
    places: tuple[str, ...] = ()
    """targets that ship the files"""
    runner: str
    """its label"""
    samples: str
    """source of the samples, in words"""
    count: int = 0
    """boxes that the originals found"""
    alike_count: int = 0
    """boxes with the same pixels in both: later stages were compared on these"""
    max_rel_error: float = 0.0
    """largest error of an output of a stage, as a share of its scale"""
    failure: str = ""
    """why the release stops, in words; empty if it does not"""
    skipped: str = ""
    """why the runner did not run, in words"""

    @property
    def words(self) -> str:
        """The result in words."""
        if self.skipped or self.failure:
            return f"skipped: {self.skipped}" if self.skipped else f"FAILED: {self.failure}"
        if not self.count:
            return f"found no box ({self.samples}): give pictures with [parity] samples"
        cut = "" if self.alike_count == self.count else f", {self.alike_count} of them with the same pixels"
        return f"{self.count} boxes{cut}, largest error {self.max_rel_error:.2g} of the scale ({self.samples})"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The evidence that travels with a release."""

    parities: tuple[Parity, ...]
    partitions: tuple[Partition, ...] = ()
    """by the rules of the providers: they decide"""
    measured: tuple[Partition, ...] = ()
    """as the providers that run on this machine say themselves: evidence of the machine"""
    kernels: tuple[KernelProof, ...] = ()
    failures: tuple[Failure, ...] = ()
    """comparisons that stop the release"""
    agreements: tuple[Agreement, ...] = ()
    pipelines: tuple[PipelineProof, ...] = ()

    def reshaped_outputs(self, model: str, *variants: str) -> set[str]:
        """The outputs whose real shape is not the declared one in some of `variants`."""
        found = [each for each in self.parities if each.model == model and each.variant in variants]
        return {name for each in found for name in each.reshaped_outputs}
