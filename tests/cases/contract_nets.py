"""Nine small nets, each with the contract that an app would have: work enough for an accelerator, few nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

from packager import models
from packager.contract import attachment
from packager.core.values import Model
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.tokenizer_graphs import bert, changed
from tests.unit.test_attachment import tables

OPSETS = {"": 18}
PICTURE: dict[str, Any] = {"kind": "image", "mean": (0.5, 0.4, 0.3), "std": (0.2, 0.2, 0.3)}
CLASSES: dict[str, Any] = {"kind": "classes", "activation": "softmax"}
TOKENS, WIDTH, HEADS = 128, 256, 4


@dataclass(frozen=True, kw_only=True)
class Net:
    graph: str
    """in ONNX text"""
    weights: Mapping[str, tuple[int, ...]]
    """shapes by name"""
    inputs: Mapping[str, Mapping[str, Any]]
    """tables of the contract"""
    outputs: Mapping[str, Mapping[str, Any]]
    is_text: bool = False


ATTENTION = """
    queries = MatMul (x, wq)
    query = Reshape (queries, heads)
    q = Transpose <perm = [0, 2, 1, 3]> (query)
    keys = MatMul (x, wk)
    key = Reshape (keys, heads)
    k = Transpose <perm = [0, 2, 3, 1]> (key)
    values = MatMul (x, wv)
    value = Reshape (values, heads)
    v = Transpose <perm = [0, 2, 1, 3]> (value)
    products = MatMul (q, k)
    scaled = Mul (products, scaling)
    shares = Softmax <axis = -1> (scaled)
    mixed = MatMul (shares, v)
    turned = Transpose <perm = [0, 2, 1, 3]> (mixed)
    flat = Reshape (turned, table)
    attended = MatMul (flat, wo)
    sum = Add (attended, x)
    normal = LayerNormalization <axis = -1> (sum, scale, bias)
    wide = MatMul (normal, w1)
    bent = Relu (wide)
    narrow = MatMul (bent, w2)
    z = Add (narrow, normal)
"""
"""Nodes of a layer of a transformer, from `x` to `z`."""


def constants(length: int) -> str:
    return (
        f"int64[4] heads = {{1, {length}, {HEADS}, {WIDTH // HEADS}}}, int64[3] table = {{1, {length}, {WIDTH}}}, "
        "float scaling = {0.125}"
    )


LAYER = {
    **dict.fromkeys(("wq", "wk", "wv", "wo"), (WIDTH, WIDTH)),
    **dict.fromkeys(("scale", "bias"), (WIDTH,)),
    "w1": (WIDTH, 4 * WIDTH),
    "w2": (4 * WIDTH, WIDTH),
}
TOWER = """
    {0}1 = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> ({0}, stem)
    {0}2 = Relu ({0}1)
    {0}3 = Conv <pads = [1, 1, 1, 1]> ({0}2, body)
    {0}4 = Relu ({0}3)
    {0}5 = GlobalAveragePool ({0}4)
    {0}6 = Conv ({0}5, head)
"""

NETS: Mapping[str, Net] = {
    "ViT": Net(
        graph=f"""(float[1, 3, 256, 256] x0) => (float[1, 10] y)
        <{constants(256)}, int64[3] rows = {{1, {WIDTH}, 256}}, int64[1] one = {{1}}> {{
            patches = Conv <strides = [16, 16]> (x0, patch)
            list = Reshape (patches, rows)
            x = Transpose <perm = [0, 2, 1]> (list)
            {ATTENTION}
            mean = ReduceMean <keepdims = 0> (z, one)
            y = Gemm (mean, head)
        }}""",
        weights={**LAYER, "patch": (WIDTH, 3, 16, 16), "head": (WIDTH, 10)},
        inputs={"x0": {**PICTURE, "resize": "crop"}},
        outputs={"y": CLASSES},
    ),
    "U-Net": Net(
        graph="""(float[1, 3, 128, 128] x) => (float[1, 4, 128, 128] y) {
            a = Conv <pads = [1, 1, 1, 1]> (x, w1)
            b = Relu (a)
            c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
            d = Conv <pads = [1, 1, 1, 1]> (c, w2)
            e = Relu (d)
            f = ConvTranspose <strides = [2, 2]> (e, w3)
            g = Concat <axis = 1> (f, b)
            h = Conv <pads = [1, 1, 1, 1]> (g, w4)
            i = Relu (h)
            y = Conv (i, w5)
        }""",
        weights={
            "w1": (32, 3, 3, 3), "w2": (64, 32, 3, 3), "w3": (64, 32, 2, 2), "w4": (32, 64, 3, 3),
            "w5": (4, 32, 1, 1),
        },
        inputs={"x": PICTURE},
        outputs={"y": {"kind": "mask", "activation": "softmax", "size": "picture"}},
    ),
    "GRU": Net(
        graph="""(float[1, 1, 16000] x, float[1, 1, 128] state) => (float[1, 5] y, float[1, 1, 128] next)
        <int64[1] one = {1}> {
            a = Conv <strides = [160], pads = [120, 120]> (x, w)
            b = Relu (a)
            c = Transpose <perm = [2, 0, 1]> (b)
            d, next = GRU <hidden_size = 128, linear_before_reset = 1> (c, input, recurrence, , , state)
            e = Squeeze (next, one)
            y = Gemm (e, head)
        }""",
        weights={"w": (64, 1, 400), "input": (1, 384, 64), "recurrence": (1, 384, 128), "head": (128, 5)},
        inputs={"x": {"kind": "audio", "rate": 16000}, "state": {"kind": "state", "output": "next"}},
        outputs={"y": CLASSES},
    ),
    "siamese": Net(
        graph=f"""(float[1, 3, 112, 112] a, float[1, 3, 112, 112] b) => (float[1, 2, 1, 1] y) {{
            {TOWER.format("a")} {TOWER.format("b")}
            difference = Sub (a6, b6)
            distance = Abs (difference)
            y = Conv (distance, last)
        }}""",
        weights={"stem": (64, 3, 3, 3), "body": (64, 64, 3, 3), "head": (32, 64, 1, 1), "last": (2, 32, 1, 1)},
        inputs={"a": PICTURE, "b": {**PICTURE, "resize": "letterbox"}},
        outputs={"y": CLASSES},
    ),
    "text": Net(
        graph=f"""(int64[1, {TOKENS}] input_ids, int64[1, {TOKENS}] attention_mask) => (float[1, {TOKENS}, {WIDTH}] z)
        <{constants(TOKENS)}, int64[1] two = {{2}}> {{
            words = Gather (table_of_words, input_ids)
            kept = Cast <to = 1> (attention_mask)
            column = Unsqueeze (kept, two)
            x = Mul (words, column)
            {ATTENTION}
        }}""",
        weights={**LAYER, "table_of_words": (600, WIDTH)},
        inputs={"input_ids": {"kind": "text"}},
        outputs={"z": {"kind": "embedding", "pooling": "mean"}},
        is_text=True,
    ),
    "classifier": Net(
        graph="""(float[1, 3, 224, 224] x) => (float[1, 10] y) <int64[2] shape = {1, 32}> {
            a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, stem)
            b = Clip (a, zero, six)
            c = Conv <pads = [1, 1, 1, 1], group = 32> (b, depthwise)
            d = Clip (c, zero, six)
            e = Conv (d, wide)
            f = Relu (e)
            g = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (f, dense)
            h = Relu (g)
            i = GlobalAveragePool (h)
            j = Reshape (i, shape)
            y = Gemm (j, head)
        }""",
        weights={
            "stem": (32, 3, 3, 3), "depthwise": (32, 1, 3, 3), "wide": (64, 32, 1, 1), "dense": (32, 64, 3, 3),
            "head": (32, 10), "zero": (), "six": (),
        },
        inputs={"x": {**PICTURE, "resize": "crop", "filter": "bicubic"}},
        outputs={"y": CLASSES},
    ),
    "detector": Net(
        graph="""(float[1, 3, 160, 160] x) => (float[1, 8, 400] y) <int64[3] shape = {1, 8, 400}> {
            a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w1)
            b = Sigmoid (a)
            c = Mul (a, b)
            d = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (c, w2)
            e = Relu (d)
            f = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (e, w3)
            g = Relu (f)
            h = Conv (g, w4)
            y = Reshape (h, shape)
        }""",
        weights={"w1": (48, 3, 3, 3), "w2": (96, 48, 3, 3), "w3": (192, 96, 3, 3), "w4": (8, 192, 1, 1)},
        inputs={"x": {**PICTURE, "resize": "letterbox", "antialias": False}},
        outputs={"y": {"kind": "boxes", "format": "yolo"}},
    ),
    "segmenter, classes last": Net(
        graph="""(float[1, 3, 64, 64] x) => (float[1, 32, 32, 4] y) {
            a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w1)
            b = Relu (a)
            c = Conv (b, w2)
            y = Transpose <perm = [0, 2, 3, 1]> (c)
        }""",
        weights={"w1": (32, 3, 3, 3), "w2": (4, 32, 1, 1)},
        inputs={"x": PICTURE},
        outputs={"y": {"kind": "mask", "activation": "softmax", "layout": "nhwc"}},
    ),
    "audio": Net(
        graph="""(float[1, 1, 16000] x) => (float[1, 6, 1] y) {
            a = Conv <strides = [4], pads = [2, 2]> (x, w1)
            b = Relu (a)
            c = Conv <strides = [2], pads = [2, 2]> (b, w2)
            d = Relu (c)
            e = Conv <strides = [2], pads = [2, 2]> (d, w3)
            f = Relu (e)
            g = GlobalAveragePool (f)
            y = Conv (g, w4)
        }""",
        weights={"w1": (64, 1, 8), "w2": (128, 64, 6), "w3": (128, 128, 6), "w4": (6, 128, 1)},
        inputs={"x": {"kind": "audio", "rate": 16000, "format": "pcm16"}},
        outputs={"y": CLASSES},
    ),
}  # fmt: skip
"""by what they are"""


@cache
def model(folder: Path, name: str, *, has_contract: bool) -> Model:
    """One of the nets, whose files lie in `folder`."""
    net = NETS[name]
    place = folder / f"{name} {has_contract}"
    weights = {each: _numbers(each, shape) for each, shape in net.weights.items()}
    path = saved(place / "net.onnx", onnx_model(net.graph, weights=weights, opsets=OPSETS))
    inputs = {each: dict(table) for each, table in net.inputs.items()}
    if net.is_text:
        inputs["input_ids"]["tokenizer"] = changed(bert(), place)
    wanted = tables(inputs, {each: dict(table) for each, table in net.outputs.items()})
    loaded = models.load(path, "net")
    return models.hashed(attachment.attach(loaded, wanted).model if has_contract else loaded)


def _numbers(name: str, shape: tuple[int, ...]) -> numpy.typing.NDArray[numpy.float32]:
    generator = numpy.random.default_rng(len(name))
    numbers = {"zero": numpy.zeros(()), "six": numpy.full((), 6)}.get(name)
    found = generator.standard_normal(shape) if numbers is None else numbers
    return found.astype(numpy.float32)
