"""Random inputs of a model: the only place where they are made, for parity, measurements and golden vectors alike.

Numbers are those that recipes make (`packager/vectors/generated.py`), so that apps can make them anew.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, TensorSpec
from packager.samples.guess import Guess, Open, Shapes
from packager.samples.sample import SampleSet, write_arrays
from packager.vectors import Recipe, generated

WORDS = ("", "a", "mobile", "Zürich", "two words", "0")


def refuse_unfeedable(model: Model) -> None:
    """Raises ModelError for an input of a type that no desktop can feed."""
    for spec in model.signature.inputs:
        if spec.element in (ElementType.BFLOAT16, ElementType.OTHER):
            raise ModelError(
                f"input '{spec.name}' is {spec.element}: the desktop cannot feed it, so parity cannot be checked",
                hint="cast it inside the graph from float or float16",
            )


def write_samples(model: Model, known: Open, guess: Guess, folder: Path, *, count: int, seed: int) -> SampleSet:
    """`count` samples in `folder`. Their numbers depend on `seed`, the input and the sample alone, so that they are the
    same on every machine."""
    paths, recipes = [], []
    for number in range(count):
        made = recipes_of(model, known, guess, number, seed=seed)
        chosen = _chosen_values(model, known, guess, number, seed=seed)
        arrays = {name: _values(recipe) for name, recipe in made.items()}
        paths.append(folder / f"sample-{number}.npz")
        write_arrays(paths[-1], {spec.name: {**arrays, **chosen}[spec.name] for spec in model.signature.inputs})
        recipes.append(_numbers(made))
    about = described(model, guess, count=count, seed=seed)
    return SampleSet(paths=tuple(paths), description=about, recipes=tuple(recipes))


def described(model: Model, guess: Guess, *, count: int, seed: int) -> str:
    """`2 random, seed 0, input_ids 1x64`: with the shapes that the model leaves open, of every sample."""
    each = [shapes_of(model, guess.shapes, number) for number in range(count)]
    chosen = [
        f"{spec.name} {' and '.join(dict.fromkeys('x'.join(map(str, own[index])) for own in each))}"
        for index, spec in enumerate(model.signature.inputs)
        if not spec.is_static
    ]
    return ", ".join([f"{count} random, seed {seed}", *chosen])


def shapes_of(model: Model, shapes: Shapes, number: int) -> Shapes:
    """`shapes` with those that the model's contract says for the sample `number`: pictures of several sizes."""
    known = model.contract.shapes if model.contract else {}
    return tuple(
        known[spec.name][number % len(known[spec.name])] if spec.name in known else shape
        for spec, shape in zip(model.signature.inputs, shapes, strict=True)
    )


def recipes_of(model: Model, known: Open, guess: Guess, number: int, *, seed: int) -> dict[str, Recipe]:
    """What every input of the sample `number` is made of; strings too, as numbers of words. Inputs that are chosen have
    none."""
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
    """Rates of recordings, for one."""
    import numpy

    shapes = shapes_of(model, guess.shapes, number)
    return {
        spec.name: numpy.random.default_rng([seed, number, index])
        .choice(known.chosen[spec.name], shape)
        .astype(generated.numpy_type(spec.element))
        for index, (spec, shape) in enumerate(zip(model.signature.inputs, shapes, strict=True))
        if spec.name in known.chosen
    }


def _values(recipe: Recipe) -> Any:
    import numpy

    made = generated.values(recipe)
    return numpy.array(WORDS)[made] if recipe.element is ElementType.STRING else made


def _numbers(recipes: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Those that an app can make: words are ours."""
    return {name: each for name, each in recipes.items() if each.element is not ElementType.STRING}
