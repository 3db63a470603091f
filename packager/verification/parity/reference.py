"""Computes the outputs of original models: they run node by node without optimizations, so that no rewrite is on both
sides."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager.core.errors import ConfigError, ModelError, ParityError
from packager.core.findings import OutputError
from packager.core.values import ElementType, Model, TensorSpec, Variant, baseline
from packager.engines.runners import RUNNERS, Outcome, Runnable, Session
from packager.files.processes.limits import OverTimeError
from packager.models.ranges import known_ranges
from packager.samples import (
    FoundInputs,
    Lost,
    SampleSet,
    SampleSource,
    find,
    flow_of,
    given,
    growth_of,
    marked,
    typical,
)
from packager.verification.parity.conditioning import Movement, perturbed
from packager.verification.parity.limits import SizeLimit, size_limit, unlimited
from packager.verification.parity.metrics import Comparison, difference
from packager.verification.parity.outcomes import array_of, numbers_in
from packager.verification.parity.rows import rows_of
from packager.verification.parity.runs import SampleRuns, Which
from packager.verification.parity.scale import Scale, of_range
from packager.verification.parity.settings import ParitySettings
from packager.verification.parity.subject import is_own_original

AT_ONCE = 2
"""Number of samples that are perturbed together: a model that moves on one moves on others, and opening it takes a
while."""
FLOATS = (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16)
NEAR = 5e-2
"""Share of the scale up to which rows of a variant are the same rows: where they are sorted by a score."""
RUN_S = 300.0
"""Time limit of a run on random inputs. Sizes are limited by counts; this ends what no count has foreseen."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The original model's outputs and their samples."""

    samples: SampleSet
    outcomes: tuple[Outcome, ...]
    unstable: frozenset[int]
    """outputs that differ between two runs of the original: not comparable"""
    scales: tuple[Scale, ...]
    """of its outputs, over all samples"""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A graph in another precision, compared with the user's model."""

    outcomes: tuple[Outcome, ...]
    """the user's model's outputs for the samples of the graph"""
    errors: tuple[OutputError, ...]
    """of the graph's float outputs"""


class OriginalOutputs:
    """Outputs of original models: each runs once, however many files are compared with it."""

    def __init__(self, folder: Path) -> None:
        """Samples and outputs go below `folder`, which must exist as long as they are used."""
        self.folder = folder
        self.runs = SampleRuns(folder=folder)
        self.known: dict[tuple[object, ...], Reference] = {}
        self.compared: dict[Reference, Beside] = {}
        self.moved: dict[tuple[bytes, Path], Movement] = {}
        self.typical: dict[SampleSource, SampleSet] = {}

    def of(self, original: Variant, settings: ParitySettings) -> Reference:
        """Raises ModelError if the model does not run on the samples, ConfigError if given ones do not fit it."""
        model = original.model
        which = (model.name, model.sha256, original.graph, original.weights)
        key = (*which, settings.samples, settings.random_samples, settings.seed)
        if key not in self.known:
            self.known[key] = _reference(original, settings, self._new_folder(), self.runs)
        return self.known[key]

    def for_distance(self, variant: Variant, settings: ParitySettings) -> Reference:
        """Like `of`, on the samples for comparing a variant with the user's model."""
        source = settings.distance_source
        if not source:
            return self.of(variant, settings)
        key = (variant.model.name, variant.graph, variant.weights, source)
        if key not in self.known:
            folder = self._new_folder()
            samples = self.typical_samples(source)
            outcomes = run_original(variant, samples, folder / "original", self.runs)
            self.known[key] = _with_outcomes(variant, samples, outcomes, folder, source.text)
        return self.known[key]

    def typical_samples(self, source: SampleSource) -> SampleSet:
        """The samples of `source`, each read once."""
        if source not in self.typical:
            self.typical[source] = typical(source, self._new_folder())
        return self.typical[source]

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    def perturbed(self, original: Variant, settings: ParitySettings, number: int) -> Movement:
        """The original's outputs for the perturbed sample `number`; empty if it has no floats."""
        reference = self.of(original, settings)
        paths = reference.samples.paths
        if (original.graph, paths[number]) not in self.moved:
            first = number - number % AT_ONCE
            group = [path for path in paths[first : first + AT_ONCE] if (original.graph, path) not in self.moved]
            found = _perturbed(original, group, self._new_folder())
            self.moved |= {(original.graph, path): moved for path, moved in zip(group, found, strict=True)}
        return self.moved[original.graph, paths[number]]

    def beside_model(self, variant: Variant, reference: Reference) -> Beside | None:
        """Distance between a graph in another precision, whose outputs are `reference`, and the user's model. None for
        the model's own precision.

        Raises ParityError if the two cannot be compared.
        """
        if not is_own_original(variant):
            return None
        if reference not in self.compared:
            self.compared[reference] = _beside(variant, reference, self._new_folder(), self.runs)
        return self.compared[reference]


def run_original(
    original: Variant, samples: SampleSet, folder: Path, runs: SampleRuns | None = None
) -> tuple[Outcome, ...]:
    """The outputs of `original` for every sample, below `folder`, which is created; those in `runs` are not computed
    again."""
    folder.mkdir(exist_ok=True)
    return tuple(_outcomes(original, samples.paths, folder, runs))


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """Random inputs that an original accepts."""

    found: FoundInputs
    outcomes: tuple[Outcome, ...]
    """its outputs for each sample"""


def random_inputs(
    original: Variant, folder: Path, *, count: int, seed: int, earlier: SampleRuns | None = None
) -> Accepted:
    """Random samples that `original` accepts, and its outputs for them, below `folder`; those in `earlier` are not
    computed again.

    Raises ModelError with the model's objections to the samples that were tried.
    """
    runs, samples = folder / "original", folder / "samples"
    runs.mkdir(exist_ok=True)
    samples.mkdir(exist_ok=True)
    opened = replace(graph_of(replace(original, graph=marked(original.graph)), runs), limit_s=RUN_S)
    (cpu,) = RUNNERS["cpu"]("")
    growth = growth_of(flow_of(original.model, original.graph))
    with ExitStack() as open_sessions:
        attempts = Attempts(
            open_session=lambda: _session(original, lambda: cpu.open(opened, runs), earlier),
            folder=runs,
            open_sessions=open_sessions,
            limit=size_limit(original, growth, folder, open_sessions) if growth else unlimited,
        )
        found = find(
            original.model,
            original.graph,
            attempts,
            samples,
            count=count,
            seed=seed,
            growing=growth.inputs if growth else (),
            lost=attempts.lost,
        )
    return Accepted(found=found, outcomes=tuple(attempts.outcomes[number] for number in range(count)))


@dataclass(kw_only=True)
class Attempts:
    """Runs one sample after the other in the same session, in a new one after a crash."""

    open_session: Callable[[], Session]
    folder: Path
    open_sessions: ExitStack
    limit: SizeLimit
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    """by the number of the sample, the last of each"""
    session: Session | None = None

    def __call__(self, sample: Path, number: int) -> str:
        """The objection to the sample; empty if it runs."""
        if excess := self.limit(sample):
            return excess
        if self.session is None:
            self.session = self.open_sessions.enter_context(self.open_session())
        try:
            self.outcomes[number] = _run(self.session, sample, number, self.folder)
        except ModelError as error:  # it crashed its process: another sample may not
            if isinstance(error.__cause__, OverTimeError):
                raise
            self.session = None
            return error.message
        return self.outcomes[number].error

    def lost(self) -> Lost:
        """Numbers that the outputs of all samples lack."""
        outcomes = [each for each in self.outcomes.values() if each.outputs]
        counts = range(len(list(outcomes[0].outputs.glob("*.npy"))) if outcomes and outcomes[0].outputs else 0)
        each = [[numbers_in(array_of(outcome, index)) for outcome in outcomes] for index in counts]
        void = sum(not finite for output in each for finite, _ in output)
        return void, sum(nan for output in each for _, nan in output)


def graph_of(original: Variant, folder: Path) -> Runnable:
    """The graph without optimizations, in `folder`."""
    graph = folder / "original.onnx"
    graph.write_bytes(original.graph)
    return Runnable(path=graph, data_folder=original.data_folder, is_optimized=False)


def is_reshaped(spec: TensorSpec, outcomes: Sequence[Outcome], index: int) -> bool:
    """Whether the original itself returns another shape than it declares: some exporters write wrong ones."""
    shapes = [array_of(outcome, index).shape for outcome in outcomes]
    return any(
        len(shape) != len(spec.shape)
        or any(isinstance(declared, int) and declared != real for declared, real in zip(spec.shape, shape, strict=True))
        for shape in shapes
    )


def _session(original: Variant, open_session: Callable[[], Session], runs: SampleRuns | None) -> Session:
    if runs is None:
        return open_session()
    which: Which = ("original", original.model.path, original.model.sha256, original.graph, original.weights)
    return runs.session(which, open_session)


def _outcomes(original: Variant, samples: Sequence[Path], folder: Path, runs: SampleRuns | None) -> Iterator[Outcome]:
    (cpu,) = RUNNERS["cpu"]("")
    with _session(original, lambda: cpu.open(graph_of(original, folder), folder), runs) as session:
        for number, sample in enumerate(samples):
            yield _run(session, sample, number, folder)


def _run(session: Session, sample: Path, number: int, folder: Path) -> Outcome:
    """The outcome of `session` on the sample `number`, in a folder of its own below `folder`."""
    outputs = folder / f"sample-{number}"
    outputs.mkdir(exist_ok=True)
    return session.run(sample, outputs)


def _perturbed(original: Variant, samples: Sequence[Path], folder: Path) -> Sequence[Movement]:
    from onnx import ModelProto

    (cpu,) = RUNNERS["cpu"]("")
    proto = ModelProto.FromString(original.graph)
    model = perturbed(proto, graph_of(original, folder), cpu, folder / "shaken")
    unmoved = [Movement()] * len(samples)
    try:
        return list(model.movements(samples, folder / "run")) if model else unmoved
    except ModelError:
        return unmoved  # the original runs, so what was added to it is at fault: then nothing is known


def _beside(variant: Variant, reference: Reference, folder: Path, runs: SampleRuns) -> Beside:
    model = variant.model
    outcomes = run_original(baseline(model), reference.samples, folder, runs)
    if refused := next((outcome.error for outcome in outcomes if outcome.error), ""):
        raise ParityError(
            f"model '{model.name}' fails on a sample that runs on the graph made of it: {refused}",
            hint="give inputs that it takes with [parity] samples",
        )
    rows = rows_of(baseline(model), ParitySettings(tolerance=NEAR), scales_of(model, outcomes))
    pairs = enumerate(zip(outcomes, reference.outcomes, strict=True))
    matched = tuple(rows.matched(before, after, folder / f"matched-{number}") for number, (before, after) in pairs)
    return Beside(outcomes=outcomes, errors=tuple(_errors(model, outcomes, replace(reference, outcomes=matched))))


def scales_of(model: Model, outcomes: Sequence[Outcome]) -> tuple[Scale, ...]:
    """The scale of every output on all samples. Ranges come from the user's own model: those of graphs made from it may
    be unknown."""
    from onnx import ModelProto

    ranges = known_ranges(ModelProto.FromString(model.graph))
    return tuple(
        of_range(ranges.get(spec.name, "")).over(array_of(outcome, index) for outcome in outcomes)
        for index, spec in enumerate(model.signature.outputs)
    )


def _errors(model: Model, outcomes: Sequence[Outcome], reference: Reference) -> Iterator[OutputError]:
    scales = scales_of(model, outcomes)
    for index, spec in enumerate(model.signature.outputs):
        if spec.element not in FLOATS or index in reference.unstable:
            continue
        comparison = Comparison(spec.name, scales[index])
        for before, after in zip(outcomes, reference.outcomes, strict=True):
            comparison.add(array_of(before, index), array_of(after, index))
        if comparison.reason:
            raise ParityError(
                f"the graph that was made of model '{model.name}' does not compute the same: {comparison.reason}",
                hint="report this model: changing its precision broke it",
            )
        yield comparison.result()


def _reference(original: Variant, settings: ParitySettings, folder: Path, runs: SampleRuns) -> Reference:
    """The user's samples, or random ones that the original accepts, and its outputs for them."""
    model = original.model
    if settings.samples:
        samples = given(model, settings.samples, folder)
        outcomes = run_original(original, samples, folder / "original", runs)
    else:
        accepted = random_inputs(original, folder, count=settings.random_samples, seed=settings.seed, earlier=runs)
        samples, outcomes = accepted.found.samples, accepted.outcomes
    return _with_outcomes(original, samples, outcomes, folder, "[parity] samples")


def _with_outcomes(
    original: Variant, samples: SampleSet, outcomes: tuple[Outcome, ...], folder: Path, source: str
) -> Reference:
    """`source` is where the samples come from, as the user names it."""
    model = original.model
    if refusal := next((outcome.error for outcome in outcomes if outcome.error), ""):
        raise ConfigError(
            f"{source}: the original model '{model.name}' refuses them: {refusal}",
            hint="mobpack inspect shows the inputs it takes",
        )
    unstable = _unstable_outputs(original, samples, outcomes, folder / "again")
    return Reference(samples=samples, outcomes=outcomes, unstable=unstable, scales=scales_of(model, outcomes))


def _unstable_outputs(original: Variant, samples: SampleSet, first: Sequence[Outcome], folder: Path) -> frozenset[int]:
    if not original.model.random_operators:
        return frozenset()
    second = run_original(original, samples, folder)
    return frozenset(
        index
        for index in range(len(original.model.signature.outputs))
        if any(
            difference(array_of(a, index), array_of(b, index)).max_abs_error for a, b in zip(first, second, strict=True)
        )
    )
