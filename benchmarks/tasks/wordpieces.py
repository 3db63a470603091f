"""Words as BERT sees them: the longest known pieces, from left to right (arXiv:1609.08144)."""

import json
import re
from collections.abc import Mapping
from functools import cache

from benchmarks.tasks.packages import content

START = "\u2581"
"""Prefix in the vocabulary of the first piece of a word."""
UNKNOWN, FIRST, LAST = 100, 101, 102


def pieces(text: str) -> list[int]:
    """The numbers of a text's pieces, between those that begin and end every text."""
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    numbers = [number for word in words for number in split(START + word, vocabulary()) or [UNKNOWN]]
    return [FIRST, *numbers, LAST]


def split(word: str, known: Mapping[str, int]) -> list[int]:
    """The numbers of the pieces of `word`; none if some part of it is in no piece."""
    found: list[int] = []
    while word:
        length = next((size for size in range(len(word), 0, -1) if word[:size] in known), 0)
        # The mark alone is no piece of a word: it would only hide that the first letter is unknown.
        if not length or word[:length] == START:
            return []
        found.append(known[word[:length]])
        word = word[length:]
    return found


@cache
def vocabulary() -> Mapping[str, int]:
    names = json.loads(content("data-word-pieces", "package/assets/vocab.json"))
    return {name: number for number, name in enumerate(names)}
