"""What checks found out about the files that ship."""

import math
from dataclasses import dataclass
from pathlib import Path

from packager.core.values import Style

NUMBERS_IN_JSON = {"ser_json_inf_nan": "strings"}
"""For pydantic, when it writes these values: JSON has no infinity."""


LARGEST_VALUE = "its largest value"
"""Where the scale of an output is from, unless its values have a known range."""
DECADES = 10
"""How many tenths of tenths of an output's largest value a histogram of errors tells apart."""


@dataclass(frozen=True, kw_only=True)
class OutputError:
    """How far one output is from the expected one, over all samples. Errors are absolute, or shares of its scale: the
    largest finite magnitude that is expected on any sample, and at least that of the range which it is known to have.
    """

    __pydantic_config__ = NUMBERS_IN_JSON

    output: str
    max_abs_error: float
    """largest |a - b|; infinity where one of the two is no number and the other is, or integers differ"""
    max_rel_error: float
    """the largest absolute error over the scale"""
    worst_sample: int
    scale: float = 0.0
    scale_from: str = LARGEST_VALUE
    """where the scale is from, in words"""
    rtol: float | None = None
    """what it was judged by: its largest absolute error may be atol + rtol * scale. None where something else is asked
    of it"""
    atol: float | None = None
    mean_abs_error: float = 0.0
    """over the numbers that are finite in both"""
    cosine: float = 1.0
    """of the angle between the two as vectors, all samples one after the other"""
    sqnr_db: float = math.inf
    """10 log10(sum a^2 / sum (a - b)^2); infinity where nothing differs"""
    mismatch_count: int = 0
    """NaN or infinity in one alone; integers, booleans and strings that differ"""
    number_count: int = 0
    """values that were compared"""
    finite_count: int = 0
    """numbers that were finite in both; of values that have to be equal none is counted"""
    is_exact: bool = False
    """whether nothing but equality counts: strings, booleans, integers wider than 8 bits"""
    top1_agreement: float | None = None
    """share of rows (last axis) whose largest number is at the same place; None where there are no rows"""
    top5_agreement: float | None = None
    """share of rows whose largest expected number is among the five largest"""
    histogram: tuple[int, ...] = ()
    """of |error| as a share of the scale: how many are 0, below 10^-9, 10^-8 ... 1, and the rest"""
    failure: str = ""
    """why it is over its tolerance, in words; empty when it is within"""


@dataclass(frozen=True, kw_only=True)
class IllConditioned:
    """A sample that can tell nothing: the model itself moves by more than is allowed when what it is given changes in
    the last bits."""

    __pydantic_config__ = NUMBERS_IN_JSON

    sample: int
    output: str
    """the one that moves the most, for what it may be off"""
    moves_by: float
    """largest |a - b|; infinity where numbers become none, or integers others"""
    scale: float

    @property
    def words(self) -> str:
        how = "to other integers, NaN or infinity" if math.isinf(self.moves_by) else f"by {self.moves_by:.3g}"
        return f"ill-conditioned: the model itself moves {how} of {self.scale:.3g} (output '{self.output}')"


@dataclass(frozen=True, kw_only=True)
class Parity:
    """What a runner makes of a file or a graph, beside what it should compute."""

    __pydantic_config__ = NUMBERS_IN_JSON

    model: str
    variant: str
    runner: str
    """its name: `cpu`, `arm64` ..."""
    label: str = ""
    """the name, and the processor where a runner has several"""
    runs_on: str = ""
    """what ran it, in words"""
    placed: int | None = None
    """nodes that the runner's provider took; None where nobody says so"""
    node_count: int | None = None
    sample_count: int
    samples: str
    """where the samples came from, in words"""
    tolerance: float
    """rtol: largest allowed error is atol + rtol * scale, for outputs without a tolerance of their own"""
    atol: float = 0.0
    outputs: tuple[OutputError, ...]
    style: Style = Style.FIXED
    sha256: str = ""
    """of the file"""
    against: str = "the original"
    """what it was compared with, in words"""
    from_original: float | None = None
    """max_rel_error of its float outputs beside the user's model, where that is not what it was compared with"""
    distances: tuple[OutputError, ...] = ()
    """of these, one by one; a failure in them is one of the variant, not of the file"""
    distance_samples: str = ""
    """where the samples of these came from, in words"""
    strays: tuple[OutputError, ...] = ()
    """outputs of the variant that are too far on `samples`, where `distance_samples` are others: no failure"""
    reshaped_outputs: tuple[str, ...] = ()
    """outputs whose real shape contradicts the declared one: packages treat them as dynamic"""
    ill_conditioned: tuple[IllConditioned, ...] = ()
    """samples that are in none of the figures, unless all are; others were drawn in their places where they are
    random"""
    is_judged_locally: bool = False
    """whether all samples are ill-conditioned, so that the figures are of these, and nodes are judged one by one"""
    unstable_outputs: tuple[str, ...] = ()
    """outputs that differ between two runs of the original (random operators): not compared"""
    skipped: str = ""
    """why this runner did not run, in words; empty when it did"""
    refusal: str = ""
    """what the runtime said when it did not run the file, in words; empty when it did"""
    is_opened: bool = False
    """of a refusal: whether the file was open, and a sample then refused or crashed"""

    @property
    def conditioning(self) -> str:
        """What it means for the comparison that samples tell nothing, in words; empty where all tell something."""
        if not self.ill_conditioned:
            return ""
        count = len({each.sample for each in self.ill_conditioned})
        worst = max(self.ill_conditioned, key=lambda each: each.moves_by / each.scale)
        how = "every sample is, and nodes were judged one by one" if self.is_judged_locally else "others were compared"
        return f"{worst.words} on {count} of the samples; {how}"

    @property
    def max_abs_error(self) -> float:
        return max((output.max_abs_error for output in self.outputs), default=0.0)

    @property
    def max_rel_error(self) -> float:
        return max((output.max_rel_error for output in self.outputs), default=0.0)

    @property
    def has_run(self) -> bool:
        """Whether there is anything that it was compared by."""
        return not self.skipped and not self.refusal

    @property
    def without_numbers(self) -> tuple[str, ...]:
        """Outputs all of whose numbers are NaN or infinite: equal ones say nothing."""
        return tuple(
            each.output for each in self.outputs if each.number_count and not each.finite_count and not each.is_exact
        )

    @property
    def empty_outputs(self) -> tuple[str, ...]:
        """Outputs without a single value on any sample: nothing was compared."""
        return tuple(each.output for each in self.outputs if not each.number_count)

    @property
    def over(self) -> tuple[OutputError, ...]:
        """Outputs that are not within their tolerance."""
        return tuple(output for output in self.outputs if output.failure)

    @property
    def has_failed(self) -> bool:
        return bool(self.refusal or self.over or self.too_far)

    @property
    def too_far(self) -> tuple[OutputError, ...]:
        """Outputs of the variant that are farther from the user's model than is allowed."""
        return tuple(output for output in self.distances if output.failure)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A comparison that stops a release."""

    parity: Parity
    message: str
    """what is wrong and where, for the user"""
    hint: str
    evidence: Path | None = None
    """folder with what shows it"""
    node: str = ""
    """what is known of the first node that computes something else, in words"""


@dataclass(frozen=True, kw_only=True)
class Left:
    """Nodes that a provider leaves to the CPU, for one reason."""

    operator: str
    count: int
    reason: str
    example: str
    """name of the first of them"""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """What a provider takes of the file that it opens."""

    model: str
    target: str
    provider: str
    sha256: str
    """of the file"""
    soc_models: tuple[str, ...] = ()
    """chips that the file was compiled for; empty for any"""
    taken_count: int = 0
    """nodes of the file that the provider runs"""
    node_count: int = 0
    """nodes of the file"""
    partition_count: int = 0
    """pieces that the graph falls into on the provider: every border between them is a copy"""
    share: float | None = None
    """of the multiply-adds, 0 to 1, estimated from shapes; None when the file has no operator that does any"""
    left: tuple[Left, ...] = ()
    by: str = ""
    """what says so: the provider itself, or rules that were read from its source"""
    is_measured: bool = False
    """True when the provider itself was asked, False for rules"""
    refusal: str = ""
    """why the provider cannot open the file, so that an app goes on to the next one, in words; empty when it can"""
    skipped: str = ""
    """why nothing can be said, in words; empty when something is"""


@dataclass(frozen=True, kw_only=True)
class KernelProof:
    """That every node of a file has a kernel in the runtime that ships."""

    model: str
    variant: str
    sha256: str
    """of the file"""
    runtime: str
    node_count: int
    """nodes of the graph as the runtime keeps it after its own rewrites"""
    by: str
    """how it was proven, in words"""
    skipped: str = ""
    """why it could not be, in words"""


@dataclass(frozen=True, kw_only=True)
class Report:
    """The evidence that travels with a release."""

    parities: tuple[Parity, ...]
    partitions: tuple[Partition, ...] = ()
    kernels: tuple[KernelProof, ...] = ()
    failures: tuple[Failure, ...] = ()
    """comparisons that stop the release"""

    def reshaped_outputs(self, model: str, variant: str) -> set[str]:
        """The outputs whose real shape is not the declared one."""
        found = [each for each in self.parities if (each.model, each.variant) == (model, variant)]
        return {name for each in found for name in each.reshaped_outputs}
