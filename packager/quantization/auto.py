"""Runs a search on a model: makes the graph of every assignment, and measures it in the form that ships."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from packager.contract.telling import to_json
from packager.core import parsing, user_files
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.quantized import Range
from packager.core.values import Model
from packager.files.atomic import link_or_copy
from packager.files.store import Step, Store, key_of
from packager.graph.rewriting.draft import draft_of
from packager.graph.rewriting.layers import fit_layers, names_of
from packager.graph.rewriting.scales import Scales
from packager.graph.weights.writing import WeightFile
from packager.quantization.ahead import Known, prospect
from packager.quantization.measurement.evaluator import Evaluator
from packager.quantization.measurement.hosts import as_measured
from packager.quantization.measurement.metrics import SQNR, TOP1, Score, has_own_data
from packager.quantization.measurement.subject import MeasuredGraph
from packager.quantization.raising import own
from packager.quantization.ranges import Basis, ranges_for
from packager.quantization.search import HeldOut, LayerAssignment, Search, SearchResult
from packager.quantizers import Auto, StaticQdq
from packager.samples import Samples
from packager.samples.parts import LEAST, first

SCORE = Step(
    name="score",
    caller=__name__,
    computed_by=(
        "packager.quantization.measurement.evaluator",
        "packager.quantization.measurement.hosts",
        "packager.samples.reading",
    ),
)
TIGHTENED = (0.5, 0.25)
"""Shares of the budget for further searches, if the result loses more on samples that were held out."""
LOOK_S = 0.5
"""Time after which a worker that evaluates ahead looks again how far the search is."""


def search(basis: Basis, recipe: Auto, store: Store, console: Console) -> tuple[StaticQdq, SearchResult]:
    """The quantizer with the most integer layers that stays within the budget of `recipe`.

    Every score is stored, so that an interrupted search resumes. Raises ModelError if no quantizer is within the
    budget, ConfigError for a metric that fails.
    """
    with console.step(f"search {basis.model.name}") as announce, _tried(basis, recipe, store, console) as tried:
        chosen = tried.held_out_result(replace(tried.search(tried.drop, tried.sensitivity), announce=announce))
    return tried.trial.quantizer(chosen.assignment), chosen


def why_none_held_out(basis: Basis, recipe: Auto) -> str:
    """Why the result of a search is judged on what it was searched with."""
    if has_own_data(recipe.metric):
        return f"metric {recipe.metric} has data of its own, on which the budget holds; no other data judged the result"
    count = basis.samples.count
    given = "1 sample is" if count == 1 else f"{count} samples are"
    return f"{given} too few to hold some out: the budget holds on those that were searched with; give at least {LEAST}"


def score_whole(basis: Basis, recipe: Auto, method: str, store: Store, console: Console) -> None:
    """Stores the score that a search asks for first: the whole model in integers, calibrated by `method`."""
    with _tried(basis, recipe, store, console) as tried:
        tried.drop(LayerAssignment(method=method, integer=frozenset(tried.trial.layers)))


def score_layers(basis: Basis, recipe: Auto, share: tuple[int, int], store: Store, console: Console) -> None:
    """Stores a share (number, of how many) of the scores of single layers, if a search would ask for them."""
    with _tried(basis, recipe, store, console) as tried:
        layers = tried.trial.layers
        drops = {
            method: tried.drop(LayerAssignment(method=method, integer=frozenset(layers))) for method in recipe.methods
        }
        if min(drops.values()) <= recipe.max_drop:
            return
        method = min(drops, key=lambda name: drops[name])
        number, count = share
        for name in layers[number::count]:
            tried.sensitivity(LayerAssignment(method=method, integer=frozenset([name])))


def evaluate_ahead(
    basis: Basis,
    recipe: Auto,
    share: tuple[int, int],
    is_wanted: Callable[[], bool],
    store: Store,
    console: Console,
) -> None:
    """Stores scores that a search which runs elsewhere may ask for next: a share (number, of how many) of them. Ends
    when that search has ended, or when `is_wanted` says no."""
    number, count = share
    with _tried(basis, recipe, store, console) as tried:
        drop, noise = tried.known(tried.judge, basis.samples), tried.known(tried.sensitivity_evaluator, tried.few)
        while is_wanted():
            found = prospect(tried.search, drop, noise, max(2, count))
            if found.has_ended:
                return
            free = (each for each in found.candidates[number::count] if not tried.is_claimed(each))
            chosen = next(free, None)
            if chosen is None:
                time.sleep(LOOK_S)
            else:
                tried.drop(chosen)


def calibrate(basis: Basis, recipe: Auto, store: Store, console: Console) -> None:
    """Stores the ranges that a search needs, for all its methods."""
    with store.scratch() as scratch:
        _trial(basis, recipe, store, console, scratch).measure()


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """A trial with what measures its graphs."""

    trial: "_Trial"
    judge: Evaluator
    sensitivity_evaluator: Evaluator
    few: Samples
    held_out: Evaluator | None = None
    """on samples that the search does not see"""

    def drop(self, assignment: LayerAssignment) -> float:
        return self.trial.score(assignment, self.judge, self.trial.basis.samples).drop

    def sensitivity(self, assignment: LayerAssignment) -> float:
        return self.trial.score(assignment, self.sensitivity_evaluator, self.few).drop

    def held_out_result(self, searched: Search) -> SearchResult:
        """The result of the first search that keeps the budget on samples it has not seen: the next has a smaller
        budget. The last one if none does."""
        found = self._judged(searched.run())
        for share in TIGHTENED:
            if found.held_out is None or found.held_out.drop <= searched.budget:
                break
            tighter = replace(searched, budget=share * searched.budget, evaluations=[], sensitivity_count=0)
            try:
                found = min(found, self._judged(tighter.run()), key=_held_out_drop)
            except ModelError:  # not even floats keep the smaller budget
                break
        return replace(found, budget=searched.budget)

    def _judged(self, found: SearchResult) -> SearchResult:
        basis, metric = self.trial.basis, self.trial.recipe.metric
        if self.held_out is None or basis.held_out is None:
            why = why_none_held_out(basis, self.trial.recipe)
            return replace(found, held_out=HeldOut(count=0, why_none=why))
        score = self.trial.score(found.assignment, self.held_out, basis.held_out)
        count = basis.held_out.count
        resolution = 1 / count if metric == TOP1 else 0.0
        held_out = HeldOut(count=count, drop=score.drop, value=score.value, resolution=resolution)
        return replace(found, held_out=held_out)

    def search(
        self, drop: Callable[[LayerAssignment], float], sensitivity: Callable[[LayerAssignment], float]
    ) -> Search:
        recipe = self.trial.recipe
        return Search(
            layers=self.trial.layers,
            methods=recipe.methods,
            budget=recipe.max_drop,
            further_tries=recipe.further_tries,
            drop=drop,
            sensitivity=sensitivity,
        )

    def known(self, evaluator: Evaluator, samples: Samples) -> Known:
        """Assignment -> its drop by `evaluator` on `samples`, if it is in the store."""
        drops: dict[LayerAssignment, float] = {}

        def drop(assignment: LayerAssignment) -> float | None:
            if assignment not in drops and (score := self.trial.known(assignment, evaluator, samples)):
                drops[assignment] = score.drop
            return drops.get(assignment)

        return drop

    def is_claimed(self, assignment: LayerAssignment) -> bool:
        """Whether another process measures the drop of `assignment` now."""
        inputs = self.trial.inputs(assignment, self.judge, self.trial.basis.samples)
        return self.trial.store.is_claimed(SCORE, inputs)


@contextmanager
def _tried(basis: Basis, recipe: Auto, store: Store, console: Console) -> Iterator[_Tried]:
    with store.scratch() as scratch, ExitStack() as stack:
        trial = _trial(basis, recipe, store, console, scratch)
        few = first(recipe.sensitivity_samples, basis.samples)
        judge = stack.enter_context(_evaluator(basis, recipe.metric, basis.samples, scratch / "metric"))
        sensitivity_evaluator = stack.enter_context(_evaluator(basis, SQNR, few, scratch / "noise"))
        trial.measure()
        tried = _Tried(trial=trial, judge=judge, sensitivity_evaluator=sensitivity_evaluator, few=few)
        if basis.held_out:
            held_out = stack.enter_context(_evaluator(basis, recipe.metric, basis.held_out, scratch / "held-out"))
            tried = replace(tried, held_out=held_out)
        yield tried


def _trial(basis: Basis, recipe: Auto, store: Store, console: Console, scratch: Path) -> "_Trial":
    folder = _linked(basis.model, scratch / "graphs")
    names = names_of(fit_layers(basis.draft(), recipe.exclude))
    return _Trial(basis=basis, recipe=recipe, store=store, console=console, folder=folder, layers=names)


def _evaluator(basis: Basis, metric: str, samples: Samples, folder: Path) -> Evaluator:
    folder.mkdir()
    original = MeasuredGraph(graph=own(basis.model, basis.graph), data_folder=basis.model.data_folder)
    return Evaluator(original, metric, folder, samples=samples, contract=basis.model.contract)


def _linked(model: Model, folder: Path) -> Path:
    """`folder` with the files that the graph of `model` refers to, so that new weights can lie beside them."""
    for file in (user_files.resolved(model.path), *model.data_files):
        link = folder / file.relative_to(model.data_folder)
        link.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(file, link)
    return folder


@dataclass
class _Trial:
    """Makes the graphs of assignments and scores each of them once."""

    basis: Basis
    recipe: Auto
    store: Store
    console: Console
    folder: Path
    """with the model's data files; weights of trials are written beside them"""
    layers: Sequence[str]
    """names of the layers that can be quantized"""
    ranges: dict[str, Mapping[str, Range]] = field(default_factory=dict)
    """by method"""
    asked: dict[tuple[str, str, int, LayerAssignment], list[object]] = field(default_factory=dict)
    """by metric, samples, their number and assignment: the inputs of scores, for which a graph was made"""

    def quantizer(self, assignment: LayerAssignment) -> StaticQdq:
        """The quantizer that makes the graph of `assignment`."""
        kept = [name for name in self.layers if name not in assignment.integer | assignment.weights]
        return StaticQdq(
            calibration=replace(self.recipe.calibration, method=assignment.method),  # type: ignore[arg-type]
            activations=self.recipe.activations,
            weight_only=tuple(name for name in self.layers if name in assignment.weights),
            exclude=(*self.recipe.exclude, *kept),
        )

    def score(self, assignment: LayerAssignment, evaluator: Evaluator, samples: Samples) -> Score:
        graph, weights = self._graph(assignment)
        inputs = self._inputs(graph, evaluator, samples)

        def make(folder: Path) -> None:
            file = self.folder / "trial.onnx"
            file.write_bytes(as_measured(graph, self.folder))
            found = evaluator.score(file, self.folder)
            (folder / "score.json").write_text(json.dumps(asdict(found)), encoding="utf-8", newline="\n")

        folder = self.store.results(SCORE, inputs, make)
        weights.unlink(missing_ok=True)
        return _read(folder)

    def known(self, assignment: LayerAssignment, evaluator: Evaluator, samples: Samples) -> Score | None:
        """The score, if it is in the store."""
        folder = self.store.find(SCORE, self.inputs(assignment, evaluator, samples))
        return _read(folder) if folder else None

    def inputs(self, assignment: LayerAssignment, evaluator: Evaluator, samples: Samples) -> list[object]:
        """Values that a score depends on; the graph is made once to know it."""
        name = evaluator.metric, samples.fingerprint, samples.count, assignment
        if name not in self.asked:
            graph, weights = self._graph(assignment)
            weights.unlink(missing_ok=True)
            self.asked[name] = self._inputs(graph, evaluator, samples)
        return self.asked[name]

    def _inputs(self, graph: bytes, evaluator: Evaluator, samples: Samples) -> list[object]:
        contract = self.basis.model.contract
        return [
            key_of(graph.hex()),
            self.basis.model.sha256,
            evaluator.metric,
            evaluator.original if evaluator.metric != SQNR else "",
            samples.fingerprint,
            samples.count,
            version("onnxruntime"),
            *([self.basis.earlier.sha256] if self.basis.earlier.sha256 else []),
            *([to_json(contract)] if contract and has_own_data(evaluator.metric) else []),
        ]

    def measure(self) -> None:
        """Finds the ranges for all methods, the most demanding first: their statistics serve the others."""
        for method in sorted(self.recipe.methods, key=lambda name: name in ("minmax", "moving-average")):
            self._ranges(method, self.quantizer(LayerAssignment(method=method, integer=frozenset(self.layers))))

    def _graph(self, assignment: LayerAssignment) -> tuple[bytes, Path]:
        """The graph, and the file with its new weights."""
        quantizer = self.quantizer(assignment)
        weights = self.folder / "trial.weights"
        scales = Scales(earlier=self.basis.earlier.scales)
        draft = replace(draft_of(self.basis.graph, self.folder), weights=WeightFile(weights), scales=scales)
        draft.ranges = self._ranges(assignment.method, quantizer)
        quantizer.quantize(draft)
        return draft.finish(), weights

    def _ranges(self, method: str, quantizer: StaticQdq) -> Mapping[str, Range]:
        if method not in self.ranges:
            basis = self.basis
            settings = replace(self.recipe.calibration, method=method)  # type: ignore[arg-type]
            values = quantizer.measures(basis.draft())
            self.ranges[method] = ranges_for(basis, values, settings, self.store, self.console)
        return self.ranges[method]


def _held_out_drop(found: SearchResult) -> float:
    return found.held_out.drop if found.held_out else 0.0


def _read(folder: Path) -> Score:
    return Score(**parsing.json_of((folder / "score.json").read_text(encoding="utf-8")))
