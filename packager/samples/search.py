"""Searches for random inputs that a model accepts: tries sizes, parses ONNX Runtime's errors, and changes the inputs
that the failing node depends on."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations, product
from math import prod
from pathlib import Path

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model
from packager.samples.complaint import MAX_SIZE, Complaint, complaint, in_words
from packager.samples.domains import Interval
from packager.samples.flow import TABLES, Flow, flow_of
from packager.samples.guess import CANDIDATE_SIZES, LARGE_SIZES, Guess, Open, first_guesses, floats_of, open_of
from packager.samples.random import refuse_unfeedable, write_samples
from packager.samples.sample import SampleSet

LIMIT_S = 60.0
"""no attempt starts later than this: a limit for what never ends; a search usually ends by `MAX_TRIES`"""
MAX_TRIES = 400
MAX_NUMBERS = 1 << 20
"""limit of values per input, to bound time and memory; no model needs larger sizes"""
MOVES_PER_COMPLAINT = 100
BEFORE_REPAIRS = 6
"""number of first guesses tried unchanged before the best of them is repaired"""
INTEGERS = (ElementType.INT64, ElementType.INT32, ElementType.INT16, ElementType.UINT64, ElementType.UINT32)
RANGES = ((1, 2), (0, 1), (1, 9), (16, 17), (64, 65))
"""ranges tried for integers that are not indices: counts, lengths, sizes"""

ALIKE = ((1, 2), (16, 17), (0, 1))
"""ranges of one number, tried last for all such integers at once"""

SMALL, LARGE, NEGATIVE = (-1 / 16, 1 / 16), (1.0, 2.0), (-2.0, -1.0)
SPREADS = ((1 / 16, 1.0), LARGE, SMALL, (1 / 64, 1 / 8), NEGATIVE)
"""intervals from which floats are drawn if outputs of the first draw have no numbers: NaN, or no elements"""
MANY_FLOATS = 4
"""number of inputs that are drawn large or negative alone, beside small ones"""

Attempt = Callable[[Path, int], str]
"""runs a sample by its number in its set; returns the runtime's error, or an empty text"""

Lost = tuple[int, int]
"""number of outputs without any finite number, over all samples, and of NaN in all of them"""
NONE_LOST: Lost = (0, 0)


@dataclass(frozen=True, kw_only=True)
class FoundInputs:
    samples: SampleSet
    shapes: tuple[tuple[int, ...], ...]
    """shapes of the inputs, in the model's order"""
    tries: int


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A guess that failed."""

    guess: Guess
    complaint: Complaint


def find(
    model: Model,
    graph: bytes,
    attempt: Attempt,
    folder: Path,
    *,
    count: int,
    seed: int,
    clock: Callable[[], float] = time.monotonic,
    growing: Sequence[str] = (),
    lost: Callable[[], Lost] = lambda: NONE_LOST,
) -> FoundInputs:
    """Finds `count` random samples that `attempt` accepts, in `folder`; the same ones for the same model.

    `attempt` runs `graph`, whose nodes are `marked`; `lost` says what the outputs of the samples lack that it accepted
    last. `growing` are the inputs whose values decide sizes.

    Raises ModelError that names the failing node, and the inputs and dimensions that it depends on.
    """
    refuse_unfeedable(model)
    search = InputSearch(
        model=model,
        known=open_of(model, growing),
        flow=flow_of(model, graph),
        attempt=attempt,
        folder=folder,
        count=count,
        seed=seed,
        clock=clock,
        end=clock() + LIMIT_S,
        lost=lost,
    )
    return search.run()


class _AcceptedError(Exception):
    """Ends a search: `found` was accepted."""

    def __init__(self, found: FoundInputs) -> None:
        super().__init__()
        self.found = found


class _OverError(Exception):
    """Ends a search that took too long."""


@dataclass(kw_only=True)
class InputSearch:
    """State of one search: the guesses that were tried, with their errors."""

    model: Model
    known: Open
    flow: Flow
    attempt: Attempt
    folder: Path
    count: int
    seed: int
    clock: Callable[[], float]
    end: float
    lost: Callable[[], Lost] = lambda: NONE_LOST
    tried: dict[tuple[object, ...], Tried] = field(default_factory=dict)

    def run(self) -> FoundInputs:
        guesses = first_guesses(self.known)
        try:
            for guess in islice(guesses, BEFORE_REPAIRS):
                self.try_once(guess)
            for start in list(self.tried.values())[:2]:
                self.repair(start)
            for guess in guesses:
                self.try_once(guess)
        except _AcceptedError as accepted:
            return accepted.found
        except _OverError:
            pass
        return self.alike()

    def alike(self) -> FoundInputs:
        """Samples with one number in all integers that are neither indices nor masks: durations of sounds and of notes
        must have one sum. So few tries have no limit. Raises ModelError if the model accepts none of them."""
        free = [name for name in self.integers() if name not in self.known.limits]
        for bounds, start in product(ALIKE if len(free) > 1 else (), list(self.tried.values())[:2]):
            guess = replace(start.guess, ranges={**start.guess.ranges, **dict.fromkeys(free, bounds)})
            samples, refused = self.draw(guess)
            if not refused:
                return self.with_numbers(guess, samples)
        raise self.refusal()

    def try_once(self, guess: Guess) -> Tried | None:
        """The error for `guess`; None for one that was tried before. Raises _AcceptedError if there is no error."""
        identity = guess.identity()
        if identity in self.tried or (self.tried and sum(map(prod, guess.shapes)) > MAX_NUMBERS):
            return None
        if self.tried and (self.clock() > self.end or len(self.tried) >= MAX_TRIES):
            raise _OverError
        samples, refused = self.draw(guess)
        if not refused:
            raise _AcceptedError(self.with_numbers(guess, samples))
        self.tried[identity] = Tried(guess=guess, complaint=complaint(refused))
        return self.tried[identity]

    def draw(self, guess: Guess) -> tuple[SampleSet, str]:
        """The samples of `guess`, and the error for the first that is refused."""
        samples = write_samples(self.model, self.known, guess, self.folder, count=self.count, seed=self.seed)
        errors = (self.attempt(path, number) for number, path in enumerate(samples.paths))
        return samples, next(filter(None, errors), "")

    def with_numbers(self, guess: Guess, samples: SampleSet) -> FoundInputs:
        """The samples of `guess`, which is accepted; or others, if fewer numbers of its outputs are lost on those."""
        best, least, last = guess, self.lost(), guess
        names = [spec.name for spec in floats_of(self.model) if spec.name not in self.known.chosen]
        for floats in self.spreads(names):
            if least == NONE_LOST or self.clock() > self.end:
                break
            last = replace(guess, floats=floats)
            samples, refused = self.draw(last)
            if not refused and (now := self.lost()) < least:
                best, least = last, now
        if best is not last:
            samples, _ = self.draw(best)
        return FoundInputs(samples=samples, shapes=best.shapes, tries=len(self.tried) + 1)

    def spreads(self, names: Sequence[str]) -> Iterator[Mapping[str, Interval]]:
        """Where the inputs `names` are drawn from: all alike, in their domains; then one far from the others; then all
        alike whatever their domains, which are guesses."""
        domains = self.known.domains
        for spread in SPREADS if names else ():
            yield {**dict.fromkeys(names, spread), **domains}
        for name, far in product(names[:MANY_FLOATS] if len(names) > 1 else (), (LARGE, NEGATIVE)):
            yield {**dict.fromkeys(names, SMALL), **domains, name: far}
        for spread in SPREADS if domains else ():
            yield {**domains, **dict.fromkeys(names, spread)}

    def repair(self, start: Tried) -> None:
        """Changes a guess for as long as the failing node moves towards the end of the graph."""
        while start.complaint.node is not None or start.complaint.declared:
            sideways: Tried | None = None
            for guess in islice(self.moves(start), MOVES_PER_COMPLAINT):
                tried = self.try_once(guess)
                if tried and self.is_later(start.complaint, tried.complaint):
                    start = tried
                    break
                if tried and tried.complaint.node == start.complaint.node and tried.complaint != start.complaint:
                    sideways = sideways or tried
            else:
                if sideways is None:
                    return
                start = sideways

    def is_later(self, before: Complaint, after: Complaint) -> bool:
        if before.node is None or after.node is None:
            return bool(before.declared) and not after.declared
        if before.node == after.node or self.flow.comes_before(after.node, before.node):
            return False
        return after.node > before.node or self.flow.comes_before(before.node, after.node)

    def moves(self, tried: Tried) -> Iterator[Guess]:
        """Changes that may fix the failing node, the likeliest first."""
        refusal, guess = tried.complaint, tried.guess
        names = [spec.name for spec in self.model.signature.inputs]
        if refusal.declared:
            wanted = {
                key: size
                for name, axis, size in refusal.declared
                if name in names and isinstance(key := guess.patterns[names.index(name)][axis], str)
            }
            yield guess.resized(wanted)
        if refusal.node is None:
            return
        if refusal.is_index:
            yield from self.narrower(guess, refusal, refusal.node)
        behind = self.flow.behind(self.flow.nodes[refusal.node].input)
        yield from self.resized(guess, refusal, behind)
        yield from self.resized(split(guess, [names.index(name) for name in behind]), refusal, behind)
        yield from self.ranged(guess, behind)

    def narrower(self, guess: Guess, refusal: Complaint, node: int) -> Iterator[Guess]:
        """Lower limits for integers that are used as indices at the node."""
        proto = self.flow.nodes[node]
        ports = [index for index, _ in TABLES.get(proto.op_type, ((1, 0),))]
        indices = [proto.input[port] for port in ports if port < len(proto.input)]
        found = [name for name in self.flow.behind(indices, through_shapes=False) if name in self.integers()]
        highest = 2 if refusal.bound is None else max(1, refusal.bound + 1)
        for high in (highest >> halvings for halvings in range(highest.bit_length())):
            yield replace(guess, ranges={**guess.ranges, **dict.fromkeys(found, (0, high))})

    def resized(self, guess: Guess, refusal: Complaint, behind: Sequence[str]) -> Iterator[Guess]:
        """Other sizes for the dynamic dimensions behind the node: those in the error, those that would make them match,
        then others; first for one dimension, then for several of an input."""
        keys = self.keys(guess, behind)
        single = list(dict.fromkeys((key,) for each in keys.values() for key in each))
        several = [tuple(key for key in each if guess.sizes[key] != 1) for each in keys.values()]
        several += [tuple(each[-2:]) for each in keys.values() if len(each) > 2]
        sizes = (*refusal.numbers, *self.flow.constant_sizes(refusal.node), *CANDIDATE_SIZES)
        yield from _with_sizes(guess, single, sizes)
        yield from self.extrapolated(guess, refusal)
        yield from _with_sizes(guess, single, LARGE_SIZES)
        yield from _with_sizes(guess, [each for each in dict.fromkeys(several) if len(each) > 1], sizes)
        for one, other in permutations(refusal.numbers, 2):
            for key in {key: None for each in keys.values() for key in each}:
                yield guess.resized({key: guess.sizes[key] * other // one or 1})

    def extrapolated(self, guess: Guess, refusal: Complaint) -> Iterator[Guess]:
        """Sizes of one dimension that turn a number in the error into another of its numbers, or into a quotient of
        two. The relation is known from a guess that differs in that dimension only."""
        pairs = permutations(refusal.numbers, 2)
        targets = dict.fromkeys((*refusal.numbers, *(one // other for one, other in pairs if one % other == 0)))
        for tried in list(self.tried.values()):
            key = _only_difference(guess, tried.guess)
            if (
                not key
                or tried.complaint.node != refusal.node
                or len(tried.complaint.sequence) != len(refusal.sequence)
            ):
                continue
            step = tried.guess.sizes[key] - guess.sizes[key]
            for before, after in zip(refusal.sequence, tried.complaint.sequence, strict=True):
                for target in targets if after != before else ():
                    grown, rest = divmod((target - before) * step, after - before)
                    if rest == 0 and 0 < guess.sizes[key] + grown <= MAX_SIZE:
                        yield guess.resized({key: guess.sizes[key] + grown})

    def keys(self, guess: Guess, behind: Sequence[str]) -> dict[str, list[str]]:
        """Input -> its dynamic dimensions."""
        return {
            spec.name: [key for key in pattern if isinstance(key, str)]
            for spec, pattern in zip(self.model.signature.inputs, guess.patterns, strict=True)
            if spec.name in behind
        }

    def ranged(self, guess: Guess, behind: Sequence[str]) -> Iterator[Guess]:
        """Other ranges for integers that are neither indices nor masks: sizes, counts and rates."""
        free = [name for name in behind if name in self.integers() and name not in self.known.limits]
        for name in free:
            for bounds in RANGES:
                yield replace(guess, ranges={**guess.ranges, name: bounds})

    def integers(self) -> list[str]:
        return [spec.name for spec in self.model.signature.inputs if spec.element in INTEGERS]

    def refusal(self) -> ModelError:
        """The error of the guess that got furthest."""
        best = next(iter(self.tried.values()))
        for each in self.tried.values():
            best = each if self.is_later(best.complaint, each.complaint) else best
        refusal = in_words(best.complaint, self.flow, self.model, best.guess.shapes)
        return ModelError(
            f"the original model '{self.model.name}' runs on none of the random inputs that were tried: {refusal}",
            hint=f"provide real inputs with [parity] samples, or fix the sizes in [model.{self.model.name}.shapes]",
        )


def split(guess: Guess, inputs: Sequence[int]) -> Guess:
    """`guess` with separate sizes for `inputs` that share the name of a dimension with another input."""
    patterns, sizes = list(guess.patterns), dict(guess.sizes)
    for index in inputs:
        others = {key for at, pattern in enumerate(patterns) if at != index for key in pattern}
        own = {key: f"{key}@{index}" for key in patterns[index] if isinstance(key, str) and key in others}
        sizes |= {new: sizes[old] for old, new in own.items()}
        patterns[index] = tuple(own.get(key, key) if isinstance(key, str) else key for key in patterns[index])
    return replace(guess, patterns=tuple(patterns), sizes=sizes)


def _with_sizes(guess: Guess, groups: Sequence[tuple[str, ...]], sizes: Sequence[int]) -> Iterator[Guess]:
    for size in dict.fromkeys(sizes):
        for keys in groups:
            yield guess.resized(dict.fromkeys(keys, size))


def _only_difference(one: Guess, other: Guess) -> str:
    """The dimension in which two guesses differ; empty for none or several."""
    if one.patterns != other.patterns or one.ranges != other.ranges:
        return ""
    found = [key for key in one.sizes if one.sizes[key] != other.sizes[key]]
    return found[0] if len(found) == 1 else ""
