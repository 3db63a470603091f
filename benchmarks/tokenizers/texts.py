"""Texts to tokenize, the same in every run: translations, prose, source code, emoji, code points, noise."""

import gettext
import random
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

SEED = 20261125
WITH_LARGE = 0.1
"""from this share of the texts on, those of a megabyte are among them"""
ENGLISH = "don't I'LL we've THEY'RE it's i'm he'd 'S 'tis o'clock x'y 12345 3.14 1,000,000 a1b2 C++ e-mail\u2019s"
ODD = (
    "\u0130\u0131\u017f\u212a\ufb01\u01c5\u1e9e\u00df\u0300\u0301\u0345\u200d\u200b\u00ad\u2028\u0085\u00a0\u3000"
    "\ufeff\ufffd\0\x7f\u0e33\u0f0b\u1100\u1161\u11a8\uac01"
)
FACES = "\U0001f468\U0001f469\U0001f467\u2764\U0001f3f3\U0001f308\u270a\U0001f44d1#\U0001f1e9\U0001f1ea\U0001f1fc"
JOINERS = "\u200d\ufe0f\u20e3\U0001f3fb\U0001f3fd\U0001f3ff\U000e0067\U000e007f"
BLANKS = (" ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", " \n", "\n ", "\u00a0", "\u3000", "\u2028")


@dataclass(frozen=True, kw_only=True)
class Text:
    kind: str
    text: str


def texts(package: Path, special: Sequence[str], share: float = 1.0) -> Iterator[Text]:
    """Every text, or a `share` of each kind.

    `package` is Django's wheel: translations into a hundred languages, and source code. `special` are the tokenizer's
    added tokens.
    """
    words = translations(package)
    made: Mapping[str, Callable[[int], Iterator[str]]] = {
        "translations": lambda number: prose(words, number),
        "source code": lambda number: sources(package, number),
        "blanks, digits, apostrophes": spaced,
        "emoji": emoji,
        "random Unicode": noise,
        "special tokens inside": lambda number: marked(words, special, number),
    }
    for (kind, make), number in zip(made.items(), (50_000, 20_000, 20_000, 5_000, 20_000, 5_000), strict=True):
        yield from (Text(kind=kind, text=each) for each in make(max(1, int(number * share))))
    points = assigned()
    step = max(1, round(1 / share))
    yield from (Text(kind="one code point", text=each) for each in points[::step])
    if share >= WITH_LARGE:
        yield from (Text(kind="a megabyte", text=each) for each in megabytes(words))


@cache
def translations(package: Path) -> tuple[str, ...]:
    """Every translated sentence of Django, language by language."""
    found: dict[str, None] = {}
    with zipfile.ZipFile(package) as wheel:
        for name in sorted(each for each in wheel.namelist() if each.endswith(".mo")):
            with wheel.open(name) as file:
                found |= dict.fromkeys(_messages(file))
    return tuple(found)


def messages(package: Path) -> list[str]:
    """The sentences that were translated, in English."""
    with zipfile.ZipFile(package) as wheel, wheel.open("django/conf/locale/de/LC_MESSAGES/django.mo") as file:
        return sorted(each for each in vars(gettext.GNUTranslations(file))["_catalog"] if isinstance(each, str))


def _messages(file: IO[bytes]) -> Iterator[str]:
    # gettext keeps no public list of its messages
    catalog = vars(gettext.GNUTranslations(file))["_catalog"]
    yield from (text for key, text in sorted(catalog.items(), key=str) if key and text)


def prose(words: Sequence[str], number: int) -> Iterator[str]:
    """One to eight sentences that stand side by side, from all languages."""
    chosen = random.Random(SEED)
    for _ in range(number):
        first, size = chosen.randrange(len(words)), chosen.choice((1, 1, 1, 2, 3, 8))
        yield " ".join(words[first : first + size])


def sources(package: Path, number: int) -> Iterator[str]:
    """One to thirty lines of Python, JavaScript, CSS and HTML."""
    chosen = random.Random(SEED + 1)
    with zipfile.ZipFile(package) as wheel:
        names = sorted(each for each in wheel.namelist() if re.search(r"\.(py|js|css|html|txt)$", each))
        lines = [line for name in names for line in wheel.read(name).decode("utf-8").splitlines(keepends=True)]
    for _ in range(number):
        first, size = chosen.randrange(len(lines)), chosen.choice((1, 1, 2, 5, 30))
        yield "".join(lines[first : first + size])[:4096]


def spaced(number: int) -> Iterator[str]:
    """The characters that regular expressions of splitters look at, in every order."""
    chosen = random.Random(SEED + 2)
    pieces = [*ENGLISH.split(), *BLANKS, *BLANKS, *ODD, *"'\"/.,!?-_()[]{}$^\u00bd\u0661\u4e94\u216b\u00b2"]
    for _ in range(number):
        yield "".join(chosen.choices(pieces, k=chosen.randint(1, 12)))


def emoji(number: int) -> Iterator[str]:
    chosen = random.Random(SEED + 3)
    for _ in range(number):
        yield "".join(chosen.choices((*FACES, *FACES, *JOINERS, " "), k=chosen.randint(1, 16)))


def noise(number: int) -> Iterator[str]:
    """Code points of all of Unicode, mixed with those of one block."""
    chosen = random.Random(SEED + 4)
    points = assigned()
    for _ in range(number):
        first = chosen.randrange(len(points))
        near = points[first : first + 128]
        kinds = (near, points, ODD + " a")
        yield "".join(chosen.choice(chosen.choice(kinds)) for _ in range(chosen.randint(1, 40)))


def marked(words: Sequence[str], special: Sequence[str], number: int) -> Iterator[str]:
    """Words with added tokens, and parts of these, at any place between them."""
    chosen = random.Random(SEED + 5)
    for _ in range(number):
        pieces: list[str] = []
        for _ in range(chosen.randint(1, 8)):
            token = chosen.choice(special) if special else "[SEP]"
            begin, end = sorted(chosen.randint(0, len(token)) for _ in range(2))
            pieces.append(chosen.choice((token, token, token[begin:end], " ", chosen.choice(words)[:30])))
        yield "".join(pieces)


@cache
def assigned() -> str:
    """Every code point that has a meaning, by Python's Unicode."""
    return "".join(chr(each) for each in range(0x110000) if unicodedata.category(chr(each)) not in ("Cn", "Co", "Cs"))


def megabytes(words: Sequence[str]) -> Iterator[str]:
    size = 1_000_000
    chosen = random.Random(SEED + 6)
    yield " ".join(chosen.sample(words, 40_000))[:size]
    yield "a" * size
    yield " " * size
    yield "ab1 " * (size // 4)
    yield "".join(chosen.choices(assigned(), k=size))


def scripts(words: Sequence[str]) -> list[str]:
    """Scripts with a thousand letters and more, by the first word of the letters' names."""
    counts: dict[str, int] = {}
    for word in words:
        for each in word:
            if each.isalpha():
                name = unicodedata.name(each, "?").split()[0]
                counts[name] = counts.get(name, 0) + 1
    return sorted(name for name, count in counts.items() if count >= 1000)
