"""Open properties of random inputs, and guesses for them: sizes of dynamic dimensions, and ranges of integers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from packager.core.values import ElementType, Model, TensorSpec
from packager.samples.domains import Interval, domains_of
from packager.samples.flow import Limit, index_limits, key_of, scale_inputs
from packager.samples.growth import NARROW
from packager.samples.states import states_of

CANDIDATE_SIZES = (64, 1, 128, 16, 224, 32, 512, 8)
"""sizes tried for dynamic dimensions, in this order, until the original model accepts one"""
LARGE_SIZES = (1024, 4096, 16000)
"""sizes for sounds, tried if a node asks for more"""
BATCHES = (2, 4, 8, 3, 6)
"""batches tried if a model takes none of 1"""
SCALES = (1.0, 0.5)
FLOATS = (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16)
PIXELS = (ElementType.UINT8, ElementType.INT8)
MOST_PIXEL = 127
INTEGERS = 8
"""numbers from which other integers are drawn that must not be 0"""

Shapes = tuple[tuple[int, ...], ...]
Range = tuple[int, int]
"""from the first number up to the second, exclusive"""


Pattern = tuple[int | str, ...]
"""the shape of an input, with a key for each dynamic dimension: equal keys have equal sizes"""


@dataclass(frozen=True, kw_only=True)
class GuessedLayout:
    """Dynamic dimensions of the inputs, and which of them are equal."""

    patterns: tuple[Pattern, ...]
    """of each input"""
    ones: frozenset[str]
    """keys of dimensions that are 1 in every first guess: batches, and all of states"""
    last: frozenset[str]
    """keys of the last dimensions of inputs"""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Open properties of a model's inputs."""

    layouts: tuple[GuessedLayout, ...]
    """the likeliest first: dimensions of one name are equal; then states have sizes of their own, because exporters
    give their dimensions the names of others"""
    ranges: Mapping[str, Range]
    """integer inputs that must be in a range"""
    floats: tuple[Mapping[str, Interval], ...]
    """float inputs that are not drawn from -1 to 1, and where they are: the likeliest first"""
    domains: Mapping[str, Interval]
    """float inputs that must be in an interval"""
    limits: Mapping[str, Limit]
    chosen: Mapping[str, tuple[float, ...]]
    """inputs with a fixed set of values -> those values"""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """Values for the open properties."""

    patterns: tuple[Pattern, ...]
    sizes: Mapping[str, int]
    ranges: Mapping[str, Range]
    """integer inputs that need another range than their limit suggests"""
    floats: Mapping[str, Interval]
    """float inputs that are not drawn from -1 to 1"""

    @property
    def shapes(self) -> Shapes:
        return tuple(tuple(self.size_of(each) for each in pattern) for pattern in self.patterns)

    def size_of(self, each: int | str) -> int:
        return each if isinstance(each, int) else self.sizes[each]

    def resized(self, sizes: Mapping[str, int]) -> "Guess":
        return replace(self, sizes={**self.sizes, **sizes})

    def identity(self) -> tuple[object, ...]:
        """Equal for guesses that give the same inputs."""
        return self.shapes, tuple(sorted(self.ranges.items())), tuple(sorted(self.floats.items()))


def open_of(model: Model, growing: Sequence[str] = ()) -> Open:
    """`growing` are inputs whose values decide sizes."""
    states, limits = states_of(model), index_limits(model)
    contract = model.contract
    chosen = {**dict.fromkeys(scale_inputs(model), SCALES), **(contract.values if contract else {})}
    domains = domains_of(model)
    floats = {spec.name: domains[spec.name] for spec in floats_of(model) if spec.name in domains}
    likely = dict.fromkeys((_apart(model, states), states))
    return Open(
        layouts=tuple(_layout(model.signature.inputs, each, limits) for each in likely),
        ranges=_ranges(model, domains, limits),
        floats=tuple(
            {**narrow, **floats} for narrow in _narrow(model, [each for each in growing if each not in chosen])
        ),
        domains=floats,
        limits=limits,
        chosen=chosen,
    )


def first_guesses(known: Open) -> Iterator[Guess]:
    """Guesses with 1 for batches and states and a candidate size for other dynamic dimensions; then with the candidate
    for the last dimensions only; then with batches of several, which nets need that fold a batch into another
    dimension."""
    rounds = [
        *((1, size, last_only) for last_only in (False, True) for size in CANDIDATE_SIZES),
        *((batch, size, False) for batch in BATCHES for size in CANDIDATE_SIZES[:2]),
    ]
    for (batch, size, last_only), layout, floats in product(rounds, known.layouts, known.floats):
        keys = dict.fromkeys(each for pattern in layout.patterns for each in pattern if isinstance(each, str))
        others = {key: 1 if last_only and key not in layout.last else size for key in keys}
        sizes = {key: batch if key in layout.ones else other for key, other in others.items()}
        yield Guess(patterns=layout.patterns, sizes=sizes, ranges=known.ranges, floats=floats)


def floats_of(model: Model) -> list[TensorSpec]:
    """The inputs that take floats."""
    return [spec for spec in model.signature.inputs if spec.element in FLOATS]


def _narrow(model: Model, growing: Sequence[str]) -> list[dict[str, Interval]]:
    """Where floats are drawn from that decide sizes: the first guess is the widest."""
    names = [spec.name for spec in floats_of(model) if spec.name in growing]
    return [dict.fromkeys(names, (-most, most)) for most in NARROW] if names else [{}]


def _ranges(model: Model, domains: Mapping[str, Interval], limits: Mapping[str, Limit]) -> dict[str, Range]:
    """The ranges of integers that operators are defined for."""
    found = {}
    for spec in model.signature.inputs:
        if spec.name not in domains or spec in floats_of(model):
            continue
        low, high = domains[spec.name]
        limit = limits.get(spec.name, MOST_PIXEL + 1 if spec.element in PIXELS else low + INTEGERS)
        top = min(high + 1, limit) if isinstance(limit, int | float) else low
        if top > low:
            found[spec.name] = (int(low), int(top))
    return found


def _apart(model: Model, states: frozenset[str]) -> frozenset[str]:
    """The `states` that share no open dimension, except for the batch, with an input that is none: a mask that a model
    hands on has the size of what it masks."""
    free = {
        key_of(spec, axis)
        for spec in model.signature.inputs
        if spec.name not in states
        for axis in _open_axes(spec)
        if not spec.is_batch(axis)
    }
    left = frozenset(
        spec.name
        for spec in model.signature.inputs
        if spec.name in states and free.isdisjoint(key_of(spec, axis) for axis in _open_axes(spec))
    )
    return left if left == states else _apart(model, left)


def _layout(inputs: tuple[TensorSpec, ...], states: frozenset[str], limits: Mapping[str, Limit]) -> GuessedLayout:
    indexed = {limit for limit in limits.values() if isinstance(limit, str)}
    places = [(spec, axis, _key(spec, axis, states)) for spec in inputs for axis in _open_axes(spec)]
    several = {key for spec, axis, key in places if not (spec.name in states or spec.is_batch(axis))}
    return GuessedLayout(
        patterns=tuple(_pattern(spec, states) for spec in inputs),
        ones=frozenset(key for _, _, key in places) - several - indexed,
        last=frozenset(key for spec, axis, key in places if axis == len(spec.shape) - 1),
    )


def _open_axes(spec: TensorSpec) -> list[int]:
    return [axis for axis, size in enumerate(spec.shape) if not isinstance(size, int)]


def _key(spec: TensorSpec, axis: int, states: frozenset[str]) -> str:
    """Key of a dimension. States have their own sizes, even if names match those of other inputs, except for the
    batch."""
    return f"{spec.name}[{axis}]" if spec.name in states and not spec.is_batch(axis) else key_of(spec, axis)


def _pattern(spec: TensorSpec, states: frozenset[str]) -> Pattern:
    return tuple(size if isinstance(size, int) else _key(spec, axis, states) for axis, size in enumerate(spec.shape))
