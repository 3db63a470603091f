"""A small encoder and its merged decoder with random weights, laid out as Hugging Face optimum writes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from tests.decoders import STOP, Net

WIDTH, WINDOW = 8, 4
"""of the hidden states, and samples that each of them is made from"""
KEPT = "past_key_values.0.encoder.key"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def encoder(width: int = WIDTH) -> onnx.ModelProto:
    net = Net(1)
    rows = net.op("Reshape", "input_values", [1, -1, WINDOW])
    net.nodes.append(
        helper.make_node("Tanh", [net.op("MatMul", rows, net.weight(WINDOW, width))], ["last_hidden_state"])
    )
    return _model(
        net.nodes,
        net.weights,
        [("input_values", FLOAT, ["batch_size", "num_samples"])],
        [("last_hidden_state", FLOAT, ["batch_size", "num_samples / 4", width])],
    )


def decoder(vocabulary: int) -> onnx.ModelProto:
    """The branch for further steps gives an empty cache of cross-attention, as optimum's do."""
    net = Net(2)
    weights = [net.weight(vocabulary, WIDTH), net.weight(WIDTH, WIDTH), net.weight(WIDTH, vocabulary)]
    branches = {}
    for name, is_first in (("then_branch", False), ("else_branch", True)):
        net.nodes = []
        outputs = _branch(net, weights, is_first=is_first)
        infos = [helper.make_tensor_value_info(each, FLOAT, None) for each in outputs]
        branches[name] = helper.make_graph(net.nodes, name, [], infos)
    outputs = ["logits", "present.0.decoder.key", "present.0.encoder.key"]
    node = helper.make_node("If", ["use_cache_branch"], outputs, name="optimum::if", **branches)
    past = [1, "past_decoder_sequence_length", WIDTH]
    kept = [1, "encoder_sequence_length_out", WIDTH]
    return _model(
        [node],
        net.weights,
        [
            ("input_ids", INT64, ["batch_size", "decoder_sequence_length"]),
            ("encoder_hidden_states", FLOAT, ["batch_size", "encoder_sequence_length", WIDTH]),
            ("past_key_values.0.decoder.key", FLOAT, past),
            (KEPT, FLOAT, kept),
            ("use_cache_branch", BOOL, [1]),
        ],
        [
            ("logits", FLOAT, ["batch_size", "decoder_sequence_length", vocabulary]),
            (outputs[1], FLOAT, [1, "past_decoder_sequence_length + 1", WIDTH]),
            (outputs[2], FLOAT, kept),
        ],
    )


def _branch(net: Net, weights: list[str], *, is_first: bool) -> list[str]:
    table, key, scores = weights
    new = net.op("Mul", net.op("Gather", table, "input_ids"), 3.0)
    own = new if is_first else net.op("Concat", "past_key_values.0.decoder.key", new, axis=1)
    hidden = net.op("MatMul", "encoder_hidden_states", key) if is_first else KEPT
    query = net.op("Add", new, net.op("ReduceMean", own, [1], keepdims=1))
    shares = net.op("Softmax", net.op("MatMul", query, net.op("Transpose", hidden, perm=[0, 2, 1])), axis=-1)
    mixed = net.op("Add", query, net.op("Mul", net.op("MatMul", shares, hidden), 4.0))
    results = [net.op("MatMul", mixed, scores), own, hidden if is_first else numpy.zeros((1, 0, WIDTH))]
    names = ["logits", "present.0.decoder.key", "present.0.encoder.key"]
    for name, value in zip(names, results, strict=True):
        given = value if isinstance(value, str) else net.constant(value)
        net.nodes.append(helper.make_node("Identity", [given], [name], name=f"{name}/made"))
    return names


def _model(nodes: Any, weights: Any, inputs: list[tuple[Any, ...]], outputs: list[tuple[Any, ...]]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def opened(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def plain(folder: Path, samples: Any, start: Sequence[str], most: int) -> list[int]:
    """Tokens of a greedy loop over the two files."""
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    first, later = (opened(folder / f"{name}.onnx") for name in ("encoder_model", "decoder_model_merged"))
    (hidden,) = first.run(None, {"input_values": samples})
    ids = [int(known.token_to_id(token) or 0) for token in start]
    caches = {name: numpy.zeros((1, 0, 8), numpy.float32) for name in ("past_key_values.0.decoder.key", KEPT)}
    made: list[int] = []
    while len(made) < most:
        given = {"input_ids": numpy.array([ids]), "encoder_hidden_states": hidden, **caches}
        logits, own, kept = later.run(None, {**given, "use_cache_branch": numpy.array([bool(made)])})
        caches = {"past_key_values.0.decoder.key": own, KEPT: caches[KEPT] if made else kept}
        ids = [int(logits[0, -1].argmax())]
        made += ids
        if ids[0] == known.token_to_id(STOP):
            break
    return made
