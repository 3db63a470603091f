"""Rules for every page of docs/: an opening of three parts, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((DOCS / "guides").glob("*.md"))]
LINKING = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_opens_with_what_it_is_for_the_command_and_the_result(path: Path) -> None:
    title, purpose, command, result, *_ = path.read_text(encoding="utf-8").split("\n\n")
    assert re.fullmatch(r"# [^\n]+", title)
    assert re.fullmatch(r"    \S[^\n]*", command), "one command"
    for words in (purpose, result):
        assert re.fullmatch(r"[A-Z][^\n]+(\n[^\n]+){0,2}", words), "a few lines"
    assert result.startswith("The result ")


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes from a page's titles."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", LINKING, ids=name)
def test_links_lead_to_files_and_sections_that_exist(path: Path) -> None:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, section = target.partition("#")
        to = path.parent / file if file else path
        assert to.exists(), target
        assert not section or section in anchors(to), target


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [name(path) for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "adr"]
    assert [page for page in pages if f"({page})" not in readme] == []
