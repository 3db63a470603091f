"""Decoders in the graph give the texts of Hugging Face's tokenizers, token by token."""

import json
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Tokenizer, decoders, models

from packager.contract import tokenization
from packager.contract.tokenization import detokenizing
from packager.contract.tokenization.byte_level import CHARACTERS
from packager.contract.tokenization.detokenizing import Ends, Progress
from packager.core.errors import ConfigError
from packager.graph.writer import Writer
from tests.cases.drawn import drawn
from tests.cases.onnx_text import session
from tests.nights import examples

WORDS = (
    *("\u2581the", "\u2581fox", "\u2581", "\u2581\u2581", "s", "##s", "##", "n't", ".", " ", "", "\u00e9", "\u6771"),
    *("\ufffd", "<0x", "<0xZZ>", "<0x4>", "<0xe2>", "<0x+4>", "a\u2581b", "\U0001f600", " do not", "'", "Ab"),
)
TOKENS = (*WORDS, *(f"<0x{number:02X}>" for number in range(256)), *CHARACTERS)
SPECIAL = ("<s>", "</s>")
UNKNOWN = 3
"""ids that the model has and the tokenizer lacks"""

DECODERS = {
    "none": None,
    "bytes": decoders.ByteLevel(),
    "replaced bytes": decoders.Sequence([decoders.Replace("\u2581", "\u0120"), decoders.ByteLevel()]),
    "llama": decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    ),
    "two": decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse(), decoders.Strip(" ", 2, 0)]),
    "gemma": decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]),
    "each": decoders.Sequence([decoders.Strip("\u2581", 1, 0), decoders.ByteFallback()]),
    "metaspace": decoders.Metaspace(),
    "metaspace without a prefix": decoders.Metaspace(prepend_scheme="never"),
    "wordpiece": decoders.WordPiece(),
    "wordpiece as it is": decoders.WordPiece(cleanup=False),
}


class Detokenizer:
    """A decoder in a graph, and the same one of tokenizers."""

    def __init__(self, decoder: Any, folder: Path) -> None:
        known = {token: number for number, token in enumerate(dict.fromkeys(TOKENS))}
        self.reference = Tokenizer(models.WordLevel(known, unk_token="s"))
        self.reference.add_special_tokens([AddedToken(each, special=True) for each in SPECIAL])
        self.reference.add_tokens([AddedToken("h\u00e9 llo", special=False)])
        if decoder is not None:
            self.reference.decoder = decoder
        self.size = self.reference.get_vocab_size() + UNKNOWN
        path = folder / "tokenizer.json"
        self.reference.save(str(path))
        self.session = _session(tokenization.read_decoder(path).decoder, self.size)

    def __call__(self, tokens: list[int]) -> str:
        """The text of all runs: one for each token, and a last one."""
        progress = {"bytes": numpy.zeros(0), "texts": numpy.zeros(1), "stripped": numpy.zeros(1)}
        points: list[int] = []
        for token, is_last in [*((each, False) for each in tokens), (0, True)]:
            made = self.session.run(
                ["points", "bytes.next", "texts.next", "stripped.next"],
                {name: value.astype(numpy.int64) for name, value in progress.items()}
                | {"token": numpy.array([token]), "is_last": numpy.array([is_last])},
            )
            points += made[0].tolist()
            progress = dict(zip(progress, made[1:], strict=True))
        return "".join(map(chr, points))


def _session(decoder: Any, size: int) -> onnxruntime.InferenceSession:
    writer = Writer(scope="decoder")
    names = ("bytes", "texts", "stripped")
    before = Progress(**{name: name for name in names})
    ends = Ends(is_skipped="is_last", is_last="is_last")
    made = detokenizing.write(writer, decoder, size, "token", ends, before)
    outputs = {"points": made.points} | {f"{name}.next": getattr(made.progress, name) for name in names}
    identities = [helper.make_node("Identity", [value], [name]) for name, value in outputs.items()]
    graph = helper.make_graph(
        [*writer.written.nodes, *identities],
        "decoder",
        [
            helper.make_tensor_value_info("token", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("is_last", TensorProto.BOOL, [1]),
            helper.make_tensor_value_info("bytes", TensorProto.INT64, ["n"]),
            *(helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in names[1:]),
        ],
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["m"]) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in writer.written.constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return session(model.SerializeToString())


@pytest.fixture(scope="module", params=list(DECODERS))
def detokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Detokenizer:
    return Detokenizer(DECODERS[request.param], tmp_path_factory.mktemp("decoder"))


COUNT = len(dict.fromkeys(TOKENS))
MULTIPLE = (*"\u00e9\u6771\U0001f600\ufffd\ud7ff", "\U0010ffff")


@st.composite
def sequences(draw: st.DrawFn) -> list[int]:
    """Random tokens; bytes of characters, one token each, whole and cut; tokens of no text."""
    known = {token: number for number, token in enumerate(dict.fromkeys(TOKENS))}
    made: list[int] = []
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            words = st.sampled_from(WORDS).map(known.__getitem__)
            made += draw(st.lists(st.one_of(words, st.integers(0, COUNT + len(SPECIAL) + UNKNOWN)), max_size=4))
            continue
        data = draw(st.sampled_from(MULTIPLE)).encode("utf-8", "surrogatepass")
        data = data[draw(st.integers(0, 1)) : draw(st.integers(1, len(data)))]
        made += [known[draw(st.sampled_from([CHARACTERS[byte], f"<0x{byte:02X}>"]))] for byte in data]
    return made


SEQUENCES = sequences()


def test_random_tokens_are_the_text_of_tokenizers(detokenizer: Detokenizer) -> None:
    for tokens in drawn(SEQUENCES, examples(250)):
        assert detokenizer(tokens) == detokenizer.reference.decode(tokens), tokens


@pytest.mark.parametrize("name", ["bytes", "llama"])
def test_every_two_bytes_are_the_text_of_tokenizers(name: str, tmp_path: Path) -> None:
    detokenizer = Detokenizer(DECODERS[name], tmp_path)
    known = {token: number for number, token in enumerate(dict.fromkeys(TOKENS))}
    texts = [CHARACTERS[byte] if name == "bytes" else f"<0x{byte:02X}>" for byte in range(256)]
    edges = (0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0)
    for first in (*edges, 0xF1, 0xF4, 0xF5, 0xFF):
        for second in edges:
            for rest in ((), (0x80,), (0xBF, 0x80)):
                tokens = [known[texts[byte]] for byte in (first, second, *rest)]
                assert detokenizer(tokens) == detokenizer.reference.decode(tokens), (first, second, rest)


@pytest.mark.parametrize(
    ("decoder", "words"),
    [
        ({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}, "'CTC'"),
        ({"type": "BPEDecoder", "suffix": "</w>"}, "'BPEDecoder'"),
        ({"type": "Strip", "content": " ", "start": 0, "stop": 1}, "'Strip'"),
        ({"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""}, "a regular expression"),
        ({"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]}, "'ByteFallback' after others"),
    ],
)
def test_a_decoder_that_is_not_known_is_refused_by_name(decoder: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "decoder": decoder}))
    with pytest.raises(ConfigError, match=words):
        tokenization.read_decoder(path)
