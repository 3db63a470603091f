"""Views of the page: values in the form in which the templates print them."""

from dataclasses import dataclass

from packager.render.pages.bars import BarView
from packager.render.pages.layers import LayersView
from packager.render.pages.parts import FactView, TileView


@dataclass(frozen=True, kw_only=True)
class VerdictView:
    """Headline of the page."""

    tone: str
    """CSS class: `good`, `fair`, `poor`, `plain`"""
    mark: str
    """a symbol beside the word, so that colour is not the only sign"""
    word: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class FailureView:
    title: str
    message: str
    node: str
    hint: str
    evidence: str
    anchor: str
    """id of its comparison on the page; empty if it has none"""


@dataclass(frozen=True, kw_only=True)
class CellView:
    """One runner on one file, or on several with the same result."""

    label: str
    """the files, for narrow screens without column heads"""
    span: int
    tone: str
    mark: str
    word: str
    numbers: str
    reason: str
    anchor: str


@dataclass(frozen=True, kw_only=True)
class RowView:
    runner: str
    about: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True, kw_only=True)
class TickView:
    percent: str
    """distance from the left"""
    label: str


@dataclass(frozen=True, kw_only=True)
class DistributionView:
    """Distribution of the errors of an output."""

    width: int
    height: int
    bars: tuple[BarView, ...]
    ticks: tuple[TickView, ...]
    limit: str
    """x coordinate of the tolerance; empty if that is not a share of the scale"""
    description: str
    """the drawing as text, for screen readers"""
    summary: str


@dataclass(frozen=True, kw_only=True)
class ReportOutputView:
    name: str
    tone: str
    mark: str
    word: str
    measures: tuple[FactView, ...]
    failure: str
    distribution: DistributionView | None


@dataclass(frozen=True, kw_only=True)
class ComparisonView:
    anchor: str
    title: str
    tone: str
    mark: str
    word: str
    numbers: str
    is_open: bool
    facts: tuple[FactView, ...]
    outputs: tuple[ReportOutputView, ...]


@dataclass(frozen=True, kw_only=True)
class AgreementView:
    """Engines of different makes on one graph."""

    tone: str
    mark: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReportModelView:
    """Results of a model on all runners."""

    name: str
    columns: tuple[str, ...]
    """the model's files"""
    rows: tuple[RowView, ...]
    agreements: tuple[AgreementView, ...]
    comparisons: tuple[ComparisonView, ...]


@dataclass(frozen=True, kw_only=True)
class PipelineRowView:
    """One pipeline on one runner."""

    pipeline: str
    targets: str
    runner: str
    tone: str
    mark: str
    word: str
    result: str


@dataclass(frozen=True, kw_only=True)
class ReportFileView:
    name: str
    model: str
    size: str
    share: str
    """share of the model's size"""
    users: str
    kernels: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ChoiceView:
    model: str
    target: str
    provider: str
    file: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PartitionView:
    model: str
    target: str
    provider: str
    taken: str
    """number of nodes taken, or why there are none"""
    share: str
    pieces: str
    left: tuple[str, ...]
    contract: str
    """fate of the nodes that a contract added; empty without any"""
    by: str


@dataclass(frozen=True, kw_only=True)
class LatencyView:
    what: str
    machine: str
    original: str
    variant: str
    ratio: str
    note: str


@dataclass(frozen=True, kw_only=True)
class PartitionsView:
    title: str
    notes: tuple[str, ...]
    rows: tuple[PartitionView, ...]


@dataclass(frozen=True, kw_only=True)
class ReportPageView:
    title: str
    verdict: VerdictView
    failures: tuple[FailureView, ...]
    stopped_by: tuple[str, ...]
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    models: tuple[ReportModelView, ...]
    files: tuple[ReportFileView, ...]
    choices: tuple[ChoiceView, ...]
    pipelines: tuple[PipelineRowView, ...]
    partitions: tuple[PartitionsView, ...]
    """by rules, then as measured on one machine"""
    layers: tuple[LayersView, ...]
    no_layers: str
    """why there are no layers; empty if there are"""
    latencies: tuple[LatencyView, ...]
    facts: tuple[FactView, ...]
    """origin of the model and versions of the tools"""
