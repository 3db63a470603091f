"""`mobpack diff` on packages alone reads their bills of materials: other weights, kinds and licences of models."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

from packager.core.card import Card
from packager.core.contract import Contract
from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.distribution import sbom
from packager.distribution.differences import Level, cards, compare, read
from packager.distribution.differences.values import Change
from packager.distribution.sbom import DescribedModels
from tests.cases.differences_cases import ANDROID, TYPED
from tests.golden.cases import EMBEDDING, IMAGE, PIXELS, VECTOR, typed
from tests.unit.test_diff import OLD, written
from tests.unit.test_sbom import parts_of

PACKAGE = Package(name="changes", version="1.2.3", license="MIT")
EMBEDS = typed("typed", PIXELS, VECTOR, Contract(inputs=(IMAGE,), outputs=(EMBEDDING,)))


PARTS = parts_of(ANDROID)


def bill(plan: Plan, *, digest: str = "1" * 64, terms: str = "MIT") -> str:
    plan = replace(plan, model=replace(plan.model, sha256=digest))
    described = DescribedModels(cards={plan.model.name: Card(license=terms)}, recipes={})
    return sbom.bill(PACKAGE, PARTS, (plan,), described, Report(parities=()))


def changes(old: str, new: str) -> list[Change]:
    return list(cards.changes(*(cards.read({"META-INF/changes/sbom.cdx.json": text}) for text in (old, new))))


def test_cards_of_models_are_read_and_those_of_other_parts_are_not() -> None:
    card = cards.read({"home/sbom.cdx.json": bill(TYPED), "home/deeper/sbom.cdx.json": "{}"})["typed"]
    assert (card.sha256, card.license) == ("1" * 64, "MIT")
    assert not card.embeds
    assert cards.read({"sbom.cdx.json": bill(EMBEDS)})["typed"].embeds
    model = {"type": "machine-learning-model", "name": 1, "hashes": [7], "licenses": "MIT", "modelCard": []}
    assert cards.read({"sbom.cdx.json": json.dumps({"components": [model, "a"]})})["1"].sha256 == ""
    for text in ["", "{", "[]", "7", '{"components": {"a": 1}}', "[" * 5000]:
        assert cards.read({"sbom.cdx.json": text}) == {}


def test_a_change_of_a_card_has_its_level() -> None:
    for old, new, level, words in [
        (bill(TYPED), bill(TYPED, digest="2" * 64), Level.PATCH, "other graph or weights"),
        (bill(EMBEDS), bill(EMBEDS, digest="2" * 64), Level.MINOR, "other weights of a model that embeds"),
        (bill(TYPED), bill(TYPED, terms="GPL-3.0-only"), Level.MAJOR, "licence GPL-3.0-only, was MIT"),
        (bill(TYPED, terms=""), bill(TYPED), Level.MINOR, "licence MIT, was none"),
    ]:
        (change,) = changes(old, new)
        assert (change.level, change.where, change.change) == (level, "typed", words)
        assert not changes(old, old)


def test_other_weights_in_a_package_alone_are_a_patch(tmp_path: Path) -> None:
    places = []
    for name, digest in (("old", "1"), ("new", "2")):
        (package,) = written(replace(OLD, targets=("ios",)), tmp_path / name).rglob("*.zip")
        with zipfile.ZipFile(package, "a") as archive:
            archive.writestr("changes-1.2.3/sbom.cdx.json", bill(TYPED, digest=digest * 64))
        places.append(package)
    found = compare(*map(read, places))
    assert (found.verdict, found.bump.is_enough) == (Level.PATCH, False)
    assert [each.change for each in found.changes] == ["other graph or weights"]
