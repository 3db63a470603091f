"""Calls the models of a wheel, and prints what they say as one line of JSON.

Argument: a file of JSON with texts, as UTF-16.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import typed  # type: ignore[import-not-found]

GIVEN = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
LISTED = [numpy.array(each, "<u2").tobytes().decode("utf-16-le", "surrogatepass") for each in GIVEN["listed"]]
AWKWARD = [numpy.array(each, "<u2").tobytes().decode("utf-16-le", "surrogatepass") for each in GIVEN["awkward"]]


def refused(call: Callable[[], object]) -> str:
    try:
        call()
    except typed.ModelError as error:
        return str(error.code.value)
    return "done"


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except typed.ModelError as error:
        return str(error)
    return "done"


def texts() -> dict[str, Any]:
    tagger, ranker, noter, tokens = (each.load() for each in (typed.Tagger, typed.Ranker, typed.Noter, typed.Tokens))
    embedder, topics, judge = (each.load() for each in (typed.Embedder, typed.Topics, typed.Judge))
    rows = typed.RowsModel.load()
    noted = noter.predict("before", GIVEN["tagged"])
    sought = GIVEN["sought"]
    return {
        "tokens": [tokens.predict(each).ids.reshape(-1).tolist() for each in AWKWARD],
        "spans": [astuple(each) for each in tagger.entities(GIVEN["tagged"])],
        "noted": [[astuple(each) for each in noted.tags], noted.copied.tolist()],
        "ranked": [astuple(each) for each in ranker.rank("a", GIVEN["documents"])],
        "together": [each.tolist() for each in embedder.embed_all(LISTED)],
        "alone": [embedder.embed(each).tolist() for each in LISTED],
        "topic": [[each.label for each in topics.classify(text)] for text in LISTED],
        "judged alone": [judge.score(sought, each) for each in LISTED],
        "none": embedder.embed_all([]),
        "topics": [[each.label for each in found] for found in topics.classify_all(LISTED)],
        "one topic": [len(each) for each in topics.classify_all(LISTED, top=1)],
        "rows": [each.ids.reshape(-1).tolist() for each in rows.predict_all(LISTED)],
        "judge": judge.score_all([sought], LISTED),
        "judged": [astuple(each) for each in judge.rank(sought, LISTED * 3)],
        "no pairs": refused(lambda: judge.score_all(["a", "b"], ["a", "b", "c"])),
        "no list": refused(lambda: embedder.embed_all("a text")),
    }


async def later(parts: Any) -> list[str]:
    return [part async for part in parts]


def tales() -> dict[str, Any]:
    teller, sampler, scribe = typed.Teller.load(), typed.Sampler.load(), typed.ScribeModel.load()
    prompts = [GIVEN["prompt"], "", "a dog"]
    samples = ((numpy.arange(160) * 7919 % 60000) - 30000).astype(numpy.int16)
    said, *spoilt = (
        [typed.Message(role=role, text=text) for role, text in each] for each in (GIVEN["said"], *GIVEN["spoilt"])
    )
    return {
        "chat": "".join(sampler.chat(said, seed=7)),
        "chat later": "".join(asyncio.run(later(sampler.chat_async(said, seed=7)))),
        "no chat": [refusal(partial(sampler.chat, each)) for each in spoilt],
        "told": ["".join(teller.generate(each)) for each in prompts],
        "told later": "".join(asyncio.run(later(teller.generate_async(prompts[0])))),
        "seeds": ["".join(sampler.generate("a dog", seed=seed)) for seed in GIVEN["seeds"]],
        "heard": "".join(scribe.generate(typed.Sound(samples, 16000))),
    }


def pictures() -> dict[str, Any]:
    watcher, everything, finder = typed.Watcher.load(), typed.Everything.load(), typed.Finder.load()

    def seen(picture: Any) -> list[float]:
        return [each.score for each in sorted(watcher.classify(picture, top=13), key=lambda each: each.index)]

    pixels = numpy.arange(2 * 3 * 3, dtype=numpy.uint8).reshape(2, 3, 3)
    luma, chroma = numpy.full((2, 4), 9, numpy.uint8), numpy.full((1, 2, 2), (20, 30), numpy.uint8)
    square = numpy.array([[[1, 2, 3, 4]] * 2, [[5, 6, 7, 8]] * 2], numpy.uint8)
    found = everything.predict(square, numpy.array([2, 0, 1]))
    boxes = numpy.array([[1, 2, 3, 4], [5, 6, 7, 8]], numpy.float32)
    bad: Iterable[Any] = (
        numpy.zeros((2, 2, 5), numpy.uint8),
        numpy.zeros((2, 2, 3), numpy.float32),
        numpy.zeros((0, 2, 3), numpy.uint8),
        typed.Picture(pixels, orientation=9),
        typed.Picture(pixels, "bgra"),
        typed.Picture(luma, "nv12"),
        typed.Picture(luma, "nv12", chroma=chroma[:, :1]),
        typed.Picture(pixels, chroma=chroma),
        b"no picture",
        "nowhere.png",
        3,
    )
    return {
        "rgb": seen(pixels),
        "bgr": seen(typed.Picture(pixels, "bgr", orientation=6)),
        "gaps": seen(pixels[:, ::-1]),
        "nv21": seen(typed.Picture(luma, "nv21", chroma=chroma, conversion="bt709-full")),
        "everything": [
            [astuple(each) for each in found.seen],
            [found.where.classes.tolist(), found.where.scores.tolist(), list(found.where.labels)],
            found.vector.tolist(),
            astuple(found.words),
            found.raw.tolist(),
            found.made.pixels.tolist(),
        ],
        "boxes": [
            [each.label, each.index, each.score, *astuple(each.box)]
            for each in finder.detect(boxes, numpy.array([0.5, 0.25], numpy.float32), numpy.array([1, 7]))
        ],
        "refused": [refused(partial(seen, each)) for each in bad],
    }


def sounds() -> dict[str, Any]:
    listener, recorder, player = typed.ListenerModel.load(), typed.Recorder.load(), typed.Player.load()

    def heard(sound: Any) -> list[float]:
        return [each.score for each in sorted(listener.classify(sound), key=lambda each: each.index)]

    stereo = typed.Sound(numpy.array([[0.5, 0.25], [0.25, -0.25]], numpy.float32), 8000)
    first, second = heard(stereo), heard(typed.Sound(numpy.array([0.5, 0.25]), 44100))
    listener.reset()
    steps = numpy.array(GIVEN["steps"], numpy.float32) / numpy.float32(32768)
    recorded = recorder.classify(typed.Sound(steps.reshape(-1, 2), 44100))
    silence = typed.Sound(numpy.zeros((8000, 2), numpy.float32), 44100)
    whole = numpy.concatenate([numpy.zeros((36100, 2), numpy.float32), steps.reshape(-1, 2)])
    played = player.render(typed.Sound(whole, 44100))
    return {
        "heard": [first, second, heard(stereo)],
        "whole": [each.score for each in sorted(recorded, key=lambda each: each.index)],
        "played": [played.rate, *played.samples.shape],
        "wav": list(played.to_wav()),
        "refused": [
            refused(lambda: listener.classify(typed.Sound(numpy.zeros((0,), numpy.float32), 8000))),
            refused(lambda: listener.classify(typed.Sound(silence.samples, 10))),
            refused(lambda: listener.classify(typed.Sound(numpy.zeros(4, numpy.int32), 8000))),
            refused(lambda: listener.classify(silence.samples)),
        ],
    }


def tensors() -> dict[str, Any]:
    with typed.Finder.load(typed.Options(threads=1)) as finder:
        boxes = numpy.ones((1, 4), numpy.float32)
        given = {"boxes": boxes, "scores": [0.5], "classes": [1]}
        found = finder.run(**given).boxes_out.tolist()
        wrong = [
            refused(lambda: finder.run(**{**given, "boxes": numpy.ones((1, 5), numpy.float32)})),
            refused(lambda: finder.run(**{**given, "boxes": numpy.ones((1, 4))})),
        ]
        counts = finder.metrics()
    later = asyncio.run(typed.Finder.load().detect_async(boxes, [0.5], [1]))
    return {
        "found": found,
        "later": [each.label for each in later],
        "wrong": wrong,
        "closed": refused(lambda: finder.run(**given)),
        "counts": [counts.runs, counts.errors, 0 < counts.p50 <= counts.p99],
        "attributes": sorted(counts.attributes()),
        "options": [refused(lambda: typed.Finder.load(typed.Options(threads=-1)))],
    }


print(json.dumps({each.__name__: each() for each in (texts, tales, pictures, sounds, tensors)}))
