"""Web packages with ONNX Runtime's WebGPU build: a graphics processor, here one in software, computes what Python
computes; without one the processor does, and the reason is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import projects
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import READ_TEXTS, RUN_MINILM, Page, embedding, package, page_of, tokens
from tests.toolchain.web.site import files_of
from tests.toolchain.web.sounds import HEAR, heard

pytestmark = [pytest.mark.by_content(of=[projects.WEBGPU]), pytest.mark.react_native, pytest.mark.browser]

SECONDS = 1800.0
"""Time for all tests that share a browser."""
HINT = "a newer one may, on a page with https"
NO_WEBNN = {"provider": "webnn", "reason": f"this browser has no WebNN: {HINT}"}
"""The package asks for WebNN first, which this Chromium has only on request."""
COUNT = """
globalThis.dispatches = 0;
const { dispatchWorkgroups } = GPUComputePassEncoder.prototype;
GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...sizes) {
  globalThis.dispatches += 1;
  return dispatchWorkgroups.apply(this, sizes);
};
"""
TESTED = """
const told = [];
const observer = { onLoad: (event) => told.push(...event.fallbacks) };
const model = await NAME.load({ observer });
const { outputs } = await model.selfTest();
return { provider: model.provider, outputs, told };
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The package's files by their path on the site."""
    return files_of(package(tmp_path_factory.mktemp("package"), projects.WEBGPU), "/vision/")


@pytest.fixture(scope="module")
def with_gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("gpu"), has_gpu=True, seconds=SECONDS) as opened:
        yield opened


@pytest.fixture
def page(with_gpu: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    with page_of(with_gpu, files) as opened:
        opened.visit()
        yield opened


def self_test(page: Page, name: str) -> dict[str, Any]:
    found = page.run(TESTED.replace("NAME", name), name)
    assert isinstance(found, dict), found
    return found


@pytest.mark.parametrize("name", ["Orientation", "Finder", "Listener"])
def test_a_graphics_processor_computes_what_python_computes(page: Page, name: str) -> None:
    """Pictures, boxes and sounds, with all that comes before and after the model."""
    found = self_test(page, name)
    assert (found["provider"], found["told"]) == ("webgpu", [NO_WEBNN])
    assert found["outputs"]
    for each in found["outputs"]:
        assert each["failure"] == ""
        assert each["maxRelError"] <= 1e-5
    assert page.warnings() == []


def test_a_text_model_too_and_on_the_pages_own_thread(page: Page) -> None:
    page.value(COUNT)
    found = page.run(f"setUp({{ worker: false }}); {RUN_MINILM}")
    assert found == pytest.approx(embedding(), abs=1e-5)
    assert page.value("globalThis.dispatches") > 100, "the graphics processor has run the model's nodes"


def test_a_tokenizer_runs_beside_the_graphics_processor(page: Page) -> None:
    assert page.run(READ_TEXTS, "Tokens") == tokens()


def test_a_model_of_sounds_with_a_state_too(page: Page) -> None:
    found = page.run(HEAR, "SileroVad")
    assert found == pytest.approx(heard(), abs=1e-5)
    assert len(set(found)) == 3


def test_without_webgpu_the_processor_computes_it_and_the_reason_is_told(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    with browser(tmp_path) as opened, page_of(opened, files) as page:
        page.visit()
        found = self_test(page, "Finder")
    assert found["provider"] == "cpu"
    no_webgpu = {"provider": "webgpu", "reason": f"this browser has no graphics processor for WebGPU: {HINT}"}
    assert found["told"] == [NO_WEBNN, no_webgpu]
    assert all(each["maxRelError"] <= 1e-5 for each in found["outputs"])
