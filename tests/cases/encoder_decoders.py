"""A small encoder and its merged decoder with random weights, laid out as Hugging Face optimum writes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from tests.cases.decoders import STOP, Net
from tests.cases.onnx_text import session

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


def picture_encoder() -> onnx.ModelProto:
    """Four hidden states of a picture of 8 by 8 pixels: one for each pair of rows."""
    net = Net(4)
    rows = net.op("Reshape", "pixel_values", [1, 4, 48])
    product = net.op("MatMul", rows, net.weight(48, WIDTH))
    net.nodes.append(helper.make_node("Tanh", [product], ["last_hidden_state"]))
    return _model(
        net.nodes,
        net.weights,
        [("pixel_values", FLOAT, ["batch_size", 3, 8, 8])],
        [("last_hidden_state", FLOAT, ["batch_size", 4, WIDTH])],
    )


def text_encoder(vocabulary: int) -> onnx.ModelProto:
    """Its sizes have the names of the decoder's, as in translators."""
    net = Net(3)
    rows = net.op("Gather", net.weight(vocabulary, WIDTH), "input_ids")
    mask = net.op("Unsqueeze", net.op("Cast", "attention_mask", to=FLOAT), [2])
    mean = net.op("Div", net.op("ReduceSum", net.op("Mul", rows, mask), [1]), net.op("ReduceSum", mask, [1]))
    net.nodes.append(helper.make_node("Tanh", [net.op("Add", rows, mean)], ["last_hidden_state"]))
    row = ["batch_size", "encoder_sequence_length"]
    return _model(
        net.nodes,
        net.weights,
        [("input_ids", INT64, row), ("attention_mask", INT64, row)],
        [("last_hidden_state", FLOAT, [*row, WIDTH])],
    )


def decoder(vocabulary: int, *, is_masked: bool = False) -> onnx.ModelProto:
    """The branch for further steps gives an empty cache of cross-attention, as optimum's do; `is_masked` ones take
    `encoder_attention_mask`."""
    net = Net(2)
    weights = [net.weight(vocabulary, WIDTH), net.weight(WIDTH, WIDTH), net.weight(WIDTH, vocabulary)]
    branches = {}
    for name, is_first in (("then_branch", False), ("else_branch", True)):
        net.nodes = []
        outputs = _branch(net, weights, is_first=is_first, is_masked=is_masked)
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
            *([("encoder_attention_mask", INT64, ["batch_size", "encoder_sequence_length"])] if is_masked else []),
        ],
        [
            ("logits", FLOAT, ["batch_size", "decoder_sequence_length", vocabulary]),
            (outputs[1], FLOAT, [1, "past_decoder_sequence_length + 1", WIDTH]),
            (outputs[2], FLOAT, kept),
        ],
    )


def split_decoders(vocabulary: int, *, is_masked: bool = False) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The same decoder in two files, of the first step and of further ones: the second takes no hidden states, and
    gives no caches of cross-attention."""
    merged = decoder(vocabulary, is_masked=is_masked)
    ((choice,), graph) = merged.graph.node, merged.graph
    branches = {each.name: each.g for each in choice.attribute}
    later = {value.name for value in graph.input} - {"encoder_hidden_states", "use_cache_branch"}
    first = {value.name for value in graph.input if not value.name.startswith("past")} - {"use_cache_branch"}
    found = []
    for inner, taken, kept in ((branches["else_branch"], first, 3), (branches["then_branch"], later, 2)):
        made = onnx.ModelProto.FromString(merged.SerializeToString())
        del made.graph.node[:], made.graph.input[:], made.graph.output[kept:]
        made.graph.node.extend(inner.node)
        made.graph.input.extend(value for value in graph.input if value.name in taken)
        used = {name for node in inner.node for name in node.input}
        del made.graph.initializer[:]
        made.graph.initializer.extend(each for each in graph.initializer if each.name in used)
        found.append(made)
    found[0].graph.output[1].type.tensor_type.shape.dim[1].dim_param = "decoder_sequence_length"
    return found[0], found[1]


def _branch(net: Net, weights: list[str], *, is_first: bool, is_masked: bool) -> list[str]:
    table, key, scores = weights
    new = net.op("Mul", net.op("Gather", table, "input_ids"), 3.0)
    own = new if is_first else net.op("Concat", "past_key_values.0.decoder.key", new, axis=1)
    hidden = net.op("MatMul", "encoder_hidden_states", key) if is_first else KEPT
    query = net.op("Add", new, net.op("ReduceMean", own, [1], keepdims=1))
    fit = net.op("MatMul", query, net.op("Transpose", hidden, perm=[0, 2, 1]))
    if is_masked:
        unseen = net.op("Sub", net.op("Cast", "encoder_attention_mask", to=FLOAT), 1.0)
        fit = net.op("Add", fit, net.op("Unsqueeze", net.op("Mul", unseen, 1e4), [1]))
    shares = net.op("Softmax", fit, axis=-1)
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
    return session(path)


def plain(folder: Path, samples: Any, start: Sequence[str], most: int) -> list[int]:
    """Tokens of a greedy loop over the two files, whose encoder takes sounds."""
    return plain_of(folder, {"input_values": samples}, {}, start, most)


def plain_of(
    folder: Path, given: Mapping[str, Any], always: Mapping[str, Any], start: Sequence[str], most: int
) -> list[int]:
    """Tokens of a greedy loop over the two files: the encoder takes `given`, the decoder `always` in each step."""
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    first, later = (opened(folder / f"{name}.onnx") for name in ("encoder_model", "decoder_model_merged"))
    (hidden,) = first.run(None, dict(given))
    ids = [int(known.token_to_id(token) or 0) for token in start]
    caches = {name: numpy.zeros((1, 0, 8), numpy.float32) for name in ("past_key_values.0.decoder.key", KEPT)}
    made: list[int] = []
    while len(made) < most:
        fed = {"input_ids": numpy.array([ids]), "encoder_hidden_states": hidden, **caches, **always}
        logits, own, kept = later.run(None, {**fed, "use_cache_branch": numpy.array([bool(made)])})
        caches = {"past_key_values.0.decoder.key": own, KEPT: caches[KEPT] if made else kept}
        ids = [int(logits[0, -1].argmax())]
        made += ids
        if ids[0] == known.token_to_id(STOP):
            break
    return made
