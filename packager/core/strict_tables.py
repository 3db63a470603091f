"""Reads tables of mobpack.toml into dataclasses."""

from collections.abc import Mapping

from packager.core import names

STRICT: Mapping[str, object] = {
    "extra": "forbid",
    "strict": True,
    "alias_generator": names.kebab_case,
}
"""Value of a dataclass's `__pydantic_config__`: keys are its fields in kebab-case, and unknown keys are errors."""
