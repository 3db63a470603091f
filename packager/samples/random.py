"""Random inputs of a model, for parity, measurements and golden vectors.

Their values come from recipes (`packager/vectors/generated.py`), so that apps can reproduce them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, TensorSpec
from packager.samples.domains import Interval
from packager.samples.guess import Guess, Open, Shapes
from packager.samples.sample import SampleSet, write_arrays
from packager.vectors import ValuesRecipe, generated

WORDS = ("", "a", "mobile", "Zürich", "two words", "0")


def refuse_unfeedable(model: Model) -> None:
    """Raises ModelError for an input of a type that the desktop cannot pass."""
    for spec in model.signature.inputs:
        if spec.element in (ElementType.BFLOAT16, ElementType.OTHER):
            raise ModelError(
                f"input '{spec.name}' is {spec.element}, which no array can hold, so parity cannot be checked",
                hint="cast it inside the graph from float or float16",
            )


def write_samples(model: Model, known: Open, guess: Guess, folder: Path, *, count: int, seed: int) -> SampleSet:
    """Writes `count` samples to `folder`. Their values depend only on `seed`, the input and the sample number, so that
    they are reproducible on every machine."""
    paths, recipes = [], []
    for number in range(count):
        made = recipes_of(model, known, guess, number, seed=seed)
        chosen = _chosen_values(model, known, guess, number, seed=seed)
        drawn = {name: _within(each, guess.floats[name]) for name, each in made.items() if name in guess.floats}
        arrays = {name: _values(recipe) for name, recipe in made.items()} | drawn
        paths.append(folder / f"sample-{number}.npz")
        write_arrays(paths[-1], {spec.name: {**arrays, **chosen}[spec.name] for spec in model.signature.inputs})
        recipes.append({name: each for name, each in _numbers(made).items() if name not in drawn})
    about = described(model, guess, count=count, seed=seed)
    return SampleSet(paths=tuple(paths), description=about, recipes=tuple(recipes))


def described(model: Model, guess: Guess, *, count: int, seed: int) -> str:
    """`2 random, seed 0, input_ids 1x64`: the number, the seed, the shapes of inputs with dynamic dimensions, and
    where numbers come from that are not drawn from -1 to 1."""
    each = [shapes_of(model, guess.shapes, number) for number in range(count)]
    chosen = [
        f"{spec.name} {' and '.join(dict.fromkeys('x'.join(map(str, own[index])) for own in each))}"
        for index, spec in enumerate(model.signature.inputs)
        if not spec.is_static
    ]
    drawn = [f"{name} from {low:.3g} to {high:.3g}" for name, (low, high) in guess.floats.items()]
    return ", ".join([f"{count} random, seed {seed}", *chosen, *drawn])


def shapes_of(model: Model, shapes: Shapes, number: int) -> Shapes:
    """`shapes` with those that the contract defines for sample `number`: pictures vary in size."""
    known = model.contract.shapes if model.contract else {}
    return tuple(
        known[spec.name][number % len(known[spec.name])] if spec.name in known else shape
        for spec, shape in zip(model.signature.inputs, shapes, strict=True)
    )


def recipes_of(model: Model, known: Open, guess: Guess, number: int, *, seed: int) -> dict[str, ValuesRecipe]:
    """Recipes for every input of sample `number`, including strings, as numbers of words; none for inputs with a fixed
    set of values."""
    shapes = shapes_of(model, guess.shapes, number)
    return {
        spec.name: generated.recipe_of(
            spec,
            shape,
            limit=_limit(spec, known, guess),
            bounds=guess.ranges.get(spec.name),
            seed=generated.seed_of(seed, sample=number, index=index),
        )
        for index, (spec, shape) in enumerate(zip(model.signature.inputs, shapes, strict=True))
        if spec.name not in known.chosen
    }


def _limit(spec: TensorSpec, known: Open, guess: Guess) -> int | None:
    if spec.element is ElementType.STRING:
        return len(WORDS)
    limit = known.limits.get(spec.name)
    return None if limit is None else guess.size_of(limit)


def _chosen_values(model: Model, known: Open, guess: Guess, number: int, *, seed: int) -> dict[str, Any]:
    """Values from a fixed set, such as sample rates."""
    import numpy

    shapes = shapes_of(model, guess.shapes, number)
    return {
        spec.name: numpy.random.default_rng([seed, number, index])
        .choice(known.chosen[spec.name], shape)
        .astype(generated.numpy_type(spec.element))
        for index, (spec, shape) in enumerate(zip(model.signature.inputs, shapes, strict=True))
        if spec.name in known.chosen
    }


def _within(recipe: ValuesRecipe, interval: Interval) -> Any:
    """Numbers of `interval` in place of -1 to 1. No step rounds differently on another machine."""
    low, high = interval
    made = generated.values(recipe)
    return (low + (made.astype("float64") + 1) / 2 * (high - low)).astype(made.dtype)


def _values(recipe: ValuesRecipe) -> Any:
    import numpy

    made = generated.values(recipe)
    return numpy.array(WORDS)[made] if recipe.element is ElementType.STRING else made


def _numbers(recipes: Mapping[str, ValuesRecipe]) -> dict[str, ValuesRecipe]:
    """Recipes that apps can reproduce: those of numbers."""
    return {name: each for name, each in recipes.items() if each.element is not ElementType.STRING}
