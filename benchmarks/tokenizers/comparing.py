"""Compares the graph of a tokenizer with Hugging Face's library, text by text: ids, types and offsets."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
from tokenizers import Tokenizer

from benchmarks.tokenizers.texts import Text
from packager.contract import tokenization

LONGEST = 5000
"""characters of texts that are made smaller"""
SHOWN = 5
"""differences that are kept of each kind"""


@dataclass(frozen=True, kw_only=True)
class Difference:
    text: Text
    what: str
    """ids, types or offsets"""
    place: int
    """first token that differs"""
    found: tuple[Any, ...]
    """three tokens from there on"""
    wanted: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Result:
    counts: Counter[str] = field(default_factory=Counter)
    """texts by kind"""
    wrong: Counter[str] = field(default_factory=Counter)
    """those that differ"""
    first: list[Difference] = field(default_factory=list)


class Graph:
    """A tokenizer's graph in ONNX Runtime, on one thread."""

    def __init__(self, path: Path, *, is_pair: bool = False) -> None:
        self.proto = tokenization.alone(tokenization.read(path), is_pair=is_pair).SerializeToString()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # warnings of each run would hide what differs
        self.session = onnxruntime.InferenceSession(self.proto, options, providers=["CPUExecutionProvider"])
        self.names = [each.name for each in self.session.get_inputs()]

    def __call__(self, *texts: str) -> dict[str, Any]:
        given = {name: points(text) for name, text in zip(self.names, texts, strict=True)}
        ids, types, offsets = self.session.run(["ids", "types", "offsets"], given)
        return {"ids": ids, "types": types, "offsets": offsets}


def points(text: str) -> numpy.ndarray[Any, Any]:
    return numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), numpy.int32)


def compare(graph: Graph, reference: Tokenizer, texts: Iterable[Text]) -> Result:
    result = Result()
    shown: Counter[str] = Counter()
    for text in texts:
        result.counts[text.kind] += 1
        difference = different(graph, reference, text)
        if difference:
            result.wrong[text.kind] += 1
            shown[text.kind] += 1
            if shown[text.kind] <= SHOWN:
                result.first.append(smaller(graph, reference, difference))
    return result


def different(graph: Graph, reference: Tokenizer, text: Text, second: str | None = None) -> Difference | None:
    """The first difference in the tokens of a text, or of a pair of texts."""
    made = reference.encode(text.text, second)
    found = graph(text.text) if second is None else graph(text.text, second)
    wanted: dict[str, list[Any]] = {"ids": made.ids, "types": made.type_ids, "offsets": made.offsets}
    for what, value in wanted.items():
        array = numpy.array(value, numpy.int64).reshape(len(value), *found[what].shape[1:])
        if array.shape == found[what].shape and (array == found[what]).all():
            continue
        size = min(len(array), len(found[what]))
        wrong = numpy.argwhere(array[:size] != found[what][:size])
        place = int(wrong[0][0]) if len(wrong) else size
        here = slice(place, place + 3)
        shown = (tuple(each[here].tolist()) for each in (found[what], array))
        return Difference(text=text, what=what, place=place, found=next(shown), wanted=next(shown))
    return None


def smaller(graph: Graph, reference: Tokenizer, known: Difference) -> Difference:
    """The difference of the shortest text that leaving out parts of the text finds (delta debugging: Zeller, 2002)."""
    text, part = known.text.text, len(known.text.text) // 2
    if len(text) > LONGEST:
        return known
    while part:
        place, before = 0, len(text)
        while place < len(text):
            tried = text[:place] + text[place + part :]
            found = different(graph, reference, Text(kind=known.text.kind, text=tried))
            if found:
                text, known = tried, found
            else:
                place += part
        part = part if part == 1 and len(text) < before else part // 2
    return known
