"""The comparison of tokenizers: its list, its page, and that it finds and shortens differences."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tokenizers import comparing, entries, page, results
from benchmarks.tokenizers.comparing import Graph, compare
from benchmarks.tokenizers.results import Outcome
from benchmarks.tokenizers.texts import Text
from tests.cases.text_families import CORPUS, byte_level
from tests.cases.tokenizer_graphs import bert, changed

FOUND = Outcome(
    name="gpt-2", date="2026-11-25", version="0.23.3", tokens=50_258, model_bytes=1_200_000, texts=200_000, pairs=1000
)


def swapped(folder: Path) -> Path:
    """A tokenizer whose tokens for `fox` and `dog` are exchanged."""
    reference = bert()
    model: dict[str, Any] = json.loads(reference.to_str())["model"]
    model["vocab"] |= {"fox": model["vocab"]["dog"], "dog": model["vocab"]["fox"]}
    return changed(reference, folder, model=model)


def test_a_difference_is_counted_and_shown_in_the_shortest_text(tmp_path: Path) -> None:
    texts = ["the lazy cafe", "the quick brown fox jumps", ""]
    found = compare(Graph(swapped(tmp_path)), bert(), [Text(kind="words", text=each) for each in texts])
    assert (found.counts, found.wrong) == ({"words": 3}, {"words": 1})
    (first,) = found.first
    assert (first.text.text, first.what, first.place) == ("fox", "ids", 1)


def test_equal_tokenizers_have_no_difference(tmp_path: Path) -> None:
    reference = byte_level()
    texts = [Text(kind="words", text=each) for each in (*CORPUS, "")]
    assert not compare(Graph(changed(reference, tmp_path)), reference, texts).wrong


def test_missing_tokens_are_a_difference(tmp_path: Path) -> None:
    graph = Graph(changed(byte_level(), tmp_path))
    found = comparing.different(graph, bert(), Text(kind="", text=""))
    assert found
    assert (found.what, found.place, found.found, len(found.wanted)) == ("ids", 0, (), 2)


def test_every_tokenizer_is_pinned_and_named_once(tmp_path: Path) -> None:
    known = entries.read()
    assert all(len(each.sha256) == 64 and each.licence for each in known)
    twice = tmp_path / "tokenizers.toml"
    twice.write_text(entries.FILE.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="two tokenizers are called"):
        entries.read(twice)


def test_results_are_kept(tmp_path: Path) -> None:
    assert results.kept("gpt-2", tmp_path) is None
    results.keep(FOUND, tmp_path)
    assert results.kept("gpt-2", tmp_path) == FOUND


def test_the_page_has_a_row_for_each_tokenizer_and_is_written_between_its_marks(tmp_path: Path) -> None:
    (entry,) = (each for each in entries.read() if each.name == "gpt-2")
    rows = [page.table([entry], {"gpt-2": each}) for each in (FOUND, refused(), wrong())]
    assert "| 50,258 | 1.2 | 201,000 | 0 |" in rows[0]
    assert "| refused |" in rows[1]
    assert "| 3 (emoji, pairs) |" in rows[2]
    copy = tmp_path / "text.md"
    copy.write_text(page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    page.write([entry], {"gpt-2": FOUND}, copy)
    assert rows[0] in copy.read_text(encoding="utf-8")
    copy.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="no mark"):
        page.write([entry], {"gpt-2": FOUND}, copy)


def refused() -> Outcome:
    return Outcome(name="gpt-2", date="2026-11-25", version="0.23.3", refusal="model: 'X' is not supported")


def wrong() -> Outcome:
    return Outcome(name="gpt-2", date="2026-11-25", version="0.23.3", different={"emoji": 2, "pairs": 1})


def test_every_tokenizer_of_the_list_has_a_row_in_the_page() -> None:
    found = page.MARKED.search(page.PAGE.read_text(encoding="utf-8"))
    assert found
    assert [each.name for each in entries.read() if f"| {each.name} |" not in found[2]] == []
