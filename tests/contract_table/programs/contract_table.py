"""Asks each model what the table of benchmarks/results/contract_table.md asks, and prints `ANSWER NAME words=...` and
`ANSWER NAME numbers=...`.

Arguments: the folder with the cases, and the rate and length of a window of the voice.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
from models import (  # type: ignore[import-not-found]
    Classifier,
    Cleaner,
    Cutter,
    Enlarger,
    Finder,
    ListenerModel,
    Meaning,
    ModelError,
    Picture,
    Poser,
    ScribeModel,
    Sound,
    Spotter,
    Tokens,
    Tone,
)

FOLDER, RATE, WINDOW, BLOCK = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), 512
BYTES = {"NV12": 1, "NV21": 1, "P010": 2, "RGB": 3, "GREY": 1}
CONVERSIONS = ("bt601-full", "bt601-video", "bt709-full", "bt709-video")


def answer(name: str, words: str, numbers: Iterable[float]) -> None:
    print(f"ANSWER {name} words={words}")
    print(f"ANSWER {name} numbers={' '.join(map(repr, map(float, numbers)))}")


def picture(line: list[str]) -> Any:
    """Rows as they lie in memory, with gaps between them."""
    kind = line[2]
    width, height, row_bytes, orientation, left, top, right, bottom, conversion = map(int, line[3:])
    size = BYTES.get(kind, 4)
    rows = numpy.fromfile(FOLDER / line[0], numpy.uint8).reshape(-1, row_bytes)[:, : width * size]
    pixels = rows[:height].reshape(height, width, size)[top:bottom, left:right]
    if kind not in ("NV12", "NV21", "P010"):
        return Picture(pixels, format=kind.lower(), orientation=orientation)
    chroma = rows[height:].reshape(height // 2, width // 2, 2 * size)
    return Picture(pixels, kind.lower(), orientation, chroma, CONVERSIONS[conversion])


def rendered(name: str, made: Any) -> None:
    """Each 37th byte, which is of red, green, blue and alpha in turn."""
    height, width, _ = made.pixels.shape
    answer(name, f"{width} x {height} pixels", made.pixels.reshape(-1)[::37])


def classified(name: str, model: Any, given: Any) -> None:
    found = model.classify(given, top=1000)
    scores = [each.score for each in sorted(found, key=lambda each: each.index)]
    answer(name, "|".join(each.label for each in found[:3]), scores)


def detected(name: str, model: Any, given: Any) -> None:
    found = model.detect(given)
    rows = [(each.box.left, each.box.top, each.box.right, each.box.bottom, each.score) for each in found]
    answer(name, str(len(found)), numpy.ravel(rows))


def spotted(name: str, model: Any, given: Any) -> None:
    found = model.segment(given)
    rows = []
    for each in found:
        box, mask = each.box, each.mask
        height, width = mask.places.shape
        sides = (box.left, box.top, box.right, box.bottom, each.score)
        rows.append((*sides, mask.left, mask.top, width, height, mask.places.sum() / width))
    answer(name, f"{len(found)} objects", numpy.ravel(rows))


def located(name: str, model: Any, given: Any) -> None:
    found = model.locate(given)
    answer(name, ", ".join(each.label for each in found), numpy.ravel([(each.x, each.y, each.score) for each in found]))


def was_read(name: str, model: Any, given: Any) -> None:
    reading = model.read(given)
    answer(name, reading.text, [reading.score])


def pictures() -> None:
    asked = {
        "classifier": (Classifier, classified),
        "finder": (Finder, detected),
        "poser": (Poser, located),
        "spotter": (Spotter, spotted),
        "scribe": (ScribeModel, was_read),
        "cutter": (Cutter, lambda name, model, given: rendered(name, model.render(given))),
        "enlarger": (Enlarger, lambda name, model, given: rendered(name, model.render(given))),
    }
    for wanted, (kind, ask) in asked.items():
        with kind.load() as model:
            for line in map(str.split, (FOLDER / "cases").read_text(encoding="utf-8").splitlines()):
                if line[1] == wanted:
                    ask(line[0], model, picture(line))


def texts() -> None:
    with Meaning.load() as meaning, Tokens.load() as tokens:
        for line in (FOLDER / "texts").read_text(encoding="utf-8").splitlines():
            name, model, *units = line.split(" ")
            text = numpy.array(list(map(int, units)), "<u2").tobytes().decode("utf-16-le")
            answer(name, "", meaning.embed(text) if model == "meaning" else tokens.predict(text).ids.reshape(-1))


def listened(model: Any, voice: Any) -> None:
    lines = [list(map(int, line.split())) for line in (FOLDER / "streams").read_text(encoding="utf-8").splitlines()]
    with ThreadPoolExecutor(len(lines)) as threads:
        found = [each for pieces in threads.map(lambda line: pushed(model, voice, line), lines) for each in pieces]
    stream = model.stream(queue_ms=500, overflow="drop-oldest")
    for start in range(0, 24_000, 1000):
        stream.push(Sound(voice[start : start + 1000], 16_000))
    stream.flush()
    found += collected(stream)
    words = [*(words for words, _ in found), *misused(model, voice)]
    answer("streamed", " ".join(words), [score for _, score in found])


def pushed(model: Any, voice: Any, line: list[int]) -> list[tuple[str, float]]:
    """A stream of a line of the file `streams`: rate, channels, and how many frames each push has."""
    rate, channels, *cuts = line
    stream, start = model.stream(), 0
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(collected, stream)
        for cut in cuts:
            stream.push(Sound(voice[start : start + cut * channels].reshape(-1, channels), rate))
            start += cut * channels
        stream.flush()
        found = reading.result()
    stream.reset()
    stream.push(Sound(voice[:start].reshape(-1, channels), rate))
    stream.flush()
    assert collected(stream) == found, "the stream is as good as new"
    stream.close()
    return found


def collected(stream: Any) -> list[tuple[str, float]]:
    return [(f"{each.start}-{each.end}+{each.dropped}", each.result[0].score) for each in stream.results]


def misused(model: Any, voice: Any) -> Iterator[str]:
    """The errors, by a word of each."""
    sound = Sound(voice[:1000], 16_000)
    calls: dict[str, Callable[[Any], Any]] = {
        "began": lambda stream: stream.push(Sound(voice[:1000], 8000)),
        "channels": lambda stream: stream.push(Sound(voice[:1000].reshape(-1, 2), 16_000)),
        "finite": lambda stream: stream.push(Sound(numpy.array([0, numpy.nan]), 16_000)),
        "full": lambda stream: stream.push(Sound(voice[:20_000], 16_000)),
        "flushed": lambda stream: (stream.flush(), stream.push(sound)),
        "closed": lambda stream: (stream.close(), stream.push(sound)),
        "least": lambda _: model.stream(queue_ms=0),
        "takes": lambda _: model.stream(queue_ms=20).push(sound),
    }
    for word, call in calls.items():
        stream = model.stream(queue_ms=1000)
        stream.push(sound)
        try:
            call(stream)
            yield "nothing"
        except ModelError as error:
            yield word if word in str(error) else str(error)


def sounds() -> None:
    voice = numpy.fromfile(FOLDER / "voice", numpy.float32)
    with ListenerModel.load() as listener:
        scores = [listener.classify(Sound(each, RATE))[0].score for each in voice.reshape(-1, WINDOW)]
        answer("voice", "", scores)
        listened(listener, voice)
    with Tone.load() as tone:
        found = tone.estimate(Sound(voice, RATE))
    names = sorted(found.series)
    words = " ".join(f"{name} {found.units[name]}" for name in names)
    answer("tone", words, numpy.concatenate([found.series[name] for name in names]))
    with Cleaner.load() as cleaner:
        blocks = numpy.fromfile(FOLDER / "noisy", numpy.float32).reshape(-1, BLOCK)
        cleaned = [cleaner.render(Sound(each, RATE)) for each in blocks]
    samples = numpy.concatenate([each.samples for each in cleaned])
    answer("cleaned", f"{cleaned[0].rate} {samples.shape[1]}", samples.reshape(-1))


pictures()
texts()
sounds()
