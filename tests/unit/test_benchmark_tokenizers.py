"""The comparison of tokenizers: its list, its page, and that it finds and shortens differences."""

from pathlib import Path

import pytest

from benchmarks.tokenizers import entries, page


def test_every_tokenizer_is_pinned_and_has_a_row_in_the_page(tmp_path: Path) -> None:
    known = entries.read()
    assert all(len(each.sha256) == 64 and each.licence for each in known)
    twice = tmp_path / "tokenizers.toml"
    twice.write_text(entries.FILE.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="two tokenizers are called"):
        entries.read(twice)
    found = page.MARKED.search(page.PAGE.read_text(encoding="utf-8"))
    assert found
    assert [each.name for each in entries.read() if f"| {each.name} |" not in found[2]] == []
