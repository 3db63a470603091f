"""Small tokenizers of every family, trained here, and pieces that splitters of graphs make."""

import json
from functools import cache
from typing import Any

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from benchmarks.tokenizers.references import CL100K, QWEN
from packager.contract.tokenization import splitting
from packager.contract.tokenization.definition import Splitter
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.stages import BREAK, Points
from packager.graph.writer import OPSET, Writer
from tests.cases.tokenizer_graphs import points

CORPUS = (
    "The quick brown fox jumps over the lazy dog, doesn't it? They'll see; we've seen, I'd say it's 12,345.67 km.",
    "Größere Äpfel süßen über Nacht. L'été, où êtes-vous? ¿Dónde está la niña? Zażółć gęślą jaźń.",
    "Съешь же ещё этих мягких французских булок. Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "東京は日本の首都です。 中文分词很有意思。 한국어 문장을 나눕니다. ภาษาไทยไม่มีช่องว่าง",
    "اللغة العربية جميلة. शब्दों को अलग करना। עברית נכתבת מימין לשמאל",
    "def split(text: str) -> list[str]:\n    return [each.strip() for each in text.split(',')]\n\n\n\tif x == 10:\r\n",
    "👩‍👩‍👧 🇩🇪 👍🏽 ☕ ½ Ⅻ x² ﬁ ǅ   three   blanks    four",
)
SPECIAL = ("<s>", "</s>", "<|endoftext|>", "<mask>")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
EXPRESSIONS = {"": "", "cl100k": CL100K, "qwen": QWEN, "o200k": O200K}


@cache
def byte_level(expression: str = "", *, prefix: bool = False, trims: bool = False, roberta: bool = False) -> Tokenizer:
    """Byte-level BPE; `expression` names one of `EXPRESSIONS`."""
    made = Tokenizer(models.BPE())
    pattern = EXPRESSIONS[expression]
    level = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=not pattern)
    split = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*split, level])
    trainer = trainers.BpeTrainer(
        vocab_size=800,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[AddedToken(each, special=True, normalized=False) for each in SPECIAL],
    )
    made.train_from_iterator(CORPUS, trainer)
    if roberta:
        ids = {token: made.token_to_id(token) or 0 for token in SPECIAL}
        made.post_processor = processors.RobertaProcessing(
            ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), trim_offsets=trims, add_prefix_space=prefix
        )
    elif trims:
        made.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=prefix)
    return made


@cache
def unigram(*, falls_back: bool = False) -> Tokenizer:
    """Unigram with Metaspace, as T5 and XLM-RoBERTa have it."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=500, show_progress=False, unk_token="<unk>", special_tokens=[])
    made.train_from_iterator(CORPUS, trainer)
    pieces = [each for each in json.loads(made.to_str())["model"]["vocab"] if each[0] != "<unk>"]
    pieces += [(f"<0x{byte:02X}>", 0.0) for byte in range(256)] if falls_back else []
    made.model = models.Unigram([("<unk>", 0.0), *map(tuple, pieces)], 0, falls_back)
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in SPECIAL])
    return made


@cache
def characters(*, falls_back: bool = True) -> Tokenizer:
    """BPE of characters, as Llama 2 and Mistral have it: unknown ones become bytes, or one unknown token."""
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=falls_back))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    pieces = [f"<0x{byte:02X}>" for byte in range(256)] if falls_back else []
    trainer = trainers.BpeTrainer(vocab_size=700, show_progress=False, special_tokens=["<unk>", *pieces])
    made.train_from_iterator(CORPUS, trainer)
    made = Tokenizer.from_str(json.dumps({**json.loads(made.to_str()), "added_tokens": []}))
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in SPECIAL])
    return made


class Pieces:
    """The pieces that a splitter of a graph makes of texts."""

    def __init__(self, splitter: Splitter) -> None:
        writer = Writer(scope="splitter")
        size = writer.node("Squeeze", writer.node("Shape", "text"))
        starts = writer.node("Range", 0, size, 1)
        text = Points(points="text", starts=starts, ends=writer.node("Add", starts, 1))
        made = splitting.write(writer, text, splitter)
        nodes = [helper.make_node("Identity", [value], [name]) for name, value in vars(made).items()]
        graph = helper.make_graph(
            [*writer.written.nodes, *nodes],
            "splitter",
            [helper.make_tensor_value_info("text", TensorProto.INT64, ["n"])],
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["m"]) for name in vars(made)],
            [numpy_helper.from_array(array, name) for name, array in writer.written.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """First and last code point of each piece, in `text`."""
        given = numpy.concatenate([[END], points(text), [END]]).astype(numpy.int64)
        values: list[Any] = self.session.run(["points", "starts", "ends"], {"text": given})
        made, starts, ends = values
        is_text = numpy.concatenate([[False], (made != END) & (made != BREAK), [False]])
        first = numpy.flatnonzero(is_text[1:] & ~is_text[:-1])
        last = numpy.flatnonzero(is_text[:-1] & ~is_text[1:]) - 1
        return list(zip((starts[first] - 1).tolist(), (ends[last] - 1).tolist(), strict=True))
