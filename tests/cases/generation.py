"""Runs generated texts step by step, and the plain loop that they are compared with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
from tokenizers import Tokenizer

from packager.contract import OUTPUT_KINDS, attachment
from packager.contract.attachment import Tables
from packager.contract.tokens import StringInput
from packager.core.contract import TextInput
from packager.core.values import Model
from tests.cases import decoders
from tests.cases.onnx_text import loaded
from tests.cases.onnx_text import session as opened

TABLE: dict[str, Any] = {"stop_tokens": [decoders.STOP], "max_new_tokens": 24}
"""keys of the output"""
DTYPES = {"float": numpy.float32, "int64": numpy.int64}


def generating(folder: Path, net: onnx.ModelProto, name: str = "m", **keys: Any) -> Model:
    """`net` with a contract: a prompt in, a text out."""
    path = folder / "tokenizer.json"
    inputs = {"input_ids": StringInput(tokenizer=path)}
    table: Any = OUTPUT_KINDS["generated"]
    made = table(**TABLE | {"stop_tokens": (decoders.STOP,)} | keys)
    return attachment.attach(loaded(folder, net, name), Tables(inputs=inputs, outputs={"logits": made})).model


@dataclass(frozen=True)
class Steps:
    """A model with a contract, open."""

    model: Model
    session: onnxruntime.InferenceSession

    @classmethod
    def of(cls, model: Model) -> "Steps":
        path = model.path.with_name("contract.onnx")
        path.write_bytes(model.graph)  # its weights lie in the file beside it
        return cls(model, opened(path))

    def __call__(self, prompt: str, seed: int = 0) -> Iterator[Mapping[str, Any]]:
        """The outputs of each step."""
        contract = self.model.contract
        assert contract is not None
        assert contract.generated is not None
        states = {
            each.input.name: numpy.zeros(each.first_shape, DTYPES[each.input.element.value]) for each in contract.states
        }
        given = {contract.generated.seed.name: numpy.array([seed])} if contract.generated.seed else {}
        (text,) = (each for each in contract.parameters if isinstance(each, TextInput))
        while True:
            points = numpy.array([ord(each) for each in prompt] or [-1], numpy.int32)
            names = [each.name for each in self.session.get_outputs()]
            made = dict(
                zip(names, self.session.run(None, {**given, **states, text.code_points.name: points}), strict=True)
            )
            yield made
            states = {each.input.name: made[each.output.name] for each in contract.states}
            prompt = ""
            if made[contract.generated.is_finished.name][0]:
                return

    def tokens(self, prompt: str, seed: int = 0) -> list[int]:
        """The token of each step."""
        return [int(made["logits.next progress"][1]) for made in self(prompt, seed)]

    def text(self, prompt: str, seed: int = 0) -> str:
        points = (made["logits.characters"].tolist() for made in self(prompt, seed))
        return "".join(chr(point) for each in points for point in each)


def plain_logits(session: onnxruntime.InferenceSession, ids: list[int]) -> Any:
    """The logits after `ids`, all of them in one run, without anything of mobpack's."""
    feeds: dict[str, Any] = {"input_ids": numpy.array([ids], numpy.int64)}
    for each in session.get_inputs():
        if each.name == "attention_mask":
            feeds[each.name] = numpy.ones((1, len(ids)), numpy.int64)
        elif each.name == "position_ids":
            feeds[each.name] = numpy.arange(len(ids), dtype=numpy.int64)[None]
        elif each.name != "input_ids":
            feeds[each.name] = numpy.zeros((1, decoders.HEADS, 0, decoders.SIZE), numpy.float32)
    return session.run(["logits"], feeds)[0][0, -1]


def plain_greedy(net: onnx.ModelProto, folder: Path, prompt: str, most: int = 24) -> tuple[list[int], str]:
    """Tokens and text of a greedy loop over the net itself, which sees all tokens in each run."""
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = opened(net.SerializeToString())
    ids = known.encode(prompt).ids
    made: list[int] = []
    stop = known.token_to_id(decoders.STOP)
    while len(made) < most:
        made.append(int(plain_logits(session, ids + made).argmax()))
        if made[-1] == stop:
            break
    return made, known.decode(made)
