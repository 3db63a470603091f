"""The documentation site: every link holds, nothing is loaded from elsewhere, and the generated API is complete."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from tests.cases.docs_site import ROOT, mkdocs, site

__all__ = ["mkdocs", "site"]


@dataclass
class Page(HTMLParser):
    """A page's name, and the files that a browser fetches with it."""

    title: str = ""
    loaded: list[str] = field(default_factory=list)
    is_in_title: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    def of(cls, path: Path) -> "Page":
        page = cls()
        page.feed(path.read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.is_in_title = tag == "h1" or (self.is_in_title and tag != "a")
        if tag in ("script", "img", "iframe", "link") and found.get("rel") not in ("next", "prev", "canonical"):
            self.loaded += [url for url in (found.get("src"), found.get("href")) if url]

    def handle_endtag(self, tag: str) -> None:
        self.is_in_title = self.is_in_title and tag != "h1"

    def handle_data(self, data: str) -> None:
        self.title += data if self.is_in_title else ""


def test_every_page_is_in_the_site(site: Path) -> None:
    sources = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "sample_apps").glob("*/README.md")]
    sources += (ROOT / "benchmarks" / "results").glob("*.md")
    titles = {path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").replace("`", "") for path in sources}
    assert len(titles) > 50
    assert titles - {Page.of(path).title for path in site.rglob("*.html")} == set()


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = {url for path in site.rglob("*.html") for url in Page.of(path).loaded}
    assert any(url.endswith(".js") for url in loaded)
    assert any(url.endswith(".css") for url in loaded)
    assert [url for url in loaded if re.match(r"[a-z]+:|//", url)] == []
