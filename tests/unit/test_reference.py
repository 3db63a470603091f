"""The reference of mobpack.toml matches the code."""

import json
from functools import cache
from pathlib import Path

import pytest

from packager.workflows import reference

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_page_and_the_schema_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "schema", cache(reference.schema))
    assert (DOCS / "configuration.md").read_text(encoding="utf-8") == reference.markdown()
    assert json.loads((DOCS / "mobpack.schema.json").read_text(encoding="utf-8")) == reference.schema()


def test_every_table_and_every_key_is_described() -> None:
    definitions = json.loads((DOCS / "mobpack.schema.json").read_text(encoding="utf-8"))["$defs"]
    assert set(definitions) - {"TargetTable"} == set(reference.TABLES)
    undescribed = [
        f"{name}.{key}"
        for name in reference.TABLES
        for key, entry in definitions[name]["properties"].items()
        if "description" not in entry
    ]
    assert undescribed == []
