"""Licences as SPDX expressions: reads them, and says what they ask of whoever ships a part under them."""

from collections.abc import Callable, Mapping, Set
from enum import StrEnum
from functools import cache
from typing import Any

OWN_TERMS = "LicenseRef-"
"""Start of the identifier of a licence that is not in SPDX's list"""
NETWORK = ("AGPL-", "SSPL-", "OSL-", "RPL-", "CPAL-")
COPYLEFT = ("GPL-", "EUPL-", "CECILL-2")
NON_COMMERCIAL = ("CC-BY-NC-", "PolyForm-Noncommercial-", "Aladdin")


class Duty(StrEnum):
    """Terms that most apps cannot keep."""

    NETWORK = "network copyleft"
    COPYLEFT = "copyleft"
    NON_COMMERCIAL = "no commercial use"


CONSEQUENCES = {
    Duty.NETWORK: "whoever uses the app, over a network too, may ask for its whole source under the same terms",
    Duty.COPYLEFT: "an app that contains it must be under the same terms",
    Duty.NON_COMMERCIAL: "it forbids commercial use",
}

BY_WEIGHT = (None, Duty.NON_COMMERCIAL, Duty.COPYLEFT, Duty.NETWORK)
CHOICES: Mapping[str, Callable[..., Duty | None]] = {"OR": min, "AND": max}
"""Operator of an expression -> the duty that it leaves"""


@cache
def _licensing() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()


def normalized(text: str) -> str:
    """`text` as an SPDX expression in the list's own spelling; empty if it is none, or names a licence that is not in
    the list and has no `LicenseRef-`."""
    parsed = _parsed(text)
    return str(parsed) if parsed is not None else ""


def is_single(expression: str) -> bool:
    """Whether a normalized expression is one licence of SPDX's list."""
    parsed = _parsed(expression)
    return parsed is not None and bool(getattr(parsed, "key", "")) and not _is_own(parsed.key) and " " not in expression


def _parsed(text: str) -> Any:
    """The tree of an expression; None if it is none."""
    from boolean.boolean import ParseError
    from license_expression import ExpressionError

    try:
        parsed = _licensing().parse(text, strict=True)
    except (ExpressionError, ParseError):
        return None
    known = _licensing().known_symbols
    if parsed is None or any(not _is_own(each) and each not in known for each in _keys(parsed)):
        return None
    return parsed


def _keys(parsed: Any) -> list[str]:
    return [str(each) for each in _licensing().license_keys(parsed)]


def _is_own(key: str) -> bool:
    return key.startswith((OWN_TERMS, "DocumentRef-"))


def is_choice(text: str) -> bool:
    """Whether a text is one licence, with an exception or without, that `satisfied` can be asked about."""
    parsed = _parsed(text)
    return parsed is not None and type(parsed).__name__ not in CHOICES


def satisfied(expression: str, allowed: Set[str]) -> bool:
    """Whether somebody who accepts the `allowed` licences can accept an expression: of `MIT OR GPL-3.0-only` one of
    both, of `MIT AND GPL-3.0-only` both. A licence with an exception is one of its own. False for no expression."""
    parsed = _parsed(expression)
    return parsed is not None and _is_satisfied(parsed, allowed)


def _is_satisfied(parsed: Any, allowed: Set[str]) -> bool:
    judges = {"OR": any, "AND": all}
    if judge := judges.get(type(parsed).__name__):
        return judge(_is_satisfied(each, allowed) for each in parsed.args)
    return str(parsed) in allowed


def duty(expression: str) -> Duty | None:
    """The heaviest duty of an expression that nobody can choose to avoid: of `MIT OR AGPL-3.0-only` there is none, of
    `MIT AND AGPL-3.0-only` network copyleft. None for an expression that cannot be read."""
    parsed = _parsed(expression)
    return None if parsed is None else _duty(parsed)


def _duty(parsed: Any) -> Duty | None:
    kind = type(parsed).__name__
    if kind in CHOICES:
        return CHOICES[kind]((_duty(each) for each in parsed.args), key=BY_WEIGHT.index)
    key = str(getattr(parsed, "license_symbol", parsed).key)
    if key.startswith(NETWORK):
        return Duty.NETWORK
    if key.startswith(NON_COMMERCIAL):
        return Duty.NON_COMMERCIAL
    # exceptions, such as that for the class path, let other code be linked
    has_exception = hasattr(parsed, "exception_symbol")
    return Duty.COPYLEFT if key.startswith(COPYLEFT) and not has_exception else None
