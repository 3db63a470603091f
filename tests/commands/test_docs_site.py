"""The documentation site: every link holds, nothing is loaded from elsewhere, and the generated API is complete."""

import re
import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from tests.cases.docs_site import ROOT, build, mkdocs, site

__all__ = ["mkdocs", "site"]


UNCHANGED = (
    "mkdocs.yml",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks",
    "packager",
    "sample_apps",
    "scripts",
    "templates",
    "tests",
)

WRONG = """
[page](docs/none.md) [anchor](docs/android.md#none) [file](packager/none.py) [own](#none) [absolute](/docs/android.md)
[outside](../README.md) ![picture](docs/none.png)
"""

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
"""a block of code"""


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


def with_headings_alone(source: str, copy: str) -> None:
    """Copies a page as far as links to it go, which is soon rendered, and any other file as it is."""
    if not source.endswith(".md"):
        shutil.copy(source, copy)
        return
    text = FENCED.sub("", Path(source).read_text(encoding="utf-8"))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    Path(copy).write_text("\n\n".join(headings) + "\n", encoding="utf-8")


def test_links_to_nothing_and_pages_that_nobody_finds_end_the_build(mkdocs: Path, tmp_path: Path) -> None:
    root = tmp_path / "clone"
    root.mkdir()
    for name in UNCHANGED:
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", root / "docs", copy_function=with_headings_alone)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (root / "README.md").write_text(readme + WRONG, encoding="utf-8")
    (root / "docs" / "lonely.md").write_text("# Lonely\n", encoding="utf-8")
    done = build(mkdocs, root, tmp_path / "site")
    assert done.returncode == 1
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    wanted = {"docs/none.md", "android.md#none", "packager/none.py", "#none", "/docs/android.md", "../README.md"}
    wanted |= {"none.png"}  # pictures lie below docs/, which is where the site begins
    assert {each for each in wanted if not any(f"'{each}'" in line for line in warnings)} == set()
    assert len(warnings) == len(wanted) + 1, done.stderr
    assert re.search(r"not included in the \"nav\"[^:]*:\n *- lonely.md", done.stderr)
