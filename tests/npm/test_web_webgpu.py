"""Web packages with ONNX Runtime's WebGPU build: a graphics processor, here one in software, computes what Python
computes; without one the processor does, and the reason is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nights import at_night
from tests.toolchain import projects
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web import gpu
from tests.toolchain.web.gpu import HINT, NO_WEBNN, has_passed, self_test
from tests.toolchain.web.page import READ_TEXTS, Page, page_of, tokens
from tests.toolchain.web.sounds import HEAR, heard

CHECKS = """
globalThis.checks = 0;
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (question, transfer) {
  if (question.call.method === 'checksum') globalThis.checks += 1;
  postMessage.call(this, question, transfer);
};
"""
"""Counts the files whose bytes are checked."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return gpu.files(tmp_path_factory.mktemp("package"), projects.WEBGPU)


@pytest.fixture(scope="module")
def with_gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with gpu.with_gpu(tmp_path_factory.mktemp("gpu")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(with_gpu: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    """One visit for all models that run in a worker: ONNX Runtime starts once."""
    with page_of(with_gpu, files) as opened:
        opened.visit()
        yield opened


@pytest.mark.parametrize("name", ["Finder", *at_night("ListenerModel")])
def test_a_graphics_processor_computes_what_python_computes(page: Page, name: str) -> None:
    """Pictures, boxes and sounds, with all that comes before and after the model."""
    has_passed(self_test(page, name))
    assert page.warnings() == []


def test_a_tokenizer_runs_beside_the_graphics_processor(page: Page) -> None:
    assert page.run(READ_TEXTS, "Tokens") == tokens()


def test_a_model_of_sounds_with_a_state_too(page: Page) -> None:
    found = page.run(HEAR, "SileroVad")
    assert found == pytest.approx(heard(), abs=1e-5)
    assert len(set(found)) == 3


def test_it_computes_on_the_pages_own_thread_too(with_gpu: Browser, files: dict[str, bytes]) -> None:
    """The last of this browser's tests, as it leaves the page of the others."""
    with page_of(with_gpu, files) as page:
        page.visit()
        page.value(gpu.COUNT)
        has_passed(self_test(page, "Finder", "setUp({ worker: false });"))
        assert page.value("globalThis.dispatches") > 3, "the graphics processor has run the model's nodes"


def test_without_webgpu_the_processor_computes_it_and_the_reason_is_told(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    with browser(tmp_path) as opened, page_of(opened, files) as page:
        page.visit()
        found = self_test(page, "Finder", CHECKS)
        checks = page.value("globalThis.checks")
    assert checks == 3, "ONNX Runtime, one file and its samples: what is missing asks for none"
    assert found["provider"] == "cpu"
    no_webgpu = {"provider": "webgpu", "reason": f"this browser has no graphics processor for WebGPU: {HINT}"}
    assert found["told"] == [NO_WEBNN, no_webgpu]
    assert all(each["maxRelError"] <= 1e-5 for each in found["outputs"])
