"""Configures the dataclasses that tables of mobpack.toml, and documents of JSON, are read into."""

from collections.abc import Mapping

from packager.core import names

STRICT: Mapping[str, object] = {
    "extra": "forbid",
    "strict": True,
    "alias_generator": names.kebab_case,
}
"""Value of a dataclass's `__pydantic_config__`: keys are its fields in kebab-case, and unknown keys are errors."""
DOCUMENT: Mapping[str, object] = {"extra": "forbid", "alias_generator": names.kebab_case}
"""The same for a document of JSON, which has other types for paths and tuples"""
