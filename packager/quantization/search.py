"""Finds the largest set of integer layers whose loss of accuracy stays within a budget.

It tries, in this order and at most this often:

1. the whole model in integers, once for each calibration method; among those within the budget it chooses the one with
   the least noise at the output, because a score on few samples may be better by chance;
2. if none is within the budget: every layer alone in integers, on few samples, to measure its sensitivity;
3. the least sensitive layers in integers, and only the weights of the others: it bisects their number. If not even the
   weights of all layers can be integers, it first bisects how many can, with the others in float;
4. layers that were left out, one by one, the least sensitive first, up to a limit.

Bisection assumes that more integer layers lose more accuracy. Its result is measured nevertheless: the answer is always
an assignment whose own drop is within the budget.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packager.core.errors import ModelError


@dataclass(frozen=True, kw_only=True)
class LayerAssignment:
    """The precision of every layer; layers in neither set stay in float."""

    method: str
    """calibration method for activations"""
    integer: frozenset[str] = frozenset()
    """layers with integer weights and activations"""
    weights: frozenset[str] = frozenset()
    """layers with integer weights only"""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One assignment that was tried."""

    what: str
    """description for the report"""
    assignment: LayerAssignment
    drop: float
    """of the metric, relative to the float model"""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Loss on samples that a search has not seen."""

    count: int
    """of the samples; 0 if none were held out"""
    drop: float = 0.0
    value: float = 0.0
    """of the metric"""
    resolution: float = 0.0
    """change of the metric by a single sample, for one that counts"""
    why_none: str = ""
    """why none were held out, in words"""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The result of a search."""

    assignment: LayerAssignment
    drop: float
    budget: float
    evaluations: tuple[Evaluation, ...]
    """in order, without those for sensitivity"""
    sensitivity: Mapping[str, float]
    """layer -> noise of this layer alone in integers, relative to the output's power; empty if it was not needed"""
    bound: int
    """maximum number of evaluations, including those for sensitivity"""
    reasons: Mapping[str, str]
    """layer -> why its activations, or all of it, stay in float"""
    evaluation_count: int
    """including those for sensitivity"""
    held_out: HeldOut | None = None
    """loss on samples that the search has not seen"""


@dataclass
class Search:
    layers: Sequence[str]
    """that can be quantized, in the order of the graph"""
    methods: Sequence[str]
    budget: float
    further_tries: int
    drop: Callable[[LayerAssignment], float]
    """drop of the metric, on all samples"""
    sensitivity: Callable[[LayerAssignment], float]
    """noise at the output, on few samples, relative to its power"""
    announce: Callable[[str], None] = lambda text: None
    evaluations: list[Evaluation] = field(default_factory=list)
    sensitivity_count: int = 0
    """evaluations for sensitivity"""

    def run(self) -> SearchResult:
        """Raises ModelError if the float model itself is not within the budget."""
        everything = frozenset(self.layers)
        tried = [
            self._try(f"all layers, {each}", LayerAssignment(method=each, integer=everything)) for each in self.methods
        ]
        within = [each for each in tried if each.drop <= self.budget]
        if within:
            return self._found(min(within, key=self._sensitivity_of) if len(within) > 1 else within[0], {})
        best = min(tried, key=lambda each: each.drop)
        sensitivity = self._sensitivities(best.assignment.method)
        least_sensitive = sorted(self.layers, key=lambda name: (sensitivity[name], self.layers.index(name)))
        start = self._start(least_sensitive, best.assignment.method)
        shrunk = start.assignment.weights
        chosen = self._most(
            "integers",
            [name for name in least_sensitive if name in shrunk],
            start,
            lambda names: replace(start.assignment, integer=frozenset(names), weights=shrunk - frozenset(names)),
        )
        return self._found(self._further(least_sensitive, chosen), sensitivity)

    @property
    def bound(self) -> int:
        """Maximum number of evaluations."""
        halving = math.ceil(math.log2(len(self.layers) + 1)) if self.layers else 0
        return len(self.methods) + max(len(self.methods), len(self.layers) + 2 + 2 * halving + self.further_tries)

    def _sensitivities(self, method: str) -> dict[str, float]:
        sensitivity = {}
        for number, name in enumerate(self.layers, 1):
            self.announce(f"layer {number} of {len(self.layers)} alone")
            sensitivity[name] = self._measure_sensitivity(LayerAssignment(method=method, integer=frozenset([name])))
        return sensitivity

    def _sensitivity_of(self, evaluation: Evaluation) -> float:
        self.announce(f"noise of {evaluation.what}")
        return self._measure_sensitivity(evaluation.assignment)

    def _measure_sensitivity(self, assignment: LayerAssignment) -> float:
        self.sensitivity_count += 1
        return self.sensitivity(assignment)

    def _start(self, least_sensitive: Sequence[str], method: str) -> Evaluation:
        """Evaluates as many layers with integer weights as the budget allows, without activations."""
        all_weights = self._try(
            "the weights of all layers", LayerAssignment(method=method, weights=frozenset(self.layers))
        )
        if all_weights.drop <= self.budget:
            return all_weights
        nothing = self._try("no layer", LayerAssignment(method=method))
        if nothing.drop > self.budget:
            raise ModelError(
                f"with every layer in float the metric drops by {nothing.drop:.3g}: the budget is {self.budget:g}",
                hint="allow more with max-drop; tables of embeddings are in 8 bits already: set embeddings = false",
            )
        return self._most(
            "integer weights",
            least_sensitive,
            nothing,
            lambda names: LayerAssignment(method=method, weights=frozenset(names)),
        )

    def _most(
        self, what: str, names: Sequence[str], start: Evaluation, assign: Callable[[Sequence[str]], LayerAssignment]
    ) -> Evaluation:
        """The assignment with the longest prefix of `names` that is within the budget; `start` is the empty one."""
        best, low, high = start, 0, len(names)
        while low < high:
            middle = (low + high + 1) // 2
            tried = self._try(f"{middle} layers with {what}", assign(names[:middle]))
            if tried.drop <= self.budget:
                best, low = tried, middle
            else:
                high = middle - 1
        return best

    def _further(self, least_sensitive: Sequence[str], best: Evaluation) -> Evaluation:
        left = [name for name in least_sensitive if name not in best.assignment.integer]
        for name in left[1 : self.further_tries + 1]:  # the bisection tried the first one last
            known = best.assignment
            assignment = replace(known, integer=known.integer | {name}, weights=known.weights - {name})
            tried = self._try(_one_more(name), assignment)
            if tried.drop <= self.budget:
                best = tried
        return best

    def _try(self, what: str, assignment: LayerAssignment) -> Evaluation:
        self.announce(what)
        found = Evaluation(what=what, assignment=assignment, drop=self.drop(assignment))
        self.evaluations.append(found)
        return found

    def _found(self, best: Evaluation, sensitivity: Mapping[str, float]) -> SearchResult:
        return SearchResult(
            assignment=best.assignment,
            drop=best.drop,
            budget=self.budget,
            evaluations=tuple(self.evaluations),
            sensitivity=sensitivity,
            bound=self.bound,
            evaluation_count=len(self.evaluations) + self.sensitivity_count,
            reasons={name: self._reason(name, sensitivity, best.assignment) for name in self._floats(best.assignment)},
        )

    def _floats(self, assignment: LayerAssignment) -> list[str]:
        return [name for name in self.layers if name not in assignment.integer]

    def _reason(self, name: str, sensitivity: Mapping[str, float], assignment: LayerAssignment) -> str:
        rank = sorted(sensitivity.values(), reverse=True).index(sensitivity[name]) + 1
        kept = "its weights alone are integers; " if name in assignment.weights else ""
        measured = decibels(sensitivity[name])
        alone = (
            f"alone in integers it brings the output to {measured}, rank {rank} of {len(sensitivity)} by sensitivity"
        )
        tried = [each.drop for each in self.evaluations if each.what == _one_more(name)]
        last = f"added last, the drop was {tried[0]:.3g}" if tried else "less sensitive layers use up the budget"
        return f"{kept}{alone}; {last}"


def _one_more(name: str) -> str:
    return f"'{name}' in integers, too"


def decibels(sensitivity: float) -> str:
    """Noise relative to the power, as a signal-to-noise ratio: 0.01 is 20 dB."""
    return f"{-10 * math.log10(sensitivity):.1f} dB" if sensitivity > 0 else "no noise"
