"""Operator configurations of reduced runtimes, and the operators of a model that they lack.

The format is ONNX Runtime's (onnxruntime/tools/reduced_build_config_parser.py in its wheel). Types are kept per
operator, not per version, and the last line with types applies. An operator without types has all of them, unless
`!globally_allowed_types` lists those of the whole build.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.core import parsing, user_files
from packager.core.errors import ConfigError, ModelError

MAX_BYTES = 16 << 20
"""largest size of a configuration"""
EVERYTHING = "!no_ops_specified_means_all_ops_are_required"
GLOBAL_TYPES = "!globally_allowed_types;"
OPERATOR = re.compile(r"\s*([A-Za-z_]\w*)\s*")
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class OperatorConfig:
    operators: frozenset[str]
    """`domain;since_version;Op`, as in Compiled.operators"""
    types: Mapping[str, str]
    """`domain;Op` -> JSON of the kept types, for operators with reduced types"""
    globally_allowed_types: frozenset[str] | None
    """types that all operators were reduced to"""
    has_all_operators: bool
    """whether no operator is listed, which means all"""

    def required(self) -> dict[str, str]:
        """Its operators in the form of Compiled.operators, so that several configurations can be merged."""
        return {
            operator: self.types.get(_without_version(operator), "")
            for operator in sorted(self.operators, key=_sort_key)
        }


@dataclass(frozen=True, kw_only=True)
class Uncovered:
    """An operator of a model without a kernel in the runtime."""

    operator: str
    """`domain;since_version;Op`"""
    types: tuple[str, ...]
    """types that the kernel was built without, as `input 0: float`; empty if the whole operator is missing"""
    line: str
    """line that the configuration needs in addition"""


def read_config(path: Path) -> OperatorConfig:
    """The configuration in a file. Raises ConfigError if it is unreadable or has another format."""
    try:
        return parse_config(user_files.read_text(path, limit_bytes=MAX_BYTES), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="use the file that the runtime was built with") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file", hint="use the file that the runtime was built with") from error


def parse_config(text: str, name: str) -> OperatorConfig:
    """The configuration `text`; `name` is for messages."""
    operators: set[str] = set()
    types: dict[str, str] = {}
    allowed: frozenset[str] | None = None
    is_everything = False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line == EVERYTHING:
            is_everything = True
        elif line.startswith(GLOBAL_TYPES) and allowed is None:
            allowed = frozenset(part.strip() for part in line.removeprefix(GLOBAL_TYPES).split(","))
        else:
            try:
                _add_line(line, operators, types)
            except ValueError as error:
                raise ConfigError(
                    f"{name}:{number}: not a line of an operator configuration: {error}",
                    hint="use the file that mobpack build writes: NAME-VERSION.required_operators_and_types.config",
                ) from error
    if allowed is not None and types:
        raise ConfigError(
            f"{name}: the file reduces types both for single operators and globally",
            hint="remove !globally_allowed_types: ONNX Runtime allows one or the other",
        )
    return OperatorConfig(
        operators=frozenset(operators),
        types=types,
        globally_allowed_types=allowed,
        has_all_operators=is_everything and not operators,
    )


def uncovered(required: Mapping[str, str], config: OperatorConfig) -> tuple[Uncovered, ...]:
    """Operators in `required` (Compiled.operators) that the runtime lacks, in their order.

    Versions must be equal: only ONNX Runtime's source tells whether a kernel of another version would do.
    """
    missing = []
    for operator in sorted(required, key=_sort_key):
        used = required[operator]
        is_there = config.has_all_operators or operator in config.operators
        types = tuple(_missing_types(operator, used, config)) if is_there else ()
        if not is_there or types:
            domain, version, op = operator.split(";")
            missing.append(Uncovered(operator=operator, types=types, line=f"{domain};{version};{op}{used}"))
    return tuple(missing)


def refuse_uncovered(model: str, required: Mapping[str, str], config: OperatorConfig) -> None:
    """Raises ModelError that names every operator of the model that the runtime lacks, with the remedy."""
    missing = uncovered(required, config)
    if not missing:
        return
    named = [_in_words(each) for each in missing[:SHOWN]]
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    lines = "\n".join(f"  {each.line}" for each in missing)
    raise ModelError(
        f"model '{model}': the reduced runtime lacks {', '.join(named)}{more}",
        hint=f"rebuild the runtime: run mobpack runtime recipe again, or add to its operator configuration\n{lines}",
    )


def _in_words(missing: Uncovered) -> str:
    domain, version, op = missing.operator.split(";")
    types = f" for {'; '.join(missing.types)}" if missing.types else ""
    return f"{op} ({domain} {version}){types}"


def _add_line(line: str, operators: set[str], types: dict[str, str]) -> None:
    domain, separator, rest = line.partition(";")
    versions, second, entries = rest.partition(";")
    if not separator or not second or not domain.strip() or line.startswith("!"):
        raise ValueError("expected domain;version;operators")
    numbers = [int(version) for version in versions.split(",")]
    for op, entry in _entries(entries):
        operators.update(f"{domain.strip()};{number};{op}" for number in numbers)
        if entry:
            types[f"{domain.strip()};{op}"] = entry


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Operators of a line with the JSON of their types, `""` without types."""
    position = 0
    while position < len(text):
        found = OPERATOR.match(text, position)
        if not found:
            raise ValueError(f"expected an operator at '{text[position : position + 20]}'")
        position, entry = found.end(), ""
        if text[position : position + 1] == "{":
            document, end = _decoded(text, position)
            _check_types(document)
            entry, position = json.dumps(document), end
        yield found.group(1), entry
        following = text[position:].lstrip()
        if following and following[0] != ",":
            raise ValueError(f"expected a comma at '{following[:20]}'")
        position = len(text) - len(following) + 1


def _check_types(document: Any) -> None:
    if not isinstance(document, dict) or not document.keys() <= {"inputs", "outputs", "custom"}:
        raise ValueError("types must have the keys inputs, outputs and custom")
    for key in document.keys() & {"inputs", "outputs"}:
        if not isinstance(document[key], dict) or not all(isinstance(names, list) for names in document[key].values()):
            raise ValueError(f"{key} must map indices to lists of types")


def _missing_types(operator: str, used: str, config: OperatorConfig) -> Iterator[str]:
    """Types of `used` that the operator was built without, as text."""
    kept = config.types.get(_without_version(operator), "")
    wanted, there = (_type_sets(text) for text in (used, kept))
    for place, names in wanted.items():
        if config.globally_allowed_types is not None:
            lacking = {part for name in names for part in name.split("/")} - config.globally_allowed_types
        elif kept:
            lacking = names - there.get(place, set())
        else:
            lacking = set()
        if lacking:
            yield f"{place}: {', '.join(sorted(lacking))}"


def _decoded(text: str, position: int) -> tuple[Any, int]:
    """The JSON that begins at `position`, and its end. Raises ValueError."""
    try:
        return json.JSONDecoder().raw_decode(text, position)
    except RecursionError as error:
        raise ValueError("types are nested too deeply") from error


def _type_sets(text: str) -> dict[str, set[str]]:
    """`{"inputs": {"0": ["float"]}}` -> `{"input 0": {"float"}}`; a combination counts as one type: `float/int64_t`."""
    document = parsing.json_of(text) if text else {}
    sets = {
        f"{key.removesuffix('s')} {index}": set(names)
        for key in ("inputs", "outputs")
        for index, names in document.get(key, {}).items()
    }
    if "custom" in document:
        sets["custom"] = {"/".join(each) for each in document["custom"]}
    return sets


def _without_version(operator: str) -> str:
    domain, _, op = operator.split(";")
    return f"{domain};{op}"


def _sort_key(operator: str) -> tuple[str, int, str]:
    domain, version, op = operator.split(";")
    return domain, int(version), op
