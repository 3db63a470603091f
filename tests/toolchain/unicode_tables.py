"""Asks Hugging Face's tokenizers what it knows of Unicode, for `packager/tokenization/unicode/`.

    python -m tests.toolchain.unicode_tables --write

Its parts use four Unicode libraries of different versions, so that no table of one version equals them all.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

FOLDER = Path(__file__).parents[2] / "packager" / "tokenization" / "unicode"
SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
SCRIPTS = "Han Hiragana Katakana Hangul Thai Lao Khmer Myanmar Arabic Hebrew Cyrillic Greek Latin".split()
EVERYTHING = "".join(map(chr, SCALARS))


def in_regex(expression: str) -> set[int]:
    """Code points that a class of Oniguruma contains."""
    kept = normalizers.Replace(Regex(f"[^{expression}]"), "").normalize_str(EVERYTHING)
    return set(map(ord, kept))


def sets() -> Iterator[tuple[str, set[int]]]:
    """Sets of code points, by name."""
    yield from ((f"category {name}", in_regex(rf"\p{{{name}}}")) for name in CATEGORIES)
    yield from ((f"script {name}", in_regex(rf"\p{{{name}}}")) for name in SCRIPTS)
    yield "space", in_regex(r"\s")
    yield "word", in_regex(r"\w")
    yield (
        "bert-removed",
        removed(
            normalizers.BertNormalizer(
                clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False
            )
        ),
    )
    yield (
        "bert-space",
        changed_to(
            normalizers.BertNormalizer(
                clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False
            ),
            " ",
        ),
    )
    yield (
        "bert-chinese",
        {
            point
            for point in SCALARS
            if len(
                normalizers.BertNormalizer(
                    clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False
                ).normalize_str(chr(point))
            )
            == 3
        },
    )
    yield "bert-accent", bert_accents()
    yield "combining", removed(normalizers.StripAccents())
    yield "nmt-removed", removed(normalizers.Nmt())
    yield "nmt-space", changed_to(normalizers.Nmt(), " ")
    yield "white", {point for point in SCALARS if not normalizers.Strip().normalize_str(chr(point))}
    yield "punctuation", {point for point in SCALARS if splits(pre_tokenizers.Punctuation("isolated"), chr(point))}
    yield "digit", {point for point in SCALARS if splits(pre_tokenizers.Digits(individual_digits=True), chr(point))}
    yield "bert-split", {point for point in SCALARS if splits(pre_tokenizers.BertPreTokenizer(), chr(point))}
    yield (
        "word-alone",
        {point for point in SCALARS if pieces(pre_tokenizers.Whitespace(), "a" + chr(point)) == ["a" + chr(point)]},
    )
    yield "word-white", {point for point in SCALARS if not pieces(pre_tokenizers.Whitespace(), chr(point))}
    yield "not-composed", {point for point in SCALARS if normalizers.NFC().normalize_str(chr(point)) != chr(point)}


def removed(normalizer: normalizers.Normalizer) -> set[int]:
    return {point for point in SCALARS if not normalizer.normalize_str(chr(point))}


def changed_to(normalizer: normalizers.Normalizer, text: str) -> set[int]:
    return {point for point in SCALARS if chr(point) != text and normalizer.normalize_str(chr(point)) == text}


def bert_accents() -> set[int]:
    """Marks that BERT's normalizer removes with the accents of letters."""
    normalizer = normalizers.BertNormalizer(
        clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False
    )
    return removed(normalizer)


def pieces(splitter: pre_tokenizers.PreTokenizer, text: str) -> list[str]:
    return [piece for piece, _ in splitter.pre_tokenize_str(text)]


def splits(splitter: pre_tokenizers.PreTokenizer, character: str) -> bool:
    return pieces(splitter, f"a{character}a") == ["a", character, "a"]


def maps() -> Iterator[tuple[str, dict[int, str]]]:
    """Texts that a code point becomes; Hangul syllables are left out, as they follow a formula."""
    nfd = changes(normalizers.NFD())
    nfkd = changes(normalizers.NFKD())
    yield "nfd", nfd
    yield "nfkd", {point: text for point, text in nfkd.items() if nfd.get(point) != text}
    yield "lowercase", changes(normalizers.Lowercase())


def changes(normalizer: normalizers.Normalizer) -> dict[int, str]:
    made = {point: normalizer.normalize_str(chr(point)) for point in SCALARS if not 0xAC00 <= point < 0xAC00 + 11172}
    return {point: text for point, text in made.items() if text != chr(point)}


def combining_classes() -> dict[int, int]:
    """Canonical combining classes, numbered in their order, found by sorting pairs as NFD does."""
    marks = sorted(point for point in SCALARS if is_reordered(point))
    order: list[list[int]] = []
    for mark in marks:
        place = next((number for number, group in enumerate(order) if not precedes(group[0], mark)), len(order))
        if place < len(order) and not precedes(mark, order[place][0]):
            order[place].append(mark)
        else:
            order.insert(place, [mark])
    return {mark: number + 1 for number, group in enumerate(order) for mark in group}


def is_reordered(point: int) -> bool:
    """Whether it takes part in the order of marks: another mark moves before or after it."""
    return precedes(0x334, point) or precedes(point, 0x345)


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


def files() -> Iterator[tuple[str, str]]:
    """Names and contents of the tables."""
    head = f"# tokenizers {__version__}; python -m tests.toolchain.unicode_tables --write\n"
    yield "sets.txt", head + "".join(f"{name}: {' '.join(ranges(points))}\n" for name, points in sets())
    for name, made in maps():
        yield (
            f"{name}.txt",
            head
            + "".join(
                f"{point:x} {' '.join(f'{ord(each):x}' for each in text)}\n" for point, text in sorted(made.items())
            ),
        )
    classes = combining_classes()
    groups = {
        number: [mark for mark, each in classes.items() if each == number] for number in sorted(set(classes.values()))
    }
    yield "combining.txt", head + "".join(f"{number}: {' '.join(ranges(marks))}\n" for number, marks in groups.items())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in files():
        if "--write" in sys.argv:
            (FOLDER / name).write_text(content, encoding="utf-8")
        print(name, len(content))
