"""Random inputs of golden vectors: SplitMix64 as published, values as the module says, exact for every element type."""

from fractions import Fraction
from math import prod

import pytest

from packager.core.values import ElementType
from packager.vectors import generated
from packager.vectors.generated import ValuesRecipe
from tests.golden.cases import specs

FRACTION_BITS = {ElementType.FLOAT: 23, ElementType.DOUBLE: 52, ElementType.FLOAT16: 10}
INTEGERS = {
    ElementType.INT8: (-128, 128),
    ElementType.UINT8: (0, 256),
    ElementType.INT16: (-5, 32768),
    ElementType.UINT16: (0, 2),
    ElementType.INT32: (-(2**31), 0),
    ElementType.UINT32: (7, 8),
    ElementType.INT64: (0, 2**31),
    ElementType.UINT64: (3, 250_002),
    ElementType.BOOL: (0, 2),
}


def word(seed: int, index: int) -> int:
    """As the module's docstring defines it, in Python's integers."""
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def recipe(
    element: ElementType, *shape: int, low: int = -1, high: int = 1, row: int = 0, seed: int = 2**64 - 9
) -> ValuesRecipe:
    return ValuesRecipe(element=element, shape=shape, seed=seed, low=low, high=high, row=row)


def test_words_are_of_the_published_program_and_every_input_has_its_own() -> None:
    # Words printed by splitmix64.c for these seeds.
    assert generated.words(1234567, 5).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert generated.words(0, 2).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert [int(generated.words(2**64 - 1, 100)[99])] == [word(2**64 - 1, 99)]
    assert generated.seed_of(5, sample=1, index=2) == word(word(word(5, 0) + 1, 0) + 2, 0)
    seeds = {generated.seed_of(seed, sample=s, index=i) for seed in range(3) for s in range(8) for i in range(8)}
    assert len(seeds) == 3 * 8 * 8
    assert generated.seed_of(2**64 + 5, sample=0, index=0) == generated.seed_of(5, sample=0, index=0)


@pytest.mark.parametrize("element", FRACTION_BITS)
def test_floats_are_fractions_without_rounding(element: ElementType) -> None:
    made = generated.values(recipe(element, 40, 50))

    bits = FRACTION_BITS[element]
    exact = [Fraction(word(2**64 - 9, index) >> (63 - bits), 2**bits) - 1 for index in range(2000)]
    assert [Fraction(float(number)) for number in made.ravel()] == exact
    assert (made.shape, made.dtype) == ((40, 50), generated.numpy_type(element))
    assert -1 <= made.min() < -0.9
    assert 0.9 < made.max() < 1


@pytest.mark.parametrize("element", INTEGERS)
def test_integers_lie_where_the_recipe_says(element: ElementType) -> None:
    low, high = INTEGERS[element]
    made = generated.values(recipe(element, 300, low=low, high=high))

    exact = [low + ((word(2**64 - 9, index) >> 32) * (high - low) >> 32) for index in range(300)]
    assert made.tolist() == exact
    assert made.dtype.name == str(element)


def test_small_ranges_are_used_and_the_first_largest_wins() -> None:
    made = generated.values(recipe(ElementType.INT8, 4000, low=-128, high=128))
    assert set(made.tolist()) == set(range(-128, 128))
    made = generated.values(recipe(ElementType.INT64, 5, 7, low=0, high=2, row=7))
    free = generated.values(recipe(ElementType.INT64, 5, 7, low=0, high=2))
    assert made[:, 0].tolist() == [1] * 5
    assert free[:, 0].tolist() != [1] * 5
    assert (made[:, 1:] == free[:, 1:]).all()
    same = recipe(ElementType.INT32, 4, 9, low=-3, high=12, row=9)
    assert generated.from_json(generated.to_json(same)) == same
    assert generated.to_json(same)["seed"] == "0xfffffffffffffff7"
    assert generated.stored(same).tolist() == [-9, -3, 12, 9]
    assert generated.stored(same).nbytes == generated.RECIPE_BYTES


@pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
def test_scalars_and_tensors_without_values_are_made_too(shape: tuple[int, ...]) -> None:
    made = generated.values(recipe(ElementType.FLOAT, *shape))
    assert (made.shape, made.size) == (shape, prod(shape))


@pytest.mark.parametrize(
    ("element", "shape", "limit", "expected"),
    [
        (ElementType.FLOAT, (2, 3), None, (-1, 1, 0)),
        (ElementType.BOOL, (2, 3), None, (0, 2, 0)),
        (ElementType.UINT8, (2, 3), None, (0, 256, 0)),
        (ElementType.INT8, (2, 3), None, (-128, 128, 0)),
        (ElementType.INT64, (2, 3), None, (0, 2, 3)),
        (ElementType.INT32, (), None, (0, 2, 0)),
        (ElementType.INT64, (2, 3), 30_522, (0, 30_522, 0)),
        (ElementType.INT64, (2, 3), 2**40, (0, 2**31, 0)),
        (ElementType.INT8, (2, 3), 1000, (0, 128, 0)),
        (ElementType.UINT16, (2, 3), 10**6, (0, 2**16, 0)),
        (ElementType.STRING, (2, 3), 6, (0, 6, 0)),
    ],
)
def test_ranges_follow_element_and_table(
    element: ElementType, shape: tuple[int, ...], limit: int | None, expected: tuple[int, int, int]
) -> None:
    (spec,) = specs("input", ("x", element, shape))
    made = generated.recipe_of(spec, shape, limit=limit, seed=1)
    assert (made.low, made.high, made.row) == expected
    assert generated.values(made).size == prod(shape)


@pytest.mark.parametrize(
    ("element", "count", "is_shorter"),
    [(ElementType.FLOAT, 8, False), (ElementType.FLOAT, 9, True), (ElementType.BOOL, 33, True)],
)
def test_a_recipe_is_worth_it_only_where_values_take_more(element: ElementType, count: int, is_shorter: bool) -> None:
    assert recipe(element, count).is_shorter is is_shorter
