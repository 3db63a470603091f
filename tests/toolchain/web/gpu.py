"""Pages whose models run on a graphics processor."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.toolchain.chromium import Browser, browser
from tests.toolchain.made import Package
from tests.toolchain.web.page import Page, package
from tests.toolchain.web.site import files_of

SECONDS = 1800.0
"""Time for all tests that share a browser."""
HINT = "a newer one may, on a page with https"
NO_WEBNN = {"provider": "webnn", "reason": f"this browser has no WebNN: {HINT}"}
"""The packages ask for WebNN first, which this Chromium has only on request."""
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
model.dispose();
return { provider: model.provider, outputs, told };
"""


def files(folder: Path, made: Package) -> dict[str, bytes]:
    """The files of a package by their path on the site."""
    return files_of(package(folder, made), "/vision/")


@contextmanager
def with_gpu(folder: Path) -> Iterator[Browser]:
    with browser(folder, has_gpu=True, seconds=SECONDS) as opened:
        yield opened


def self_test(page: Page, name: str, before: str = "") -> dict[str, Any]:
    found = page.run(before + TESTED.replace("NAME", name), name)
    assert isinstance(found, dict), found
    return found


def has_passed(found: dict[str, Any]) -> None:
    """On the graphics processor, by each output."""
    assert (found["provider"], found["told"]) == ("webgpu", [NO_WEBNN])
    assert found["outputs"]
    for each in found["outputs"]:
        assert each["failure"] == ""
        assert each["maxRelError"] <= 1e-5
