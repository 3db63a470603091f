"""Changes of a description that are major, in every language; `test_diff_compilers.py` asks compilers about some."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations, product

import pytest

from packager.core.contract import Contract
from packager.core.values import Delivery, ElementType, Plan
from packager.core.values import Package as Settings
from packager.description import PackageApi
from packager.distribution.differences import Level, interfaces
from packager.targets import TARGETS, WRAPPERS
from packager.vectors import Golden
from tests.cases import published_api
from tests.cases.differences_cases import PACKAGE, TYPED, X, Y, each_alone, package, tensors
from tests.cases.trust_vectors import TRUST
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
CHANNEL = Delivery(channel="stable", root="{}", contracts={"typed": "c" * 64})
SETTINGS = (
    PACKAGE,
    replace(PACKAGE, trust=TRUST),
    replace(PACKAGE, trust=TRUST, delivery=CHANNEL),
    replace(PACKAGE, encryption="release"),
)
Pairs = set[tuple[str, str]]
ANY_SIZE = ("one", "fixed", "two-unknown", "two-unknown-swapped", "nameless-size", "more-axes", "fixed-output")
EVERYWHERE: Pairs = {("classifier", "fewer"), ("fewer", "classifier")}
WITH_SIZES: Pairs = EVERYWHERE | {("fixed-output", "output-after"), ("more-axes", "one"), ("one", "more-axes")}
OUTPUTS: Pairs = {("fixed-output", "output-after"), ("fixed-output", "output-before")}
INPUTS: Pairs = {("input-after", "input-before"), ("input-before", "input-after")}
COMPATIBLE: Mapping[str, Pairs] = {
    "Dart": {
        *EVERYWHERE,
        *INPUTS,
        *permutations(ANY_SIZE, 2),
        *product(ANY_SIZE, ("output-before", "output-after")),
        ("embedder", "lists-embedder"),
        ("ranker", "lists-judge"),
    },
    "Kotlin": WITH_SIZES,
    "Swift": WITH_SIZES | OUTPUTS | {("fixed", each) for each in ("fixed-output", "output-after", "output-before")},
    "TypeScript": {
        *EVERYWHERE,
        *INPUTS,
        *OUTPUTS,
        *permutations(("one", "nameless-size"), 2),
        *permutations(("two-unknown", "two-unknown-swapped"), 2),
    },
}
"""Old and new model, if apps for the old one compile with the new one; all other pairs are major changes."""
PACKAGES = ("plain", "trust", "channel", "encryption", "self-test")
ADDED: Pairs = {("plain", "trust"), ("plain", "encryption"), ("plain", "self-test")}
FREE = ("plain", "encryption", "self-test")
"""Packages that have the same API in Dart and TypeScript."""
COMPATIBLE_PACKAGES: Mapping[str, Pairs] = {
    "Dart": {*permutations(FREE, 2), *product(FREE, ("trust", "channel")), ("trust", "channel")},
    "Kotlin": ADDED,
    "Swift": ADDED,
}
COMPATIBLE_PACKAGES = {**COMPATIBLE_PACKAGES, "TypeScript": COMPATIBLE_PACKAGES["Dart"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_of_a_model_is_major_where_apps_no_longer_compile(language: str) -> None:
    plans = tuple(replace(each, target="android", choices=(choice("cpu"),)) for each in MODELS)
    models = each_alone(package(language, plans))
    assert len(models) == len(MODELS)
    assert compatible(models) == COMPATIBLE[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_of_the_package_is_major_where_apps_no_longer_compile(language: str) -> None:
    packages = [with_settings(language, each) for each in SETTINGS]
    packages.append(with_self_test(package(language, (TYPED,))))
    assert compatible(dict(zip(PACKAGES, map(api_of, packages), strict=True))) == COMPATIBLE_PACKAGES[language]


def test_a_target_of_another_mobpack_is_compared_without_facts_of_its_language() -> None:
    old = PackageApi(
        mobpack="0.1.0",
        package="net",
        version="1.0.0",
        target="desktop",
        language="Rust",
        revision=(1, 0),
        features=(),
        providers=("cpu",),
        models=(),
    )
    found = interfaces.changes(old, replace(old, features=("channel",), providers=()))
    assert [(each.where, each.level, each.change) for each in found] == [
        ("desktop: Rust", Level.MINOR, "channel is new")
    ]


def compatible(apis: Mapping[str, PackageApi]) -> Pairs:
    return {
        (old, new)
        for old, new in permutations(apis, 2)
        if all(each.level is not Level.MAJOR for each in interfaces.changes(apis[old], apis[new]))
    }


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
    now = published_api.current()
    assert set(now) == {*TARGETS, *WRAPPERS}
    for target, before in published_api.published().items():
        assert published_api.is_raised(before, now[target]), f"raise REVISION of {target}"
