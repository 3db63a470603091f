"""Lines of Swift, broken as swift-format leaves them."""

import textwrap
from collections.abc import Iterable

TIED = "\u00a0"
"""blank at which no line ends"""
WIDEST = 120
"""longest line, in characters"""


def filled(parts: Iterable[str], *, indent: int) -> tuple[str, ...]:
    """Lines with as many of `parts` in each as fit behind `indent` blanks, and commas between them."""
    text = ", ".join(part.replace(" ", TIED) for part in parts)
    width = WIDEST - indent - len("))")
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return tuple(line.replace(TIED, " ") for line in lines)


def called(head: str, parts: Iterable[str], tail: str, *, indent: int) -> tuple[str, ...]:
    """`head`, `parts` in parentheses, and `tail`: in a line, or in several where that has no room for them."""
    given = tuple(parts)
    line = f"{head}({', '.join(given)}){tail}"
    if len(line) + indent <= WIDEST:
        return (line,)
    inside = [f"    {each}" for each in filled(given, indent=indent + 4)]
    if not tail:
        return (f"{head}(", *inside[:-1], f"{inside[-1]})")
    return (f"{head}(", *inside, f"){tail}")


def listed(head: str, parts: Iterable[str], tail: str, *, indent: int) -> tuple[str, ...]:
    """`head`, an array of `parts`, and `tail`: in a line, or in several where that has no room for them."""
    given = tuple(parts)
    line = f"{head}[{', '.join(given)}]{tail}"
    if len(line) + indent <= WIDEST:
        return (line,)
    return (f"{head}[", *(f"    {each}" for each in filled(given, indent=indent + 4)), f"]{tail}")
