"""Tiny handmade models with contracts: together they have every kind, with outputs that a test can compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy
import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from packager.compile.compile import compile_variant
from packager.contract import results
from packager.core.contract import (
    AudioInput,
    BoxesOutput,
    ClassesOutput,
    Contract,
    EmbeddingOutput,
    ImageInput,
    MaskOutput,
    PairsOutput,
    PictureOutput,
    SoundOutput,
    SpansOutput,
    StateInput,
    TensorInput,
    TensorOutput,
    TextInput,
    TextOutput,
    TypedInput,
    TypedOutput,
)
from packager.core.crops import StoredArrays
from packager.core.pipeline import Pipeline, Stage
from packager.core.values import Choice, Model, Plan, TensorSpec, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.samples.sample import Arrays
from packager.verification import pipelines
from tests.cases import spoken
from tests.cases.onnx_text import loaded, onnx_model
from tests.toolchain import typed_texts

OPSET = {"": 18}
PICTURE = "uint8[h, w, c] pixels, int64[3] places, int64 turn, uint8[ch, cw, cc] chroma, int64[3] conversion"
NUMBERS = """
    picked = Gather <axis = 2> (pixels, places)
    numbers = Cast <to = 1> (picked)
    turned_number = Cast <to = 1> (turn)
    nothing = Sub (turned_number, turned_number)
    full = Constant <value = float {255.0}> ()
    plane_axes = Constant <value = int64[2] {0, 1}> ()
    red = Constant <value = int64 {0}> ()
    sums = ReduceMean <keepdims = 0> (numbers, plane_axes)
    parts = Div (sums, full)
    means = Add (parts, nothing)
"""
LABELS = ("red", 'gr\\een "$1"', "größe", "日本")
WIDE = 30_000


@dataclass(frozen=True, kw_only=True)
class Net:
    """A graph, and its contract: kinds by the names of tensors."""

    graph: str
    inputs: tuple[tuple[Any, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    weights: Mapping[str, Any] = field(default_factory=dict)


IMAGE: tuple[Any, ...] = (
    ImageInput,
    "image",
    {"pixels": "pixels", "channels": "places", "orientation": "turn", "chroma": "chroma", "conversion": "conversion"},
    {},
)
CLASSES = (ClassesOutput, "logits", {"scores": "scores"}, {"labels": LABELS, "top_k": 3, "threshold": 0.25})


def tensor(name: str) -> tuple[Any, ...]:
    return TensorOutput, name, {"spec": name}, {}


NETS = {
    "probe": Net(
        graph=f"({PICTURE}) => (uint8[h, w, three] seen, int64 turned, int64[3] size, uint8[ch, cw, two] tint, "
        "int64[3] converted) { seen = Gather <axis = 2> (pixels, places) turned = Identity (turn) "
        "size = Shape (pixels) begin = Constant <value = int64[1] {0}> () end = Constant <value = int64[1] {2}> () "
        "sides = Slice (conversion, begin, end) tint = Gather <axis = 2> (chroma, sides) "
        "converted = Identity (conversion) }",
        inputs=(IMAGE,),
        outputs=tuple(tensor(name) for name in ("seen", "turned", "size", "tint", "converted")),
    ),
    "classifier": Net(
        graph=f"({PICTURE}) => (float[4] scores) {{ {NUMBERS}"
        "order = Constant <value = int64[4] {0, 1, 2, 0}> () scores = Gather (means, order) }",
        inputs=(IMAGE,),
        outputs=(CLASSES,),
    ),
    "wide": Net(
        graph=f"({PICTURE}) => (float[{WIDE}] scores) {{ {NUMBERS}"
        "one = Gather (means, red) scores = Mul (ramp, one) }",
        inputs=(IMAGE,),
        outputs=(
            (
                ClassesOutput,
                "scores",
                {"scores": "scores"},
                {"labels": tuple(f"größe {number}" for number in range(WIDE)), "top_k": 2, "threshold": -3.5e38},
            ),
        ),
        weights={"ramp": numpy.arange(WIDE, dtype=numpy.float32)},
    ),
    "detector": Net(
        graph=f"({PICTURE}) => (float[h, 4] boxes, float[h] scores, int64[h] classes) {{ {NUMBERS}"
        "plane = Gather <axis = 2> (numbers, red) axis = Constant <value = int64[1] {1}> ()"
        "begin = Constant <value = int64[1] {0}> () end = Constant <value = int64[1] {4}> ()"
        "boxes = Slice (plane, begin, end, axis) first = Gather <axis = 1> (plane, red)"
        "mean = ReduceMean <keepdims = 0> (plane, axis) scores = Div (mean, full) classes = Cast <to = 7> (first) }",
        inputs=(IMAGE,),
        outputs=(
            (BoxesOutput, "found", {"boxes": "boxes", "scores": "scores", "classes": "classes"}, {"labels": LABELS}),
        ),
    ),
    "segmenter": Net(
        graph=f"({PICTURE}) => (uint8[h, w] classes, float[h, w] scores) {{ {NUMBERS}"
        "classes = Gather <axis = 2> (picked, red) plane = Gather <axis = 2> (numbers, red)"
        "scores = Div (plane, full) }",
        inputs=(IMAGE,),
        outputs=((MaskOutput, "mask", {"classes": "classes", "scores": "scores"}, {"labels": ("none", "some")}),),
    ),
    "artist": Net(
        graph=f"({PICTURE}) => (uint8[h, w, 4] made) {{ made = Identity (pixels) }}",
        inputs=(IMAGE,),
        outputs=((PictureOutput, "made", {"pixels": "made"}, {}),),
    ),
    "finder": Net(
        graph=f"({PICTURE}) => (float[3] vector) {{ {NUMBERS} vector = Identity (means) }}",
        inputs=(IMAGE,),
        outputs=((EmbeddingOutput, "vector", {"vector": "vector"}, {}),),
    ),
    # A pixel of 9 is not a symbol.
    "reader": Net(
        graph=f"({PICTURE}) => (int64[n] symbols, float[n] scores) {{ {NUMBERS}"
        "plane = Gather <axis = 2> (numbers, red) flat_shape = Constant <value = int64[1] {-1}> ()"
        "flat = Reshape (plane, flat_shape) nine = Constant <value = float {9.0}> () is_symbol = Less (flat, nine)"
        "read = Compress <axis = 0> (flat, is_symbol) symbols = Cast <to = 7> (read)"
        "ten = Constant <value = float {10.0}> () scores = Div (read, ten) }",
        inputs=(IMAGE,),
        outputs=(
            (
                TextOutput,
                "text",
                {"symbols": "symbols", "scores": "scores"},
                {"alphabet": ("a", "b", "\\", "ß", "日", " ")},
            ),
        ),
    ),
    "several": Net(
        graph=f"({PICTURE}, int64[batch, 2] lengths) => (float[4] scores, int64[batch, 2] doubled) {{ {NUMBERS}"
        "order = Constant <value = int64[4] {0, 1, 2, 0}> () scores = Gather (means, order)"
        "doubled = Add (lengths, lengths) }",
        inputs=(IMAGE, (TensorInput, "lengths", {"spec": "lengths"}, {})),
        outputs=(CLASSES, tensor("doubled")),
    ),
    # Scores: mean of the samples, rate as a share of 48 kHz, sum of a state that grows by one each. Not seven samples.
    "listener": Net(
        graph="(float[n, c] samples, int64 rate, float[1, 2] state) => (float[3] scores, float[1, 2] next) {"
        "count = Shape <start = 0, end = 1> (samples) seven = Constant <value = int64[1] {7}> ()"
        "is_seven = Equal (count, seven) wrong = Cast <to = 7> (is_seven) five = Constant <value = int64[1] {5}> ()"
        "index = Mul (wrong, five) some = Constant <value = float[1] {0.0}> () fails = Gather (some, index)"
        "mean = ReduceMean <keepdims = 0> (samples) number = Cast <to = 1> (rate)"
        "most = Constant <value = float {48000.0}> () share = Div (number, most) sum = ReduceSum <keepdims = 0> (state)"
        "one = Constant <value = int64[1] {1}> () m = Reshape (mean, one) r = Reshape (share, one)"
        "s = Reshape (sum, one) joined = Concat <axis = 0> (m, r, s) scores = Add (joined, fails)"
        "step = Constant <value = float {1.0}> () next = Add (state, step) }",
        inputs=(
            (AudioInput, "audio", {"samples": "samples", "rate": "rate"}, {}),
            (StateInput, "state", {"input": "state", "output": "next"}, {}),
        ),
        outputs=((ClassesOutput, "scores", {"scores": "scores"}, {"labels": (), "top_k": 3, "threshold": 0.0}),),
    ),
    "speller": Net(
        graph="(int32[n] points) => (int32[m] spelled) { spelled = Identity (points) }",
        inputs=((TextInput, "text", {"code_points": "points"}, {}),),
        outputs=(tensor("spelled"),),
    ),
    "tagger": Net(
        graph=typed_texts.TAGGER,
        inputs=((TextInput, "output", {"code_points": "points"}, {}),),  # a name of the generated code
        outputs=(
            (
                SpansOutput,
                "tags",
                {"classes": "classes", "starts": "starts", "ends": "ends", "scores": "scores", "text": "points"},
                {"labels": typed_texts.LABELS},
            ),
        ),
    ),
    "noter": Net(
        graph=typed_texts.NOTER,
        inputs=((TextInput, "other", {"code_points": "other"}, {}), (TextInput, "text", {"code_points": "points"}, {})),
        outputs=(
            (
                SpansOutput,
                "tags",
                {"classes": "classes", "starts": "starts", "ends": "ends", "scores": "scores", "text": "points"},
                {"labels": typed_texts.LABELS},
            ),
            tensor("copied"),
        ),
    ),
    "ranker": Net(
        graph=typed_texts.RANKER,
        inputs=(
            (TextInput, "query", {"code_points": "query"}, {}),
            (TextInput, "document", {"code_points": "document"}, {}),
        ),
        outputs=((PairsOutput, "fit", {"score": "score", "query": "query", "document": "document"}, {}),),
    ),
    "player": Net(
        graph=spoken.GRAPH,
        inputs=((AudioInput, "audio", {"samples": "samples", "rate": "rate"}, {}),),
        outputs=((SoundOutput, "played", {"samples": "played"}, {"rate": spoken.RATE, "channels": spoken.CHANNELS}),),
    ),
    # The next state has an open shape: it is copied out of the runtime.
    "recorder": Net(
        graph="(int16[n, c] samples, int64 rate, int64[2] state) =>"
        " (int16[n, c] heard, int64 rate_heard, int64[m] next, int64 count) {"
        "heard = Identity (samples) rate_heard = Identity (rate) step = Constant <value = int64[2] {1, 1}> ()"
        "grown = Add (state, step) minus = Constant <value = int64[1] {-1}> () next = Reshape (grown, minus)"
        "zero = Constant <value = int64 {0}> () count = Gather (grown, zero) }",
        inputs=(
            (AudioInput, "audio", {"samples": "samples", "rate": "rate"}, {}),
            (StateInput, "state", {"input": "state", "output": "next"}, {}),
        ),
        outputs=(tensor("heard"), (TensorOutput, "rate", {"spec": "rate_heard"}, {}), tensor("count")),
    ),
}


SCANNER = Pipeline(
    name="scan",
    finder=Stage(name="box", identifier="box", model="detector"),
    readers=(
        Stage(name="seen", identifier="seen", model="probe"),
        Stage(name="colour", identifier="colour", model="finder", min_score=0.013),
    ),
    max_items=8,
)
"""finds a box for each row of a picture; the probe shows what of the picture gets to the next model"""


def scanned(
    known: Sequence[Plan], pixels: NDArray[np.uint8], orientation: int, chroma: NDArray[np.uint8] | None = None
) -> list[str]:
    """Items of the pipeline for a picture, by Python: a line for each item, as test apps print it. `chroma` is that of
    a picture whose luma is `pixels`, V before U."""
    models = {each.model.name: each.model for each in known}
    sessions = {
        name: onnxruntime.InferenceSession(models[name].graph) for name in {each.model for each in SCANNER.stages}
    }

    def compute(name: str, given: Sequence[Arrays]) -> list[dict[str, NDArray[Any]]]:
        names = [each.name for each in models[name].signature.outputs]
        return [dict(zip(names, sessions[name].run(names, dict(each)), strict=True)) for each in given]

    picture = StoredArrays(
        pixels=pixels,
        channels=np.zeros(3, np.int64) if pixels.shape[2] == 1 else np.arange(3),
        chroma=np.zeros((1, 1, 1), np.uint8) if chroma is None else chroma,
        conversion=np.array((0, 0, 0) if chroma is None else (1, 0, 1)),
        orientation=np.array(orientation),
    )
    ran = pipelines.run(SCANNER, pipelines.contracts_of(models.values()), picture, compute)
    lines = []
    for number, box in enumerate(
        results.boxes(pipelines.boxes_of(pipelines.contracts_of(models.values())["detector"]), ran.found)
    ):
        seen = ran.read["seen"][number]
        tint = "-" if chroma is None else " ".join(map(str, seen["tint"].reshape(-1)))
        colour = ran.read["colour"].get(number)
        shown = "null" if colour is None else " ".join(f"{each:.6f}" for each in colour["vector"])
        corners = " ".join(f"{each:.1f}" for each in vars(box.box).values())
        pixels_seen = " ".join(map(str, seen["seen"].reshape(-1)))
        lines.append(
            f"{corners} {box.score:.6f} | {seen['size'].tolist()} {seen['turned']} | {pixels_seen} | {tint} | {shown}"
        )
    return lines


def plans(folder: Path, store: Store) -> tuple[Plan, ...]:
    """Every model of `NETS`, and those with a tokenizer, written to `folder` and converted for the CPU of an Android
    phone."""
    made = (_model(name, net, folder) for name, net in NETS.items())
    return tuple(
        _plan(model, store) for model in (*made, typed_texts.tokens(folder / "tokens"), *typed_texts.lists(folder))
    )


def _model(name: str, net: Net, folder: Path) -> Model:
    made = onnx_model(net.graph, weights=net.weights, opsets=OPSET, ir_version=10)
    onnx.checker.check_model(made, full_check=True)
    model = loaded(folder, made, name)
    return replace(model, contract=_contract(net, model))


def _plan(model: Model, store: Store) -> Plan:
    variant = baseline(model)
    file = compile_variant(variant, store)
    return Plan(
        model=model,
        target="android",
        environment=Runtime.NAME,
        choices=(Choice(provider="cpu", compiled=file, reason=""),),
    )


def _contract(net: Net, model: Model) -> Contract:
    specs = {spec.name: spec for spec in (*model.signature.inputs, *model.signature.outputs)}
    inputs: list[TypedInput] = [_typed(each, specs) for each in net.inputs]
    outputs: list[TypedOutput] = [_typed(each, specs) for each in net.outputs]
    return Contract(inputs=tuple(inputs), outputs=tuple(outputs))


def _typed(described: tuple[Any, ...], specs: Mapping[str, TensorSpec]) -> Any:
    kind, identifier, tensors, others = described
    return kind(identifier=identifier, **{key: specs[name] for key, name in tensors.items()}, **others)
