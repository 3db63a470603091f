"""Bills of materials: written, validated by the schema of CycloneDX, and read."""

import json
from functools import cache
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from packager.core.card import Card, Dataset, Metric
from packager.core.components import Parts
from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.distribution import sbom
from packager.distribution.sbom import DescribedModels

CARD = Card(
    license="Apache-2.0",
    version="2.1",
    source="https://example.com/net",
    author="Ada Lovelace",
    description="Tells page from picture.",
    architecture="PP-LCNet",
    learning="supervised",
    datasets=(
        Dataset(name="pages", url="https://example.com/pages", license="CC-BY-4.0", sensitive=("names",)),
        Dataset(name="pages", use="evaluation"),
    ),
    metrics=(Metric(name="top-1 accuracy", value=0.94, on="a test set"),),
    users=("apps that scan",),
    uses=("turning pages",),
    limits=("columns were not tried",),
    trade_offs=("8-bit weights",),
    ethics=("none known",),
)

RECIPES: dict[str, object] = {"fp32": {"quantizer": "static-qdq", "weights": "int8"}}


def written(package: Package, parts: Parts, plans: tuple[Plan, ...], report: Report | None = None) -> str:
    described = DescribedModels(cards={plan.model.name: CARD for plan in plans}, recipes=RECIPES)
    return sbom.bill(package, parts, plans, described, report or Report(parities=()))


@cache
def validator(version: SchemaVersion) -> JsonStrictValidator:
    return JsonStrictValidator(version)


def assert_valid(text: str) -> dict[str, Any]:
    """Valid as 1.6 and, with its number, as 1.7; references are unique and lead somewhere; URLs are canonical."""
    assert validator(SchemaVersion.V1_6).validate_str(text) is None
    bill: dict[str, Any] = json.loads(text)
    newer = {**bill, "$schema": "http://cyclonedx.org/schema/bom-1.7.schema.json", "specVersion": "1.7"}
    assert validator(SchemaVersion.V1_7).validate_str(json.dumps(newer)) is None
    references = list(references_in(bill))
    assert len(set(references)) == len(references)
    for each in bill["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= set(references)
    for each in (bill["metadata"]["component"], *bill["components"]):
        if "purl" in each:
            assert PackageURL.from_string(each["purl"]).to_string() == each["purl"]
    return bill


def references_in(value: Any) -> Any:
    if isinstance(value, dict):
        if "bom-ref" in value:
            yield value["bom-ref"]
        for each in value.values():
            yield from references_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from references_in(each)


def component(bill: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in bill["components"] if each["name"] == name]
    return dict(found)
