"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

from dataclasses import replace

from packager.distribution.differences import Level, interfaces
from tests.cases.diff_compilers import is_major, says_breaking
from tests.cases.differences_cases import CHANGED, changed


def test_the_verdict_is_the_expected_one_in_every_language() -> None:
    for each in CHANGED:
        for language, compiles in (
            ("Kotlin", each.kotlin),
            ("TypeScript", each.typescript),
            ("Swift", each.swift),
            ("Dart", each.dart),
        ):
            assert says_breaking(language, each) is not compiles, language


def test_a_provider_more_is_a_minor_change() -> None:
    old = changed("Kotlin")["typed"]
    new = replace(old, providers=(*old.providers, "xnnpack"))
    (change,) = interfaces.changes(old, new)
    assert (change.level, change.change) == (Level.MINOR, "new provider xnnpack")
    assert is_major(interfaces.changes(new, old))
