"""Large models on a page's graphics processor, here one in software, compute what Python computes."""

from collections.abc import Iterator

import pytest

from tests.toolchain import projects
from tests.toolchain.chromium import Browser
from tests.toolchain.web import gpu
from tests.toolchain.web.gpu import has_passed, self_test
from tests.toolchain.web.page import RUN_MINILM, Page, embedding, page_of


@pytest.fixture(scope="module")
def with_gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with gpu.with_gpu(tmp_path_factory.mktemp("gpu")) as opened:
        yield opened


@pytest.fixture
def page(with_gpu: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with page_of(with_gpu, gpu.files(tmp_path_factory.mktemp("package"), projects.WEBGPU_LARGE)) as opened:
        opened.visit()
        yield opened


def test_a_graphics_processor_computes_what_python_computes(page: Page) -> None:
    has_passed(self_test(page, "OrientationModel"))
    assert page.warnings() == []


def test_a_text_model_too_and_on_the_pages_own_thread(page: Page) -> None:
    page.value(gpu.COUNT)
    found = page.run(f"setUp({{ worker: false }}); {RUN_MINILM}")
    assert found == pytest.approx(embedding(), abs=1e-5)
    assert page.value("globalThis.dispatches") > 100, "the graphics processor has run the model's nodes"
