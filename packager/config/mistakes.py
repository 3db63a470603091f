"""Says pydantic's errors in terms of mobpack.toml."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from packager.config.checks import CheckTable, ParityTable, ToleranceTable
from packager.config.pipelines import PipelineTable, StageTable
from packager.config.runtime import RuntimeTable
from packager.config.strict import Strict
from packager.config.tables import FILE_NAME, Config, ModelTable, PackageTable, TargetTable
from packager.contract import INPUT_KINDS, OUTPUT_KINDS
from packager.core import names, toml
from packager.core.errors import ConfigError, nearest
from packager.quantizers import QUANTIZERS
from packager.targets import KNOWN_TARGETS

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FORMS = re.compile(r"bool|float|int|str|constrained-\w+|[\w-]+\[.*\]")
"""pydantic's names for the forms of a value that may have several; they are no keys of the file"""
WHOLE, NUMBER, TRUTH = (re.compile(each) for each in (r"-?\d+", r"-?\d+(\.\d*)?(e-?\d+)?", r"true|false"))
NO_TEXT = 'tokenize in the app and pass the numbers: kind = "tensor"; docs/contract.md says why'


class MissingKeyError(ConfigError):
    """A table lacks a key that it needs."""

    def __init__(self, where: str, key: str) -> None:
        super().__init__(f"{where}: '{key}' is missing", hint=f"add it to {FILE_NAME}")
        self.key = key


def config_error(detail: "ErrorDetails", document: Mapping[str, Any], *, has_settings: bool) -> ConfigError:
    """The first pydantic error about `document`, in terms of mobpack.toml."""
    location = list(_keys_of(detail["loc"], document))
    plugin = _plugin_at(location)
    if plugin:
        del location[plugin.depth]
    where, key = ".".join(location[:-1]) or "top level", location[-1]
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        keys = plugin.keys(location[plugin.depth : -1]) if plugin else _keys_at(location[:-1])
        hint = _others_with(key, location, plugin) or nearest(key, keys, cutoff=0.5)
        return ConfigError(f"{where}: unknown key '{key}'", hint=hint)
    if detail["type"] == "union_tag_invalid":
        return _unknown_plugin(location, str(detail["ctx"]["tag"]))
    if detail["type"] == "missing":
        return MissingKeyError(where, key)
    if detail["type"] == "value_error":
        error = detail["ctx"]["error"]
        return ConfigError(f"{'.'.join(location)}: {error}", hint=getattr(error, "hint", ""))
    hint = _as_another_type(detail, location, document) or f"correct it in {FILE_NAME}"
    if has_settings:
        hint += """ or in --set, whose values are TOML: --set 'target.android.providers=["xnnpack"]'"""
    return ConfigError(f"{'.'.join(location)}: {detail['msg'].lower()}, not {detail['input']!r}", hint=hint)


def _as_another_type(detail: "ErrorDetails", location: Sequence[str], document: Mapping[str, Any]) -> str:
    """A hint for a text without quotes, or a number or a truth value in quotes; empty for another mistake."""
    value, key = detail["input"], "" if location[-1].isdigit() else f"{location[-1]} = "
    if detail["type"] in ("string_type", "path_type") and isinstance(value, bool | int | float):
        return f'text stands in quotes: {key}"{_as_written(document, detail["loc"], value)}"'
    wanted = {"int_type": WHOLE, "float_type": NUMBER, "bool_type": TRUTH}.get(detail["type"])
    is_quoted = wanted and isinstance(value, str) and wanted.fullmatch(value)
    return f"numbers, true and false stand without quotes: {key}{value}" if is_quoted else ""


def _as_written(document: Mapping[str, Any], location: Sequence[int | str], value: object) -> str:
    """The number at `location` as it is in the file: 1.10, which equals 1.1."""
    found: Any = document
    for part in location:
        if isinstance(found, Mapping):
            found = found.get(part, found)
        elif isinstance(found, list) and isinstance(part, int):
            found = found[part]
    return found.text if isinstance(found, toml.Written) else str(value).lower()


def _keys_of(location: Sequence[int | str], document: Mapping[str, Any]) -> Iterator[str]:
    """The keys and places of `location`, without the forms of values, which may be called as a key is."""
    found: Any = document
    for part in location:
        if isinstance(found, Mapping) and part in found:
            found = found[str(part)]
        elif isinstance(found, list) and isinstance(part, int):
            found = found[part]
        elif FORMS.fullmatch(str(part)):
            continue
        yield str(part)


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """The plug-in that defines a table's keys."""

    kind: Any
    depth: int
    """position of its name in pydantic's error location"""

    def keys(self, tables: Sequence[str]) -> list[str]:
        """Keys of its table, or of the nested table `tables`."""
        kind = self.kind
        for table in tables:
            kind = get_type_hints(kind)[table.replace("-", "_")]
        return [names.kebab_case(key.name) for key in fields(kind)]


def _family_at(location: Sequence[str]) -> tuple[str, Mapping[str, Any], int]:
    """Kind of the plug-ins at `location`, the known ones, and the position of their name in it."""
    if location[0] == "variant":
        return "quantizer", QUANTIZERS, 2
    if location[0] == "model" and len(location) > 2 and location[2] in ("inputs", "outputs"):
        return "kind", INPUT_KINDS if location[2] == "inputs" else OUTPUT_KINDS, 4
    return "", {}, 0


def _plugin_at(location: Sequence[str]) -> Plugin | None:
    _, family, depth = _family_at(location)
    is_named = family and len(location) > depth and location[depth] in family
    return Plugin(kind=family[location[depth]], depth=depth) if is_named else None


def _others_with(key: str, location: Sequence[str], plugin: Plugin | None) -> str:
    """A hint that names the other plug-ins of a family whose tables have `key`; empty without any."""
    if plugin is None or len(location) != plugin.depth + 1:
        return ""
    what, family, _ = _family_at(location)
    found = [name for name, kind in family.items() if key in (names.kebab_case(each.name) for each in fields(kind))]
    return f"these have it: {what} {', '.join(found)}" if found else ""


def _unknown_plugin(location: Sequence[str], name: str) -> ConfigError:
    what, family, _ = _family_at(location)
    where = ".".join(location)
    if what == "kind" and not name:
        return ConfigError(f"{where}: 'kind' is missing", hint=f"add one of: {', '.join(family)}")
    if location[2:3] == ["inputs"] and name == "text":
        return ConfigError(f"{where}: text inputs are not supported: packages contain no tokenizer", hint=NO_TEXT)
    return ConfigError(f"{where}: unknown {what} '{name}'", hint=nearest(name, list(family)))


def _keys_at(location: Sequence[str]) -> list[str]:
    """Known keys of the table at `location`."""
    tables: dict[str, type[Strict]] = {
        "": Config,
        "package": PackageTable,
        "model": ModelTable,
        "pipeline": PipelineTable,
        "parity": ParityTable,
        "check": CheckTable,
        "runtime": RuntimeTable,
        "target": TargetTable,
    }
    if len(location) == 4 and location[2] == "tolerance":
        return [names.kebab_case(key) for key in ToleranceTable.model_fields]
    if len(location) == 2 and location[0] == "target":
        keys = fields(KNOWN_TARGETS[location[1]]) if location[1] in KNOWN_TARGETS else ()
        return [names.kebab_case(key.name) for key in keys]
    if location[:1] == ["pipeline"] and len(location) == 4:
        return [names.kebab_case(key) for key in StageTable.model_fields]
    table = tables.get(location[0] if location else "", Config)
    return [field.alias or name for name, field in table.model_fields.items()]
