"""Dataclasses as JSON: keys in kebab-case, infinities as strings."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from packager.core.names import kebab_case

NO_MORE: Mapping[type, tuple[str, ...]] = {}


def plain(value: object, computed: Mapping[type, tuple[str, ...]] = NO_MORE) -> Any:
    """JSON form of `value`; `computed` names properties of dataclasses to include besides the fields.

    Infinity becomes a string: `infinity`, `-infinity`.
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = (*(each.name for each in fields(value)), *computed.get(type(value), ()))
        return {kebab_case(name): plain(getattr(value, name), computed) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(value[key], computed) for key in sorted(value)}
    if isinstance(value, tuple | list):
        return [plain(each, computed) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    return str(value) if isinstance(value, PurePath) else value
