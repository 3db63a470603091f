"""Patterns of splitters: what a graph matches at each position, and their factored form, beside plain backtracking."""

import random
from collections.abc import Callable, Iterator
from itertools import islice, product

import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper

from packager.contract.tokenization import matching, patterns
from packager.contract.tokenization.factoring import are_apart, factored
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.patterns import Alternation, Chain, LookAhead, Pattern, Repeat, Set
from packager.core.errors import ConfigError
from packager.graph.writer import OPSET, Writer
from tests.cases.onnx_text import session
from tests.nights import examples, spread

LETTERS = "abcd"
REAL = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@pytest.mark.parametrize("one_is_negated", [False, True])
@pytest.mark.parametrize("other_is_negated", [False, True])
def test_sets_are_apart_if_no_character_is_in_both(one_is_negated: bool, other_is_negated: bool) -> None:
    for one, other in product(map(frozenset, [(), (1,), (2,), (1, 2), (1, 2, 3)]), repeat=2):
        sets = Set(one, one_is_negated), Set(other, other_is_negated)
        in_both = [
            point for point in range(5) if (point in one) != one_is_negated and (point in other) != other_is_negated
        ]
        assert sets[0].is_apart(sets[1]) == (not in_both) == (sets[0].intersection(sets[1]) == Set(frozenset()))


def ends(pattern: Pattern, text: str, begin: int) -> Iterator[int]:
    """Where matches end that begin at a position, in the order in which an engine with backtracking tries them."""
    match pattern:
        case Set(points, is_negated):
            if begin < len(text) and (ord(text[begin]) in points) != is_negated:
                yield begin + 1
        case Chain(()):
            yield begin
        case Chain((first, *others)):
            for end in ends(first, text, begin):
                yield from ends(Chain(tuple(others)), text, end)
        case Alternation(parts):
            for part in parts:
                yield from ends(part, text, begin)
        case LookAhead(part, is_negated):
            if (next(ends(part, text, begin), None) is None) == is_negated:
                yield begin
        case Repeat(part, least, most, is_possessive):
            found = repeated(part, least, most, text, begin)
            yield from islice(found, 1) if is_possessive else found


def repeated(part: Pattern, least: int, most: int | None, text: str, begin: int) -> Iterator[int]:
    if most is None or most > 0:
        for end in ends(part, text, begin):
            yield from repeated(part, max(least - 1, 0), None if most is None else most - 1, text, end)
    if least == 0:
        yield begin


def first_ends(pattern: Pattern, text: str) -> list[int]:
    return [next(ends(pattern, text, begin), -1) for begin in range(len(text))]


def expression(chosen: random.Random, depth: int = 3) -> str:
    """A regular expression of a few letters."""

    def one() -> str:
        letters = "".join(chosen.sample(LETTERS, chosen.randint(1, 2)))
        return letters[0] if chosen.random() < 0.5 else f"[{chosen.choice(('', '^'))}{letters}]"

    def piece() -> str:
        if depth and chosen.random() < 0.3:
            inside = expression(chosen, depth - 1)
            return chosen.choice((f"(?:{inside})", f"(?:{inside})", f"(?:{inside})?", f"(?={inside})", f"(?!{inside})"))
        return one() + chosen.choice(("", "", "", "?", "+", "*", "++", "{1,2}", "{2}"))

    return "|".join("".join(piece() for _ in range(chosen.randint(1, 3))) for _ in range(chosen.randint(1, 4)))


def readable(seed: int) -> tuple[str, Pattern, random.Random]:
    """An expression that is supported, as text and pattern."""
    chosen = random.Random(seed)
    while True:
        written = expression(chosen)
        try:
            return written, patterns.parsed(written), chosen
        except ConfigError:
            continue


def in_a_graph(pattern: Pattern, text: str) -> list[int]:
    """The end of the match that begins at each position; -1 for none."""
    return run(lambda writer: [(matching.ends(writer, pattern, "points"), TensorProto.INT64)], text)[0]


def covered_in_a_graph(pattern: Pattern, text: str) -> list[list[int]]:
    """Of each position, whether a match begins there, whether it is in one, and whether it is in none."""

    def cover(writer: Writer) -> list[tuple[str, int]]:
        found = matching.cover(writer, pattern, "points")
        return [(each, TensorProto.BOOL) for each in (found.begins, found.is_match, found.is_gap)]

    return run(cover, text)


def covered(pattern: Pattern, text: str) -> list[list[int]]:
    """As `covered_in_a_graph`, by a search from the left."""
    begins, matched = [0] * len(text), [0] * len(text)
    place, found = 0, first_ends(pattern, text)
    while place < len(text):
        end = found[place]
        if end > place:
            begins[place], matched[place:end] = 1, [1] * (end - place)
        place = max(end, place + 1)
    return [begins, matched, [1 - each for each in matched]]


def run(write: Callable[[Writer], list[tuple[str, int]]], text: str) -> list[list[int]]:
    writer = Writer(scope="test")
    results = write(writer)
    graph = helper.make_graph(
        writer.written.nodes,
        "matches",
        [helper.make_tensor_value_info("points", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info(name, element, None) for name, element in results],
        [numpy_helper.from_array(array, name) for name, array in writer.written.constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    points = numpy.array([*map(ord, text), END], numpy.int64)
    return [
        each.astype(int).tolist()[: len(text)]
        for each in session(made.SerializeToString()).run(None, {"points": points})
    ]


def test_factored_patterns_match_the_same() -> None:
    for seed in range(examples(400)):
        written, pattern, chosen = readable(seed)
        made = factored(pattern)
        for _ in range(20):
            text = "".join(chosen.choices(LETTERS + "e", k=12))
            assert first_ends(made, text) == first_ends(pattern, text), (written, text)


@pytest.mark.parametrize("seed", spread(range(40), 3))
def test_a_graph_matches_as_backtracking_does(seed: int) -> None:
    written, pattern, chosen = readable(seed + 1000)
    text = "".join(chosen.choices(LETTERS + "e", k=40))
    assert in_a_graph(pattern, text) == first_ends(pattern, text), (written, text)
    assert covered_in_a_graph(pattern, text) == covered(pattern, text), (written, text)


@pytest.mark.parametrize("written", REAL)
def test_expressions_of_tokenizers_match_as_backtracking_does(written: str) -> None:
    pattern = patterns.parsed(written)
    text = "He'll say 12345 words,  don't\r\n you?? \u00e9t\u00e9 \n\n'S 've  end "
    assert in_a_graph(pattern, text) == first_ends(pattern, text)
    assert covered_in_a_graph(pattern, text) == covered(pattern, text)


def test_shared_beginnings_are_written_once() -> None:
    made = factored(patterns.parsed(REAL[0]))
    assert isinstance(made, Alternation)
    assert len(list(matching.sets(made))) == 13  # 22 before: an apostrophe and a blank once, and s, t, m, d in one set
    contraction, word = made.parts[:2]
    assert are_apart(contraction, Set(frozenset({ord(" ")})))
    assert not are_apart(contraction, word)
