"""Random inputs that every language makes anew from four numbers, so that no package has to carry their values.

The words are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014; the C
program of Sebastiano Vigna is in the public domain): whole numbers of 64 bits, all arithmetic modulo 2^64.

    word(seed, i):    z = seed + (i + 1) * 0x9E3779B97F4A7C15
                      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
                      z = (z ^ (z >> 27)) * 0x94D049BB133111EB
                      z ^ (z >> 31)

Each input of each sample has words of its own. Samples and a model's inputs are counted from 0:

    seed of an input = word(word(word(seed of all, 0) + sample, 0) + input, 0)

Value i of a tensor, in row-major order, comes of w = word(seed, i). No step rounds, so that every machine has the same:

    float     (w >> 40) / 2^23 - 1                          from -1 to 1, without the latter
    double    (w >> 11) / 2^52 - 1
    float16   (w >> 53) / 2^10 - 1
    integers  low + (((w >> 32) * (high - low)) >> 32)      from low to high, without the latter; high - low <= 2^31
              high - 1 where i is a multiple of row, unless row is 0
    bool      as integers from 0 to 2

A recipe is what a tensor is made of: four signed numbers of 64 bits, seed, low, high, row. The last three are -1, 1 and
0 for floats, where they play no part. Strings have no recipe.
"""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from packager.core.parsing import Json
from packager.core.values import ElementType, TensorSpec

if TYPE_CHECKING:
    import numpy

KIND = "splitmix64"
MODULUS = 2**64
GAMMA, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
MAX_SPAN = 2**31
RECIPE_BYTES = 32
FLOATS = {
    ElementType.FLOAT: ("float32", 24),
    ElementType.DOUBLE: ("float64", 53),
    ElementType.FLOAT16: ("float16", 11),
}
"""numpy's name, and the number of bits of a word that a number uses."""


@dataclass(frozen=True, kw_only=True)
class ValuesRecipe:
    """The parameters that generate the values of a tensor."""

    element: ElementType
    shape: tuple[int, ...]
    seed: int
    """below 2^64"""
    low: int
    high: int
    row: int
    """the first value of each row is never masked, because an attention mask that hides everything gives NaN"""

    @property
    def is_shorter(self) -> bool:
        """Whether it is smaller than the values."""
        return prod(self.shape) * numpy_type(self.element).itemsize > RECIPE_BYTES


def words(seed: int, count: int) -> "numpy.ndarray":
    """The first `count` words of `seed`: uint64[count]."""
    import numpy

    found: numpy.ndarray = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(GAMMA) + numpy.uint64(seed)
    for shift, factor in ((30, FIRST_FACTOR), (27, SECOND_FACTOR), (31, 1)):
        found = (found ^ (found >> numpy.uint64(shift))) * numpy.uint64(factor)
    return found


def seed_of(seed: int, *, sample: int, index: int) -> int:
    """The seed of the input `index` of a sample."""
    for number in (0, sample, index):
        seed = int(words((seed + number) % MODULUS, 1)[0])
    return seed


def recipe_of(
    spec: TensorSpec, shape: tuple[int, ...], *, limit: int | None, bounds: tuple[int, int] | None = None, seed: int
) -> ValuesRecipe:
    """A recipe for an input: floats from -1 to 1, indices below `limit`; integers that are not indices cover their
    whole range if they have 8 bits (pixels), else 0 and 1 (masks), unless `bounds` says from where to where, without
    the latter. A string's recipe numbers words."""
    low, high, row = (*bounds, 0) if bounds else _range(spec.element, limit, shape)
    return ValuesRecipe(element=spec.element, shape=shape, seed=seed, low=low, high=high, row=row)


def values(recipe: ValuesRecipe) -> "numpy.ndarray":
    """The tensor that `recipe` generates."""
    import numpy

    random = words(recipe.seed, prod(recipe.shape))
    found: numpy.ndarray
    if recipe.element in FLOATS:
        _, bits = FLOATS[recipe.element]
        half = 2 ** (bits - 1)
        found = ((random >> numpy.uint64(64 - bits)).astype(numpy.int64) - half) / half
    else:
        span = numpy.uint64(recipe.high - recipe.low)
        found = ((random >> numpy.uint64(32)) * span >> numpy.uint64(32)).astype(numpy.int64) + recipe.low
        if recipe.row:
            found[:: recipe.row] = recipe.high - 1
    return found.astype(numpy_type(recipe.element)).reshape(recipe.shape)


def stored(recipe: ValuesRecipe) -> "numpy.ndarray":
    """The four numbers as programs read them: int64[4]."""
    import numpy

    seed = recipe.seed - MODULUS if recipe.seed >= MODULUS // 2 else recipe.seed
    return numpy.array([seed, recipe.low, recipe.high, recipe.row], numpy.int64)


def to_json(recipe: ValuesRecipe) -> dict[str, object]:
    """The recipe as JSON: not all programs that read JSON have 64-bit integers."""
    return {
        "kind": KIND,
        "element": str(recipe.element),
        "shape": list(recipe.shape),
        "seed": f"0x{recipe.seed:016x}",
        "low": recipe.low,
        "high": recipe.high,
        "row": recipe.row,
    }


def from_json(document: Json) -> ValuesRecipe:
    return ValuesRecipe(
        element=ElementType(document["element"]),
        shape=tuple(document["shape"]),
        seed=int(document["seed"], 16),
        low=document["low"],
        high=document["high"],
        row=document["row"],
    )


def numpy_type(element: ElementType) -> "numpy.dtype[Any]":
    """numpy's type of the values; strings have word numbers."""
    import numpy

    name, _ = FLOATS.get(element, ("int64" if element is ElementType.STRING else str(element), 0))
    return numpy.dtype(name)


def _range(element: ElementType, limit: int | None, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The values of low, high and row."""
    import numpy

    if element in FLOATS:
        return -1, 1, 0
    if element is ElementType.BOOL:
        return 0, 2, 0
    bounds = numpy.iinfo(numpy_type(element))
    if limit is not None:
        return 0, min(limit, int(bounds.max) + 1, MAX_SPAN), 0
    if bounds.bits == 8:
        return int(bounds.min), int(bounds.max) + 1, 0
    return 0, 2, shape[-1] if shape else 0
