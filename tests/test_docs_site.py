"""The documentation site: every link holds, nothing is loaded from elsewhere, and the generated API is complete."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments.environment import folder_for, isolated_command, make_once
from scripts.docs_site import api
from scripts.docs_site.comments import markdown
from scripts.docs_site.declarations import KOTLIN, SWIFT, TYPESCRIPT, Language, declarations
from scripts.docs_site.links import for_site
from tests.golden.cases import GOLDEN
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.require import require
from tests.toolchain.unpacking import unpack

pytestmark = pytest.mark.by_content(
    "README.md", "docs", "scripts", "mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks", "sample_apps"
)

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "docs.txt"
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
PAGES = {
    "README.md": "index.md",
    "docs/android.md": "android.md",
    "docs/guides/release.yml": "guides/release.yml",
    "docs/guides/gradle.md": "guides/gradle.md",
    "sample_apps/ios/README.md": "sample_apps/ios/README.md",
}
WRONG = """
[page](docs/none.md) [anchor](docs/android.md#none) [file](packager/none.py) [own](#none) [absolute](/docs/android.md)
[outside](../README.md) ![picture](docs/none.png)
"""
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
"""a block of code"""
SEARCH = """new Promise((resolve) => {
  const field = document.querySelector('[data-md-component=search-query]');
  const found = document.querySelector('.md-search-result__list');
  new MutationObserver(() => resolve(found.innerText)).observe(found, { childList: true });
  field.focus();
  field.value = 'calibration';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
})"""


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("README.md", "[a](docs/android.md#b)", "[a](android.md#b)"),
        ("docs/guides/gradle.md", "[a](../android.md)", "[a](../android.md)"),
        ("docs/guides/gradle.md", "[a](release.yml)", "[a](release.yml)"),
        ("docs/guides/gradle.md", "[a](../../README.md)", "[a](../index.md)"),
        ("docs/android.md", "[an app](../sample_apps/ios)", "[an app](sample_apps/ios/README.md)"),
        (
            "docs/android.md",
            "[the pins](../packager/files/processes/pins.toml)",
            "the pins (`packager/files/processes/pins.toml` in the repository)",
        ),
        (
            "README.md",
            "[`packager/files/processes/pins.toml`](packager/files/processes/pins.toml)",
            "`packager/files/processes/pins.toml`",
        ),
        ("README.md", "[a](packager/none.py) and [b](#c)", "[a](packager/none.py) and [b](#c)"),
        ("README.md", "[a](https://example.com/packager) ![b](elsewhere/c.png)", None),
        ("README.md", "![b](docs/pictures/c.png)", "![b](pictures/c.png)"),
        ("docs/guides/gradle.md", "![b](../pictures/c.png)", "![b](../pictures/c.png)"),
        ("README.md", "[a](../README.md) [b](/docs/android.md)", None),
    ],
)
def test_links_lead_to_pages_or_say_where_a_file_is(source: str, link: str, expected: str | None) -> None:
    assert for_site(link, source, PAGES, ROOT) == (expected or link)


def test_comments_of_three_languages_become_markdown() -> None:
    kotlin = (
        "    /**\n     * Runs [it], see `[4]`.\n     *\n     * @throws A when\n     * not\n     * @param b how\n     */"
    )
    assert markdown(kotlin) == "Runs `it`, see `[4]`.\n\n- Throws `A`: when\n    not\n- `b`: how"
    swift = "/// Runs ``it(_:)``.\n///\n/// - Parameters:\n///   - a: one.\n///     Two.\n/// - Throws: ``B``."
    assert markdown(swift) == "Runs `it(_:)`.\n\n- Parameters:\n    - a: one.\n        Two.\n- Throws: `B`."
    assert markdown("/** Runs {@link It}. */") == "Runs `It`."


KOTLIN_SOURCE = """\
package a

/** A. */
public class A private constructor(
    private val b: B,
) : C {
    /** D. */
    @JvmStatic
    public fun d(e: Int = f(1)): List<Int> =
        b.d(e)

    private fun g() {
        public()
    }

    public companion object {
        public fun load(): A = A(B())
    }
}

internal class B
"""
SWIFT_SOURCE = """\
/// A.
public struct A: Sendable {
    /// B.
    public var b: Int { c }
    let c = 1
}

#if canImport(D)
extension A {
    /// E.
    public func e(
        _ f: Int = 1
    ) throws -> [Int] {
        [f]
    }
}
#endif
"""
TYPESCRIPT_SOURCE = """\
import { B } from './b.js';
/** A. */
export declare class A<T> extends B {
    private c;
    /** D. */
    d(e: {
        readonly f?: T;
    }): void;
}
export type { C } from './c.js';
type D = 1;
"""


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        (KOTLIN, KOTLIN_SOURCE, ["class A : C", "@JvmStatic\nfun d(e: Int = f(1)): List<Int>", "fun load(): A"]),
        (SWIFT, SWIFT_SOURCE, ["struct A: Sendable", "var b: Int", "func e(\n    _ f: Int = 1\n) throws -> [Int]"]),
        (TYPESCRIPT, TYPESCRIPT_SOURCE, ["class A<T> extends B", "d(e: {\n    readonly f?: T;\n}): void;"]),
    ],
    ids=["kotlin", "swift", "typescript"],
)
def test_what_is_public_is_shown_without_what_it_does(language: Language, source: str, expected: list[str]) -> None:
    page = api.page(language, declarations(source, language))
    code = re.findall(r"^```\w+\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    assert sorted(code) == sorted(expected)
    assert re.search(r"^A\.$", page, re.MULTILINE)


def test_all_that_an_app_can_call_is_in_the_pages() -> None:
    pages = api.pages()
    package = GOLDEN / "contracts"
    for name, pattern, begin in (
        ("kotlin", "android/**/{}.kt", r"^ *public (?:\w+ )*(?:fun|val|var|class|interface) (\w+)"),
        ("swift", "ios/Sources/**/{}.swift", r"^ *public (?:\w+ )*(?:func|var|let|class|struct|enum) (\w+)"),
        ("typescript", "react_native/lib/models/{}.d.ts", r"^ *(?:export declare |export )?(?:\w+ )*?(\w+)\??[(:]"),
    ):
        model = "classifier" if name == "typescript" else "Classifier"
        files = [*package.glob(pattern.format(model))]
        files += [each for other in ("Options", "Info", "SelfTest") for each in package.glob(pattern.format(other))]
        wanted = {
            found for path in files for found in re.findall(begin, path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        assert "classify" in wanted
        assert {each for each in wanted if not re.search(rf"\b{each}\b", pages[f"api/{name}.md"])} == set()
        assert "private" not in re.sub(r"\(set\)|private set", "", pages[f"api/{name}.md"])


def test_the_pictures_hold_their_text_and_ask_nobody() -> None:
    terminal = (ROOT / "docs" / "pictures" / "terminal.svg").read_text(encoding="utf-8")
    words = terminal.replace("&#160;", " ")
    assert len(terminal) < 150_000
    assert [each for each in ("build", "check", "quantize") if f"$ mobpack {each} " not in words] == []
    assert re.findall(r"url\((?!#)|href|<script|<image", terminal) == []
    report = (ROOT / "docs" / "pictures" / "report.png").read_bytes()
    assert report.startswith(b"\x89PNG")
    assert len(report) < 300_000


@pytest.fixture(scope="session")
def mkdocs() -> Path:
    """A folder with the site's build tools; skips the test if they are not available."""
    folder = folder_for("docs", LOCK.read_text(encoding="utf-8"))
    try:
        make_once(folder, lambda made: unpack(LOCK, made))
    except ToolError as error:
        require(False, f"mkdocs for this Python: {error.message} ({error.hint})")
    return folder


@pytest.fixture(scope="session")
def site(mkdocs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(mkdocs, ROOT, folder)
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
    return folder


def build(mkdocs: Path, root: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Build the site as scripts/docs does."""
    variables = {
        "PYTHONPATH": f"{mkdocs}{os.pathsep}{root}",
        "NO_MKDOCS_2_WARNING": "1",
    }
    return subprocess.run(
        [*isolated_command(), "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


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


@pytest.mark.install
def test_every_page_is_in_the_site(site: Path) -> None:
    sources = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "sample_apps").glob("*/README.md")]
    sources += (ROOT / "benchmarks" / "results").glob("*.md")
    titles = {path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").replace("`", "") for path in sources}
    assert len(titles) > 50
    assert titles - {Page.of(path).title for path in site.rglob("*.html")} == set()


@pytest.mark.install
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


@pytest.mark.install
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


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.mark.install
@pytest.mark.browser
@pytest.mark.parametrize("page", ["index.html", "guides/ten-minutes.html", "api/kotlin.html"])
def test_pages_work_from_a_folder_and_ask_nobody(open_browser: Browser, site: Path, page: str) -> None:
    width = {"width": "document.documentElement.scrollWidth"}
    seen = open_browser.open(site / page, width=360, scheme="light", values=width)
    assert seen.values == width | {"width": 360}
    assert seen.complaints == ()
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


@pytest.mark.install
@pytest.mark.browser
def test_the_search_works_from_a_folder(open_browser: Browser, site: Path) -> None:
    seen = open_browser.open(site / "index.html", width=1280, scheme="light", values={"found": SEARCH})
    assert "Quantization" in seen.values["found"]
    assert seen.complaints == ()
