"""A failure in a page ends what has failed, and nothing else: other models run on, and the next load finds a worker."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import Page, package, page_of
from tests.toolchain.web.site import files_of

WATCH = """
const workers = [], asked = [], unheard = [];
addEventListener('unhandledrejection', ({ reason }) => unheard.push(String(reason)));
const answers = new Map(), waiting = new Map();
const Real = globalThis.Worker;
globalThis.Worker = class extends Real {
  constructor(...given) {
    super(...given);
    workers.push(this);
  }
  postMessage(question, transfer) {
    const { method } = question.call;
    asked.push(method);
    const failure = answers.get(method);
    answers.delete(method);
    waiting.get(method)?.();
    if (failure === undefined) super.postMessage(question, transfer);
    else setTimeout(() => this.onmessage({ data: { number: question.number, failure } }));
  }
};
const whenAsked = (method) => new Promise((resolve) => waiting.set(method, resolve));
const codeOf = (promise) => promise.then(() => 'ended', ({ code }) => code);
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));
const text = 'the quick brown fox';
const { OrientationModel } = await import('/vision/lib/index.js');
const picture = { data: new Uint8Array(4 * 64 * 48), width: 64, height: 48 };
"""
"""Knows the page's workers and what they are asked; `answers` has a failure for the next question of a method."""


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(open_browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with page_of(open_browser, files_of(package(tmp_path_factory.mktemp("package")), "/vision/")) as opened:
        yield opened


def run(page: Page, program: str) -> Any:
    page.visit()
    return page.run(f"{WATCH} {program}", "Embedder")


def test_a_checksum_that_fails_ends_its_load_alone(page: Page) -> None:
    found = run(
        page,
        """
        const model = await Embedder.load();
        const expected = await model.embed(text);
        answers.set('checksum', { code: 'out-of-memory', message: 'no room for a copy' });
        const running = model.embed(text);
        const codes = [await codeOf(OrientationModel.load()), await codeOf(OrientationModel.load())];
        const same = [await running, await model.embed(text)].every((each) => String(each) === String(expected));
        return [codes, same, workers.length];
        """,
    )
    assert found == [["out-of-memory", "ended"], True, 1]


def test_a_worker_that_fails_is_replaced_and_open_models_are_opened_again(page: Page) -> None:
    """Sessions are counted anew in another worker: none is taken for that of another model."""
    found = run(
        page,
        """
        const [one, other] = [await Embedder.load(), await OrientationModel.load()];
        const [first, second] = [await one.embed(text), await other.predict(picture)];
        const isAsked = whenAsked('run');
        const running = other.predict(picture);
        await isAsked;
        workers[0].onerror({ message: 'out of its mind' });
        const code = await codeOf(running);
        const again = await other.predict(picture);
        const third = await Embedder.load();
        const same = [await one.embed(text), await third.embed(text)].every((each) => String(each) === String(first));
        return [code, JSON.stringify(again) === JSON.stringify(second), same, workers.length, unheard];
        """,
    )
    assert found == ["host", True, True, 2, []]


def test_a_model_is_disposed_of_after_its_worker_has_failed(page: Page) -> None:
    found = run(
        page,
        """
        const model = await Embedder.load();
        workers[0].onerror({ message: 'gone' });
        model.dispose();
        await settled();
        return [await codeOf(model.embed(text)), await codeOf(Embedder.load()), unheard];
        """,
    )
    assert found == ["disposed", "ended", []]


def test_runs_that_were_called_for_before_a_model_is_disposed_of_end(page: Page) -> None:
    found = run(
        page,
        """
        const model = await Embedder.load();
        const running = [model.embed(text), model.embed(text), model.embed(text)];
        model.dispose();
        const codes = [await codeOf(Promise.all(running)), await codeOf(model.embed(text))];
        await settled();
        return [codes, asked.slice(-4), unheard];
        """,
    )
    assert found == [["ended", "disposed"], ["run", "run", "run", "close"], []]


@pytest.mark.parametrize("start", ["throw new DOMException('not here', 'SecurityError')", "return super(...given)"])
def test_a_worker_that_does_not_start_is_the_hosts_failure_and_the_next_one_is_tried(page: Page, start: str) -> None:
    page.visit()
    found = page.run(
        f"""
        const Real = globalThis.Worker;
        globalThis.Worker = class extends Real {{ constructor(...given) {{ given[0] = '/nothing.js'; {start}; }} }};
        const first = await Embedder.load().catch(({{ code }}) => code);
        globalThis.Worker = Real;
        const model = await Embedder.load();
        return [first, Array.from(await model.embed('the quick brown fox')).length > 0];
        """,
        "Embedder",
    )
    assert found == ["host", True]


def test_frames_of_a_video_leave_no_listeners(page: Page) -> None:
    page.visit()
    found = page.run(
        """
        const { videoFrames } = await import('/vision/lib/image.js');
        const canvas = document.createElement('canvas');
        canvas.getContext('2d').fillRect(0, 0, 4, 4);
        const video = document.createElement('video');
        Object.assign(video, { muted: true, srcObject: canvas.captureStream() });
        const listeners = new Set();
        const { addEventListener: add, removeEventListener: remove } = video;
        video.addEventListener = (type, listener, ...how) => {
          listeners.add(listener);
          add.call(video, type, listener, ...how);
        };
        video.removeEventListener = (type, listener) => {
          listeners.delete(listener);
          remove.call(video, type, listener);
        };
        await video.play();
        const draw = setInterval(() => canvas.getContext('2d').fillRect(0, 0, 4, 4), 10);
        let frames = 0;
        for await (const _ of videoFrames(video)) if ((frames += 1) === 3) break;
        clearInterval(draw);
        return listeners.size;
        """
    )
    assert found == 0
