"""Schemes of labels for tokens: prefixes such as `B-` and `I-` that say where spans begin and end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from packager.core.errors import ConfigError

Scheme = Literal["auto", "bio", "bilou", "plain"]

LETTERS = {"bio": "BI", "bilou": "BILUES", "plain": ""}
"""prefixes of each scheme, without the hyphen: BIOES has `E` and `S` where BILOU has `L` and `U`"""
FIRST, LAST = "BUS", "LEUS"
"""prefixes of tokens that begin a span, and of those that end one"""


@dataclass(frozen=True, kw_only=True)
class Tag:
    """Meaning of a label."""

    name: str
    """of the span; empty outside of spans"""
    begins: bool = False
    """whether the token begins a span, even after another of this name"""
    ends: bool = False
    """whether the next token begins another span"""


def tags(labels: Sequence[str], scheme: Scheme, outside: str) -> tuple[Tag, ...]:
    """The meaning of each label. Raises ConfigError for labels that do not say which scheme they follow."""
    letters = LETTERS[_derived([each for each in labels if each != outside]) if scheme == "auto" else scheme]
    return tuple(Tag(name="") if each == outside else _tag(each, letters) for each in labels)


def _derived(labels: Sequence[str]) -> str:
    """The scheme that all `labels` follow; one without a prefix has none."""
    found = {label[0] if _has_prefix(label, LETTERS["bilou"]) else "" for label in labels}
    if found <= {""}:
        return "plain"
    if "" in found:
        some = next(label for label in labels if not _has_prefix(label, LETTERS["bilou"]))
        raise ConfigError(
            f"label '{some}' has no prefix such as B-, but others have",
            hint='set scheme = "bio" or "bilou", where it is a span of its own, or scheme = "plain"',
        )
    return "bio" if found <= set(LETTERS["bio"]) else "bilou"


def _has_prefix(label: str, letters: str) -> bool:
    return label[:1] in letters and label[1:2] == "-" and len(label) > 2


def _tag(label: str, letters: str) -> Tag:
    if not letters or not _has_prefix(label, letters):
        return Tag(name=label)
    return Tag(name=label[2:], begins=label[0] in FIRST, ends=label[0] in LAST)
