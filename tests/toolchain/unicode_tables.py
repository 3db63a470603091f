"""Asks Hugging Face's tokenizers what it knows of Unicode, for `packager/contract/tokenization/unicode/`.

    python -m tests.toolchain.unicode_tables --write

Its parts use four Unicode libraries of different versions, so that no table of one version equals them all.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

from tests.toolchain.charsmaps import charsmap

FOLDER = Path(__file__).parents[2] / "packager" / "contract" / "tokenization" / "unicode"
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
SCRIPTS = "Arabic Cyrillic Devanagari Greek Han Hangul Hebrew Hiragana Katakana Khmer Lao Latin Myanmar Thai".split()
CLASSES = {"space": r"\s", "word": r"\w", "hex": r"\h"}
HANGUL = range(0xAC00, 0xAC00 + 11172)
SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
TOGETHER = 4096
"""Code points that are asked about in one text."""


def sets() -> Iterator[tuple[str, set[int]]]:
    """Sets of code points, by name."""
    cleaning = bert(clean_text=True)
    yield "bert-removed", removed(cleaning)
    yield "bert-space", changed_to(cleaning, " ")
    chinese = bert(handle_chinese_chars=True)
    yield "bert-chinese", {point for point in SCALARS if len(chinese.normalize_str(chr(point))) == 3}
    yield "bert-accent", removed(bert(strip_accents=True))
    yield "combining", removed(normalizers.StripAccents())
    yield "nmt-removed", removed(normalizers.Nmt())
    yield "nmt-space", changed_to(normalizers.Nmt(), " ")
    yield "white", {point for point in SCALARS if not normalizers.Strip().normalize_str(chr(point))}
    yield "punctuation", splitting(pre_tokenizers.Punctuation("isolated"))
    yield "digit", splitting(pre_tokenizers.Digits(individual_digits=True))
    yield "bert-split", splitting(pre_tokenizers.BertPreTokenizer())
    words = pre_tokenizers.Whitespace()
    yield "word", {point for point in SCALARS if pieces(words, f"a{chr(point)}") == [f"a{chr(point)}"]}


def graphemes() -> Iterator[tuple[str, set[int]]]:
    """Classes of code points in clusters of less than six bytes: those that go on, lead on, or stand alone.

    A text of the table that begins such a cluster replaces all of it, which shows where it ends.
    """
    follows = normalizers.Precompiled(charsmap({"a": "b"}))
    yield "grapheme-extend", {point for point in SCALARS if follows.normalize_str(f"a{chr(point)}") == "b"}
    yield "grapheme-prepend", {point for point in SCALARS if point not in HANGUL and is_joined(point, "a")}
    yield "grapheme-control", {point for point in SCALARS if point < 0x10000 and not is_joined(point, "\u0300")}


def is_joined(point: int, after: str) -> bool:
    """Whether a code point and another are one cluster."""
    made = normalizers.Precompiled(charsmap({chr(point): "-"}))
    return bool(made.normalize_str(chr(point) + after) == "-")


def categories() -> Iterator[tuple[str, set[int]]]:
    """Sets of Oniguruma, by name."""
    known = {name: rf"\p{{{name}}}" for name in (*CATEGORIES, *SCRIPTS)} | CLASSES
    everything = "".join(map(chr, SCALARS))
    for name, pattern in known.items():
        left = set(normalizers.Replace(Regex(pattern), "").normalize_str(everything))
        yield name, set(SCALARS) - {ord(each) for each in left}


def scripts() -> Iterator[tuple[str, set[int]]]:
    """Code points that UnicodeScripts keeps together, by their first one."""
    splitter = pre_tokenizers.UnicodeScripts()
    found: dict[int, set[int]] = {}
    recent: list[int] = []
    """first code points, the last one used at the end"""
    for point in SCALARS:
        if not pieces(splitter, chr(point)):
            continue  # of every script
        first = next((each for each in reversed(recent) if len(pieces(splitter, chr(each) + chr(point))) == 1), point)
        found.setdefault(first, set()).add(point)
        recent = [each for each in recent if each != first] + [first]
    yield from ((f"{first:x}", points) for first, points in found.items())


def bert(**wanted: bool) -> normalizers.Normalizer:
    """BERT's normalizer with one of its steps."""
    flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return normalizers.BertNormalizer(**{**dict.fromkeys(flags, False), **wanted})


def removed(normalizer: normalizers.Normalizer) -> set[int]:
    return {point for point in SCALARS if not normalizer.normalize_str(chr(point))}


def changed_to(normalizer: normalizers.Normalizer, text: str) -> set[int]:
    return {point for point in SCALARS if chr(point) != text and normalizer.normalize_str(chr(point)) == text}


def pieces(splitter: pre_tokenizers.PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in splitter.pre_tokenize_str(text)]


def splitting(splitter: pre_tokenizers.PreTokenizer) -> set[int]:
    """Code points that a splitter makes pieces of their own between letters."""
    found: set[int] = set()
    for first in range(0, len(SCALARS), TOGETHER):
        points = SCALARS[first : first + TOGETHER]
        text = "a" + "".join(f"{chr(point)}a" for point in points)
        places = {place for _, place in splitter.pre_tokenize_str(text)}
        found |= {point for number, point in enumerate(points) if (2 * number + 1, 2 * number + 2) in places}
    return found


def compatible() -> dict[int, str]:
    """Compatible decompositions that are not canonical ones."""
    nfd = changes(normalizers.NFD())
    return {point: text for point, text in changes(normalizers.NFKD()).items() if nfd.get(point) != text}


def changes(normalizer: normalizers.Normalizer) -> dict[int, str]:
    """Texts that code points become; Hangul syllables are left out, as they follow a formula."""
    found = each_normalized(normalizer)
    return {point: text for point, text in found if text != chr(point) and not 0xAC00 <= point < 0xAC00 + 11172}


def each_normalized(normalizer: normalizers.Normalizer) -> Iterator[tuple[int, str]]:
    """Code points and the texts that they become, for a normalizer that looks at no others but marks: thousands at
    once, with a character between them that is not a mark and never changes."""
    for first in range(0, len(SCALARS), TOGETHER):
        points = SCALARS[first : first + TOGETHER]
        between = "\ufdd0" if 0xFDD0 not in points else "\0"
        text = normalizer.normalize_str(between.join(map(chr, points)))
        yield from zip(points, text.split(between), strict=True)


def compositions() -> Iterator[str]:
    """`first second composite` for each code point that NFC makes of two; Hangul syllables are left out."""
    nfc = normalizers.NFC()
    for point, text in changes(normalizers.NFD()).items():
        first = nfc.normalize_str(text[:-1])
        if len(text) > 1 and len(first) == 1 and nfc.normalize_str(text) == chr(point):
            yield f"{ord(first):x} {ord(text[-1]):x} {point:x}\n"


def combining_classes() -> dict[int, int]:
    """Canonical combining classes, numbered in their order, found by sorting pairs as NFD does."""
    whole = [point for point, text in each_normalized(normalizers.NFD()) if text == chr(point)]
    marks = sorted(reordered(whole))
    order: list[list[int]] = []
    for mark in marks:
        place = next((number for number, group in enumerate(order) if not precedes(group[0], mark)), len(order))
        if place < len(order) and not precedes(mark, order[place][0]):
            order[place].append(mark)
        else:
            order.insert(place, [mark])
    return {mark: number + 1 for number, group in enumerate(order) for mark in group}


def reordered(points: Sequence[int]) -> set[int]:
    """Those that take part in the order of marks: another mark moves before or after them. None is decomposed."""
    nfd = normalizers.NFD()
    found: set[int] = set()
    for before, after in (("", "\u0334"), ("\u0345", "")):
        texts = [f"a{before}{chr(point)}{after}" for point in points]
        made = nfd.normalize_str("".join(texts))
        found |= {point for number, point in enumerate(points) if made[3 * number : 3 * number + 3] != texts[number]}
    return found


def precedes(one: int, other: int) -> bool:
    """Whether NFD moves `one` before `other`."""
    return one != other and decomposed(other, one) != decomposed(other) + decomposed(one)


def decomposed(*points: int) -> str:
    return normalizers.NFD().normalize_str("".join(map(chr, points)))


def ranges(points: Iterable[int]) -> Iterator[str]:
    """`41-5a 61`: ranges of hexadecimal code points."""
    found: list[list[int]] = []
    for point in sorted(points):
        if found and point == found[-1][1] + 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    yield from (f"{first:x}-{last:x}" if first < last else f"{first:x}" for first, last in found)


def files(only: str = "") -> Iterator[tuple[str, str]]:
    """Names and contents of the tables, or of one."""
    head = f"# tokenizers {__version__}; python -m tests.toolchain.unicode_tables --write\n"
    makers: dict[str, Callable[[], Iterable[str]]] = {
        "sets.txt": lambda: named(sets()),
        "graphemes.txt": lambda: named(graphemes()),
        "categories.txt": lambda: named(categories()),
        "scripts.txt": lambda: named(scripts()),
        "nfd.txt": lambda: rows(changes(normalizers.NFD())),
        "nfc.txt": compositions,
        "nfkd.txt": lambda: rows(compatible()),
        "lowercase.txt": lambda: rows(changes(normalizers.Lowercase())),
        "combining.txt": lambda: grouped(combining_classes()),
    }
    for name, make in makers.items():
        if only in ("", name):
            yield name, head + "".join(make())


def rows(made: dict[int, str]) -> Iterator[str]:
    for point, text in sorted(made.items()):
        yield f"{point:x} {' '.join(f'{ord(each):x}' for each in text)}\n"


def named(sets: Iterable[tuple[str, set[int]]]) -> Iterator[str]:
    for name, points in sets:
        yield f"{name}: {' '.join(ranges(points))}\n"


def grouped(classes: dict[int, int]) -> Iterator[str]:
    for number in sorted(set(classes.values())):
        yield f"{number}: {' '.join(ranges(mark for mark, each in classes.items() if each == number))}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in files():
        if "--write" in sys.argv:
            (FOLDER / name).write_text(content, encoding="utf-8")
        print(name, len(content))
