"""Models with each kind of picture, sound and output, and the partitions that CoreML makes of them."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
from onnx import ModelProto
from tokenizers import Tokenizer, normalizers

from packager import models
from packager.compile import plan
from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.core.findings import Partition
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Target
from packager.verification.partition.report import measured, partitions
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.tokenizer_graphs import bert, changed, of_bytes
from tests.engines.test_tokenization_models import unigram
from tests.unit.test_attachment import tables

NET = """(float[batch, 3, height, width] x)
=> (float[batch, 4, 1, 1] y, float[batch, 4, h, w] d, float[batch, 8, m] b) {
    c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)
    r = Relu (c)
    e = Conv <pads = [1, 1, 1, 1]> (r, v)
    d = Relu (e)
    p = GlobalAveragePool (d)
    y = Conv (p, u)
    f = Conv (d, t)
    shape = Constant <value = int64[3] {1, 8, 256}> ()
    b = Reshape (f, shape)
}"""

WEIGHTS = {
    name: numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)
    for name, shape in (("w", (8, 3, 3, 3)), ("v", (4, 8, 3, 3)), ("u", (4, 4, 1, 1)), ("t", (8, 4, 1, 1)))
}

OPSET = {"": 18}

IMAGES: dict[str, dict[str, Any]] = {
    "stretch": {"kind": "image", "size": (32, 32)},
    "crop": {"kind": "image", "size": (32, 32), "resize": "crop", "resize_to": 36, "filter": "bicubic"},
    "letterbox": {"kind": "image", "size": (32, 32), "resize": "letterbox", "mean": (0.5, 0.4, 0.3), "colour": "bgr"},
    "as OpenCV": {"kind": "image", "size": (32, 32), "resize": "letterbox", "antialias": False},
}

OUTPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "classes": {"y": {"kind": "classes", "activation": "softmax"}},
    "mask": {"d": {"kind": "mask", "activation": "softmax"}},
    "mask of the picture": {"d": {"kind": "mask", "activation": "softmax", "size": "picture"}},
    "boxes": {"b": {"kind": "boxes", "format": "yolo"}},
    "embedding": {"y": {"kind": "embedding"}},
}


HEARING = """(float[batch, 1, 4000] a) => (float[batch, 4, 1] y) {
    c = Conv <strides = [8]> (a, w)
    r = Relu (c)
    y = Conv <strides = [8]> (r, v)
}"""

HEARING_WEIGHTS = {"w": WEIGHTS["w"][:, :1, 0], "v": numpy.ones((4, 8, 500), numpy.float32)}

PICTURES = (("stretch", "classes"), ("crop", "boxes"), ("letterbox", "embedding"), ("as OpenCV", "classes"))
"""Pairs of an image and an output that have each of both, but for masks."""

SOUNDS: dict[str, dict[str, Any]] = {
    "samples": {"kind": "audio", "rate": 8000},
    "16-bit samples": {"kind": "audio", "rate": 8000, "format": "pcm16", "scale": 2.0},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all models: each is made once for all providers, which have files of it in common, too."""
    return tmp_path_factory.mktemp("models")


@cache
def image_model(folder: Path, image: str, outputs: str) -> Model:
    """The image net with a contract, or without one where both names are empty."""
    wanted = tables({"x": IMAGES[image]} if image else {}, OUTPUTS[outputs] if outputs else {})
    net = onnx_model(NET, weights=WEIGHTS, opsets=OPSET)
    return _attached(place_in(folder), wanted, net, {} if image else {"x": (1, 3, 32, 32)})


@cache
def audio_model(folder: Path, sound: str) -> Model:
    """The audio net with a contract, or without one."""
    net = onnx_model(HEARING, weights=HEARING_WEIGHTS, opsets=OPSET)
    wanted = tables({"a": SOUNDS[sound]} if sound else {}, {})
    return _attached(place_in(folder), wanted, net, {} if sound else {"a": (1, 1, 4000)})


def _attached(place: Path, wanted: Tables, net: ModelProto, shapes: Any) -> Model:
    path = saved(place / "net.onnx", net)
    return models.hashed(attachment.attach(models.load(path, "net", fixed=shapes), wanted).model)


def place_in(folder: Path) -> Path:
    """A new folder."""
    return Path(tempfile.mkdtemp(dir=folder))


def partition(folder: Path, provider: str, image: str = "", outputs: str = "") -> Partition:
    """The partition of a provider for the image net."""
    return _partition(folder, provider, image_model(folder, image, outputs))


def heard(folder: Path, provider: str, sound: str = "") -> Partition:
    """The partition of a provider for the audio net."""
    return _partition(folder, provider, audio_model(folder, sound))


def _partition(folder: Path, provider: str, model: Model) -> Partition:
    """By its rules, or as it says itself where it has none."""
    made = plan.make(baseline(model), PHONES[provider], Store(folder / "store"), lambda text: None)
    (only,) = partitions(made)
    (found,) = measured(made, place_in(folder)) if only.skipped else (only,)
    return found


PHONES: dict[str, Target] = {
    "coreml": Ios(providers=("coreml",)),
    **{name: Android(providers=(name,)) for name in ("nnapi", "qnn", "webgpu", "xnnpack")},
}

Alone = Callable[[str], Partition]


@pytest.fixture(scope="module")
def seeing(folder: Path) -> Alone:
    """The partition of the image net alone, by provider."""
    return cache(lambda provider: partition(folder, provider))


@pytest.fixture(scope="module")
def hearing(folder: Path) -> Alone:
    """The partition of the audio net alone, by provider."""
    return cache(lambda provider: heard(folder, provider))


@pytest.fixture(scope="module")
def coreml(seeing: Alone) -> Partition:
    """The image net alone."""
    return seeing("coreml")


TOKENS, WIDTH = 16, 32

READING = f"""(int64[1, {TOKENS}] input_ids, int64[1, {TOKENS}] attention_mask, int64[1, {TOKENS}] token_type_ids)
=> (float[1, {TOKENS}, {WIDTH}] hidden, float[1, 4] logits)
<int64[4] row = {{1, 1, 1, {TOKENS}}}, int64[4] heads = {{1, {TOKENS}, 2, {WIDTH // 2}}}, float one = {{1}},
 int64[3] table = {{1, {TOKENS}, {WIDTH}}}, float least = {{-10000}}, int64 first = {{0}}> {{
    word = Gather (words, input_ids)
    type = Gather (types, token_type_ids)
    both = Add (word, type)
    placed = Add (both, places)
    x = LayerNormalization <axis = -1> (placed, scale, bias)
    mask = Cast <to = 1> (attention_mask)
    masks = Reshape (mask, row)
    missing = Sub (one, masks)
    penalty = Mul (missing, least)
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
    scores = Add (products, penalty)
    shares = Softmax <axis = -1> (scores)
    mixed = MatMul (shares, v)
    turned = Transpose <perm = [0, 2, 1, 3]> (mixed)
    flat = Reshape (turned, table)
    y = MatMul (flat, wo)
    z = Add (y, x)
    hidden = LayerNormalization <axis = -1> (z, scale, bias)
    cls = Gather <axis = 1> (hidden, first)
    logits = Gemm (cls, head)
}}"""
"""A layer of BERT, and a classifier."""

READING_ROWS = (
    READING.replace(f"[1, {TOKENS}", f"[rows, {TOKENS}")
    .replace("float[1, 4]", "float[rows, 4]")
    .replace("{1, 1, 1, ", "{-1, 1, 1, ")
    .replace(f"{{1, {TOKENS}, ", f"{{-1, {TOKENS}, ")
)
"""The same for any number of texts."""

READING_WEIGHTS = {
    name: numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)
    for name, shape in (
        ("words", (600, WIDTH)),
        ("types", (2, WIDTH)),
        ("places", (TOKENS, WIDTH)),
        *((name, (WIDTH, WIDTH)) for name in ("wq", "wk", "wv", "wo")),
        *((name, (WIDTH,)) for name in ("scale", "bias")),
        ("head", (WIDTH, 4)),
    )
}

TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "WordPiece": bert,
    "byte-pair encoding": lambda: of_bytes(normalizers.NFC()),
    "Unigram": lambda: unigram(1, is_single=True),
}

READ: dict[str, tuple[str, dict[str, Any]]] = {
    "the mean of tokens": ("hidden", {"kind": "embedding", "pooling": "mean"}),
    "the first token": ("hidden", {"kind": "embedding", "pooling": "cls"}),
    "the last token": ("hidden", {"kind": "embedding", "pooling": "last"}),
    "spans": ("hidden", {"kind": "spans"}),
}

CLASSES: tuple[str, dict[str, Any]] = ("logits", {"kind": "classes", "activation": "softmax"})


@cache
def text_model(folder: Path, tokenizer: str, output: str, *, is_batch: bool) -> Model:
    """The text net, of several texts or one; without a contract where both names are empty."""
    place = place_in(folder)
    inputs: dict[str, Any] = {}
    if tokenizer:
        table = {"kind": "text", "tokenizer": changed(TOKENIZERS[tokenizer](), place), "batch": is_batch}
        inputs = {"input_ids": table}
    outputs: dict[str, Any] = {}
    if output:
        name, keys = READ.get(output, CLASSES)
        labels = place / "labels.txt"
        labels.write_text("".join(f"label {number}\n" for number in range(WIDTH)), encoding="utf-8", newline="\n")
        outputs = {name: {**keys, "labels": labels} if output == "spans" else keys}
    net = onnx_model(READING_ROWS if is_batch else READING, weights=READING_WEIGHTS, opsets=OPSET)
    return _attached(place, tables(inputs, outputs), net, {})


def read(folder: Path, provider: str, tokenizer: str = "", output: str = "", *, is_batch: bool = False) -> Partition:
    """The partition of a provider for the text net, of several texts or one; for the net alone without a tokenizer."""
    return _partition(folder, provider, text_model(folder, tokenizer, output, is_batch=is_batch))


TEXTS = (
    ("WordPiece", "spans"),
    ("byte-pair encoding", "the mean of tokens"),
    ("Unigram", "the first token"),
    ("WordPiece", "the last token"),
)
"""Pairs of a tokenizer and an output that have each of both: no node of either may be taken."""

BATCHES = tuple(pair for pair in TEXTS if "spans" not in pair)
"""Spans are of one text."""


def same_core(provider: str, alone: Partition, found: Partition) -> None:
    """Fails unless the provider takes the nodes of the core and no other, in the same pieces."""
    same_pieces(alone, found)
    assert found.added_taken_count == 0, provider
    assert alone.taken_count > 4, provider


def same_work(alone: Partition, found: Partition) -> None:
    """Fails unless the provider takes as many nodes of the model, in as many pieces: of shapes that are open in both,
    inference knows other sizes behind a contract."""
    assert (found.refusal, found.skipped) == ("", "")
    assert found.taken_count == alone.taken_count, found.provider
    assert (found.node_count, found.partition_count) == (alone.node_count, alone.partition_count)
    assert found.added_taken_count == 0


def same_pieces(alone: Partition, found: Partition) -> None:
    """Fails unless the provider takes the same nodes of the model, in the same pieces."""
    assert (found.refusal, found.skipped) == ("", "")
    own = replace(found, sha256="", added_count=0, added_taken_count=0)
    assert own == replace(alone, sha256=""), found.provider
    assert found.added_count > 0


@pytest.fixture(scope="module")
def cores(folder: Path) -> Alone:
    """The partition of the text net alone, by provider."""
    return cache(lambda provider: read(folder, provider))


@pytest.fixture(scope="module")
def core_of_rows(folder: Path) -> Alone:
    """The partition of the net for any number of texts alone, by provider."""
    return cache(lambda provider: read(folder, provider, is_batch=True))
