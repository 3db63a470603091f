"""Verdicts on descriptions are those on the declarations of the code that they describe, in every language."""

from dataclasses import replace
from itertools import permutations

import pytest

from packager.core.contract import Contract
from packager.core.values import Delivery, ElementType, Plan
from packager.core.values import Package as Settings
from packager.distribution.differences import Level, interfaces
from packager.distribution.differences.values import heaviest
from packager.targets import TARGETS, WRAPPERS
from packager.vectors import Golden
from tests.cases.differences_cases import PACKAGE, TYPED, X, Y, declarations, each_alone, package, tensors
from tests.cases.trust_vectors import TRUST
from tests.declarations import interfaces as declared
from tests.declarations import kotlin
from tests.declarations.published import PublishedApi, current, is_raised, published
from tests.declarations.values import DeclaredPackage
from tests.golden.cases import (
    CLASSES,
    CONTRACTS,
    IMAGE,
    LISTS,
    PIXELS,
    SCORES,
    Case,
    Published,
    Wrapped,
    api_of,
    choice,
    typed,
    vectors,
)

F, I64 = ElementType.FLOAT, ElementType.INT64
LANGUAGES = ("Dart", "Kotlin", "Swift", "TypeScript")
FIXED = ("logits", F, (1, 4))
MODELS = (
    tensors("one", (X,), (Y,)),
    tensors("fixed", (("x", F, (1, 3, 8)),), (FIXED,)),
    tensors("two-unknown", (("x", F, ("batch", 3, "height")),), (Y,)),
    tensors("two-unknown-swapped", (("x", F, ("height", 3, "batch")),), (Y,)),
    tensors("nameless-size", (("x", F, (None, 3, 8)),), (Y,)),
    tensors("more-axes", (("x", F, ("batch", 3, 8, 2)),), (Y,)),
    tensors("integers", (("x", I64, ("batch", 3, 8)),), (Y,)),
    tensors("fixed-output", (X,), (FIXED,)),
    tensors("output-before", (X,), (("first", F, (1, 8)), FIXED)),
    tensors("output-after", (X,), (FIXED, ("last", F, (1, 8)))),
    tensors("input-after", (X, ("y", F, (1, 8))), (Y,)),
    tensors("input-before", (("y", F, (1, 8)), X), (Y,)),
    typed("fewer", PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(replace(CLASSES, top_k=1, threshold=0.5),))),
    *CONTRACTS,
    *(replace(each, model=replace(each.model, name=f"lists-{each.model.name}")) for each in LISTS),
)
CHANNEL = Delivery(channel="stable", contracts={"typed": "c" * 64})
SETTINGS = (
    PACKAGE,
    replace(PACKAGE, trust=TRUST),
    replace(PACKAGE, trust=TRUST, delivery=CHANNEL),
    replace(PACKAGE, encryption="release"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_of_a_model_is_major_where_it_is_to_its_code(language: str) -> None:
    plans = tuple(replace(each, target="android", choices=(choice("cpu"),)) for each in MODELS)
    models = each_alone(language, package(language, plans))
    assert len(models) == len(MODELS)
    levels = set()
    for (old, before), (new, after) in permutations(models.items(), 2):
        found = [each.level for each in interfaces.changes(before.api, after.api)]
        read = [each.level for each in declared.changes(before.declared, after.declared)]
        assert (Level.MAJOR in found) == (Level.MAJOR in read), (old, new)
        levels.add(heaviest(*found))
    assert levels == {Level.MAJOR, Level.MINOR, Level.NONE}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_of_the_package_is_major_where_it_is_to_its_code(language: str) -> None:
    packages = [with_settings(language, each) for each in SETTINGS]
    packages.append(with_self_test(package(language, (TYPED,))))
    apis = [api_of(each) for each in packages]
    codes = [DeclaredPackage(language=language, declarations=declarations(language, each)) for each in packages]
    for old, new in permutations(range(len(packages)), 2):
        found = [each.level for each in interfaces.changes(apis[old], apis[new])]
        read = [each.level for each in declared.changes(codes[old], codes[new])]
        assert (Level.MAJOR in found) == (Level.MAJOR in read), (old, new)


def with_settings(language: str, settings: Settings) -> Case | Wrapped | Published:
    made = package(language, (TYPED,))
    if isinstance(made, Case):
        return replace(made, package=settings)
    assert made.android
    assert made.ios
    android, ios = (replace(each, package=settings) for each in (made.android, made.ios))
    return replace(made, android=android, ios=ios)


def with_self_test(made: Case | Wrapped | Published) -> Case | Wrapped | Published:
    if isinstance(made, Case):
        return replace(made, golden=_vectors(made.plans))
    assert made.android
    assert made.ios
    android, ios = (replace(each, golden=_vectors(each.plans)) for each in (made.android, made.ios))
    return replace(made, android=android, ios=ios)


def _vectors(plans: tuple[Plan, ...]) -> Golden:
    return {key: found for plan in plans for key, found in vectors(plan, tolerance=1e-3).items()}


def test_the_revision_says_what_has_changed_since_mobpack_was_published() -> None:
    now = current()
    assert set(now) == {*TARGETS, *WRAPPERS}
    for each in published():
        assert is_raised(each, now[each.target]), f"raise REVISION of {each.target}"


@pytest.mark.parametrize(
    ("old", "new", "revision", "expected"),
    [
        ("fun a(x: Int): Int = x", "fun a(x: Int): Int = x", (1, 2), True),
        ("fun a(x: Int): Int = x", "fun b(x: Int): Int = x", (1, 3), False),
        ("fun a(x: Int): Int = x", "fun b(x: Int): Int = x", (2, 0), True),
        ("fun a(x: Int): Int = x", "fun a(x: Int, y: Int = 1): Int = x", (1, 2), False),
        ("fun a(x: Int): Int = x", "fun a(x: Int, y: Int = 1): Int = x", (1, 3), True),
    ],
)
def test_a_revision_must_be_raised(old: str, new: str, revision: tuple[int, int], expected: bool) -> None:
    before, after = (
        DeclaredPackage(language="Kotlin", declarations=kotlin.declarations(f"public {each}")) for each in (old, new)
    )
    published_before = PublishedApi(target="android", revision=(1, 2), package=before)
    assert is_raised(published_before, PublishedApi(target="android", revision=revision, package=after)) is expected
