"""How tables of mobpack.toml are read into dataclasses."""

from collections.abc import Mapping

from packager.core import names

STRICT: Mapping[str, object] = {
    "extra": "forbid",
    "strict": True,
    "alias_generator": names.kebab_case,
    "use_attribute_docstrings": True,
}
"""What a dataclass has as `__pydantic_config__`: its fields are keys in kebab-case, and there are no others."""
