"""Sounds of a page: recordings and blocks of sound are the samples that a browser has, and models make of them what
Python makes."""

import io
import wave
from collections.abc import Iterator

import numpy as np
import pytest

from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import Page, package, page_of
from tests.toolchain.web.site import files_of
from tests.toolchain.web.sounds import HEAR, SOUND, heard

POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:"
PLAYING = """
/** A source of two channels that begins to play when something listens in the audio thread. */
function playing(frames, rate) {
  const context = new OfflineAudioContext(1, frames + 1280, rate);
  const buffer = new AudioBuffer({ length: frames, numberOfChannels: 2, sampleRate: rate });
  for (const channel of [0, 1]) {
    buffer.copyToChannel(Float32Array.from({ length: frames }, (_, index) => index * 2 + channel), channel);
  }
  const source = new AudioBufferSourceNode(context, { buffer });
  source.start();
  const connect = source.connect;
  source.connect = (node) => {
    connect.call(source, node);
    void context.startRendering();
  };
  return source;
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The package's files by their path on the site."""
    return files_of(package(tmp_path_factory.mktemp("package")), "/vision/")


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(open_browser: Browser, files: dict[str, bytes]) -> Iterator[Page]:
    """One visit for all tests, with the policy that the guide names."""
    with page_of(open_browser, files) as opened:
        opened.server.files.headers["Content-Security-Policy"] = POLICY
        opened.visit()
        yield opened


def wav(samples: list[list[int]], rate: int) -> bytes:
    """A file with whole numbers of 16 bits, [frames][channels]."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(len(samples[0]))
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(np.array(samples, "<i2").tobytes())
    return file.getvalue()


def test_a_model_hears_in_an_audio_buffer_what_python_hears(page: Page) -> None:
    found = page.run(HEAR, "SileroVad")
    assert found == pytest.approx(heard(), abs=1e-5)
    assert len(set(found)) == 3, "the state changes the answer"


def test_a_file_is_decoded_with_its_channels_side_by_side(page: Page) -> None:
    samples = [[index * 100 - 16000, index * -3] for index in range(320)]
    page.server.files.by_path["/sound.wav"] = wav(samples, 16000)
    for source in ("path", "await (await fetch(path)).blob()", "await (await fetch(path)).arrayBuffer()"):
        found = page.run(
            f"""{SOUND}
            const path = '/sound.wav';
            const {{ samples, rate, channels }} = await recordingFrom({source}, {{ rate: 16000 }});
            return [Array.from(samples), rate, channels];
            """
        )
        expected = [each / 32768 for frame in samples for each in frame]
        assert found == [pytest.approx(expected, abs=1 / 32768), 16000, 2], source


NO_SOUND = (
    ("recordingFrom('/page.html')", "bad-input", "no sound that this browser can decode"),
    ("recordingFrom('/nothing.wav')", "missing", "answers with status 404"),
    ("recordingFrom('/page.html', { rate: 1 })", "bad-options", "no whole number from 3000"),
    ("soundBlocks(playing(128, 16000), { length: 0 }).next()", "bad-options", "no whole number from 1 on"),
    ("soundBlocks(playing(128, 16000), { length: 1, processor: '/no.js' }).next()", "missing", "/no.js"),
)


def test_what_is_no_sound_is_an_error_in_words(page: Page) -> None:
    for call, code, words in NO_SOUND:
        found = page.run(f"{SOUND} {PLAYING} return await {call};")
        assert (found[0], words in found[1]) == (code, True), found


@pytest.mark.parametrize("length", [1, 100, 128, 3000])
def test_blocks_have_every_sample_once_and_in_order(page: Page, length: int) -> None:
    page.browser.events.clear()
    blocks = 12_800 // length if length > 1 else 300
    found = page.run(
        f"""{SOUND} {PLAYING}
        const all = [];
        const shapes = new Set();
        let count = 0;
        for await (const {{ samples, rate, channels }} of soundBlocks(playing(12800, 16000), {{ length: {length} }})) {{
          shapes.add([samples.length, rate, channels].join());
          all.push(...samples);
          count += 1;
          if (count === {blocks}) break;
        }}
        const wrong = all.findIndex((sample, index) => sample !== index);
        return [[...shapes], all.length, wrong];
        """
    )
    assert found == [[f"{2 * length},16000,2"], 2 * length * blocks, -1]
    assert page.warnings() == []


def test_blocks_wait_for_a_model_that_is_busy_and_end_on_request(page: Page) -> None:
    found = page.run(
        f"""{SOUND} {PLAYING}
        const controller = new AbortController();
        const firsts = [];
        const {{ signal }} = controller;
        for await (const {{ samples }} of soundBlocks(playing(12800, 16000), {{ length: 128, signal }})) {{
          firsts.push(samples[0]);
          await new Promise((resolve) => setTimeout(resolve, 30));
          if (firsts.length === 5) controller.abort();
        }}
        return firsts;
        """
    )
    assert found == [0, 256, 512, 768, 1024]
