"""The documentation site: every link holds, nothing is loaded from elsewhere, and the generated API is complete."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.docs_site import mkdocs, site
from tests.toolchain.chromium import Browser, browser

__all__ = ["mkdocs", "site"]


SEARCH = """new Promise((resolve) => {
  const field = document.querySelector('[data-md-component=search-query]');
  const found = document.querySelector('.md-search-result__list');
  new MutationObserver(() => resolve(found.innerText)).observe(found, { childList: true });
  field.focus();
  field.value = 'calibration';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
})"""


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.mark.parametrize("page", ["index.html", "guides/ten-minutes.html", "api/kotlin.html"])
def test_pages_work_from_a_folder_and_ask_nobody(open_browser: Browser, site: Path, page: str) -> None:
    width = {"width": "document.documentElement.scrollWidth"}
    seen = open_browser.open(site / page, width=360, scheme="light", values=width)
    assert seen.values == width | {"width": 360}
    assert seen.complaints == ()
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []


def test_the_search_works_from_a_folder(open_browser: Browser, site: Path) -> None:
    seen = open_browser.open(site / "index.html", width=1280, scheme="light", values={"found": SEARCH})
    assert "Quantization" in seen.values["found"]
    assert seen.complaints == ()
