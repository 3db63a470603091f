"""Small decoders with random weights, as exporters write them: GPT-2's layout, Llama's, and one without caches."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HEADS, SIZE, LAYERS = 2, 16, 2
WIDTH = HEADS * SIZE
STOP = "<|end|>"
TEXTS = (
    "the quick brown fox jumps over the lazy dog",
    "a dog and a fox read a book of short tales",
    "\U0001f600 smiles, \U0001f98a runs, \u6771\u4eac waits",
)
EMOJI = "\U0001f98a"
"""four bytes, of which the vocabulary has single ones"""


def tokenizer(folder: Path, size: int = 300) -> Path:
    """`tokenizer.json` of a byte-level BPE that was trained on TEXTS."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[STOP],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS[:2], trainer)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(made.to_str())), encoding="utf-8")
    return path


class Net:
    """Collects the nodes of a decoder."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = numpy.random.default_rng(seed)

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> str:
        names = [each if isinstance(each, str) else self.constant(numpy.array(each)) for each in inputs]
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [name], name=name, **attributes))
        return name

    def constant(self, array: Any) -> str:
        kept = array.astype(numpy.float32) if array.dtype == numpy.float64 else array
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(kept, name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant(self.random.normal(0, shape[0] ** -0.5, shape))

    def heads(self, value: str) -> str:
        """[1, tokens, width] -> [1, heads, tokens, size]"""
        return self.op("Transpose", self.op("Reshape", value, [1, -1, HEADS, SIZE]), perm=[0, 2, 1, 3])


def decoder(
    vocabulary: int, *, kind: str, script: Sequence[int] = (), sharpness: float = 2.0, window: int = 0
) -> onnx.ModelProto:
    """A decoder of `kind`: `gpt2` (positions are an input), `llama` (rotary, positions from the cache), `plain` (takes
    all tokens in each run). At the places of `script` that are not negative, that token follows. A token sees
    `window` earlier ones, or all."""
    net = Net(len(kind))
    table = net.weight(vocabulary, WIDTH)
    has_cache = kind != "plain"
    tokens = net.op("Squeeze", net.op("Shape", "input_ids", start=1), [0])
    past = net.op("Squeeze", net.op("Shape", "past_key_values.0.key", start=2, end=3), [0]) if has_cache else 0
    total = net.op("Add", tokens, past)
    own = net.op("Range", past, total, 1)
    hidden = net.op("Mul", net.op("Gather", table, "input_ids"), float(WIDTH**0.5))
    if kind != "llama":
        positions = "position_ids" if kind == "gpt2" else net.op("Unsqueeze", own, [0])
        hidden = net.op("Add", hidden, net.op("Gather", net.weight(512, WIDTH), positions))
    unseen = net.op("Less", net.op("Unsqueeze", own, [1]), net.op("Unsqueeze", net.op("Range", 0, total, 1), [0]))
    if window:
        seen = net.op("Unsqueeze", net.op("Add", net.op("Range", 0, total, 1), window), [0])
        unseen = net.op("Or", unseen, net.op("Less", seen, net.op("Unsqueeze", own, [1])))
    if kind == "gpt2":  # as exports do, the mask counts as well
        masked = net.op("Equal", "attention_mask", 0)
        unseen = net.op("Or", unseen, masked)
    hidden_bias = net.op("Where", unseen, -1e9, 0.0)
    for layer in range(LAYERS):
        hidden = net.op("Add", hidden, _attention(net, hidden, layer, hidden_bias, own, kind))
        inner = net.op("MatMul", _normed(net, hidden, kind), net.weight(WIDTH, 2 * WIDTH))
        active = net.op("Mul", inner, net.op("Sigmoid", inner)) if kind == "llama" else net.op("Tanh", inner)
        hidden = net.op("Add", hidden, net.op("MatMul", active, net.weight(2 * WIDTH, WIDTH)))
    scores = net.op("MatMul", _normed(net, hidden, kind), net.weight(WIDTH, vocabulary))
    scores = net.op("Mul", scores, sharpness)
    net.nodes.append(
        helper.make_node("Add", [scores, _scripted(net, script, vocabulary, own)], ["logits"], name="logits")
    )
    return _model(net, vocabulary, kind)


def _scripted(net: Net, script: Sequence[int], vocabulary: int, own: str) -> str:
    rows = numpy.zeros((len(script) + 1, vocabulary))
    for place, token in enumerate(script):
        rows[place, token] = 100.0 if token >= 0 else 0.0
    return net.op("Gather", net.constant(rows), net.op("Min", own, len(script)))


def _normed(net: Net, value: str, kind: str) -> str:
    if kind == "llama":
        mean = net.op("ReduceMean", net.op("Mul", value, value), [-1], keepdims=1)
        return net.op("Div", value, net.op("Sqrt", net.op("Add", mean, 1e-5)))
    scale, bias = net.constant(numpy.ones(WIDTH)), net.constant(numpy.zeros(WIDTH))
    return net.op("LayerNormalization", value, scale, bias, axis=-1)


def _rotated(net: Net, value: str, own: str) -> str:
    speeds = 10000.0 ** (-numpy.arange(0, SIZE, 2) / SIZE)
    turns = net.op("Mul", net.op("Unsqueeze", net.op("Cast", own, to=TensorProto.FLOAT), [1]), speeds)
    turns = net.op("Concat", turns, turns, axis=-1)
    half = net.op("Slice", value, [SIZE // 2], [SIZE], [-1]), net.op("Slice", value, [0], [SIZE // 2], [-1])
    other = net.op("Concat", net.op("Neg", half[0]), half[1], axis=-1)
    return net.op("Add", net.op("Mul", value, net.op("Cos", turns)), net.op("Mul", other, net.op("Sin", turns)))


def _attention(net: Net, hidden: str, layer: int, bias: str, own: str, kind: str) -> str:
    normed = _normed(net, hidden, kind)
    query, key, value = (net.heads(net.op("MatMul", normed, net.weight(WIDTH, WIDTH))) for _ in range(3))
    if kind == "llama":
        query, key = _rotated(net, query, own), _rotated(net, key, own)
    if kind != "plain":
        made = []
        for part, new in (("key", key), ("value", value)):
            name = f"present.{layer}.{part}"
            past = f"past_key_values.{layer}.{part}"
            net.nodes.append(helper.make_node("Concat", [past, new], [name], name=name, axis=2))
            made.append(name)
        key, value = made
    scores = net.op("MatMul", query, net.op("Transpose", key, perm=[0, 1, 3, 2]))
    shares = net.op("Softmax", net.op("Add", net.op("Mul", scores, float(SIZE**-0.5)), bias), axis=-1)
    joined = net.op("Transpose", net.op("MatMul", shares, value), perm=[0, 2, 1, 3])
    return net.op("MatMul", net.op("Reshape", joined, [1, -1, WIDTH]), net.weight(WIDTH, WIDTH))


def _model(net: Net, vocabulary: int, kind: str) -> onnx.ModelProto:
    row = ["batch_size", "sequence_length"]
    inputs: list[tuple[Any, ...]] = [("input_ids", TensorProto.INT64, row)]
    if kind == "gpt2":
        inputs.append(("attention_mask", TensorProto.INT64, ["batch_size", "past_sequence_length + sequence_length"]))
        inputs.append(("position_ids", TensorProto.INT64, row))
    outputs: list[tuple[Any, ...]] = [("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", vocabulary])]
    parts = [f"{layer}.{part}" for layer in range(LAYERS) for part in ("key", "value")] if kind != "plain" else []
    for part in parts:
        shape = ["batch_size", HEADS, "past_sequence_length", SIZE]
        inputs.append((f"past_key_values.{part}", TensorProto.FLOAT, shape))
        longer = ["batch_size", HEADS, "past_sequence_length + sequence_length", SIZE]
        outputs.append((f"present.{part}", TensorProto.FLOAT, longer))
    graph = helper.make_graph(
        net.nodes,
        kind,
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        net.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
