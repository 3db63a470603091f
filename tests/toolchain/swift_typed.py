"""A Swift package of models with contracts, tested on Linux with stand-ins for the frameworks of Apple's.

The models are tiny and show what reaches them. CoreVideo, CoreGraphics, ImageIO and UIKit in `swift_contracts/` have
the names and the behaviour of what generated code uses: a pixel buffer has no address unless it is locked.
"""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import NodeProto, helper

from packager.contract.attachment import Tables, attach
from packager.contract.classes import Classes
from packager.contract.image import PictureInput
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
)
from packager.core.findings import Report
from packager.core.values import ElementType, Model, Package, Plan, TensorSpec
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.graph.writer import onnx_type
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases import pipeline_cases, spoken
from tests.cases.onnx_text import loaded, onnx_model, saved, weight
from tests.golden.cases import choice, on_ios, specs, typed
from tests.toolchain import typed_models, typed_texts
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_packages import Outcomes, compiled, write_values

HOME = Path(__file__).with_name("swift_contracts")
STAND_INS = ("CoreGraphics", "CoreVideo", "ImageIO", "UIKit")
NAME, MODULE = "typed", "TypedKit"
CASE = re.compile(r"^final class (\w+): XCTestCase|^    func (test\w+)\(", re.MULTILINE)

UINT8, INT16, INT64, FLOAT = ElementType.UINT8, ElementType.INT16, ElementType.INT64, ElementType.FLOAT
INT32 = ElementType.INT32

PIXELS = specs(
    "input",
    ("image.pixels", UINT8, ("image.height", "image.width", "image.depth")),
    ("image.channels", INT64, (3,)),
    ("image.orientation", INT64, ()),
    ("image.chroma", UINT8, ("image.chroma_height", "image.chroma_width", "image.chroma_depth")),
    ("image.conversion", INT64, (3,)),
)
IMAGE = ImageInput(
    identifier="image",
    pixels=PIXELS[0],
    channels=PIXELS[1],
    orientation=PIXELS[2],
    chroma=PIXELS[3],
    conversion=PIXELS[4],
)
TAGS = specs(
    "output", ("classes", INT64, ("m",)), ("starts", INT64, ("m",)), ("ends", INT64, ("m",)), ("scores", FLOAT, ("m",))
)
COLOURS = (
    helper.make_node("Gather", ["image.pixels", "image.channels"], ["picked"], axis=2),
    helper.make_node("Cast", ["picked"], ["colours"], to=onnx.TensorProto.FLOAT),
)
"""the red, green and blue of each pixel, as floats"""
MEAN = helper.make_node("ReduceMean", ["colours", "axes"], ["mean"], keepdims=0)
AXES = helper.make_node("Constant", [], ["axes"], value_ints=[0, 1])


def cases() -> list[str]:
    """The tests in Swift: `PictureTests.testX`."""
    found, class_name = [], ""
    for name, test in CASE.findall((HOME / "TypedTests.swift").read_text(encoding="utf-8")):
        class_name = name or class_name
        found += [f"{class_name}.{test}"] if test else []
    return found


def package(folder: Path) -> Path:
    """The package with its models, the tests and the stand-ins."""
    plans = tuple(
        make(folder / "models")
        for make in (
            echo,
            classifier,
            several,
            hearing,
            player,
            listener,
            spelling,
            tagging,
            noting,
            ranking,
            tokens,
            attached,
        )
    )
    plans += tuple(of_graph(model, folder / "models") for model in typed_texts.lists(folder / "lists"))
    plans += tuple(of_graph(each.model, folder / "models") for each in scanner(folder))
    target = Ios(providers=())
    described = Package(name=NAME, version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    view = target.view(described, plans, Report(parities=()))
    made = folder / "package" / NAME
    write_sources(target.render(view), made)
    write_runtime(view, folder / "package")
    shutil.copy(HOME / "TypedTests.swift", made / "Tests" / f"{MODULE}Tests")
    for name in STAND_INS:
        shutil.copytree(HOME / name, made / "Sources" / name)
    manifest = made / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    quoted = ", ".join(f'"{name}"' for name in STAND_INS)
    text = edited(text, f'dependencies: ["C{MODULE}"],', f'dependencies: ["C{MODULE}", {quoted}],')
    targets = ['.target(name: "CoreGraphics")', '.target(name: "CoreVideo")', '.target(name: "ImageIO")']
    targets.append('.target(name: "UIKit", dependencies: ["CoreGraphics"])')
    text = edited(text, "targets: [\n", f"targets: [\n{', '.join(targets)},")
    manifest.write_text(text, encoding="utf-8")
    return made


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def tested(package: Path, scratch: Path) -> Outcomes:
    """Compile the package with its tests, and run them."""
    [model] = package.glob("Sources/*/Resources/Models/attached/*.onnx")
    ids = [number for each in typed_texts.ids() for number in (len(each), *each)]
    places = [[*size, turn, *edges] for size, turn, edges in pipeline_cases.PLACES]
    items = json.dumps(pipeline_cases.all_scanned(scanner(scratch / "scanner"))).encode()
    given: dict[str, NDArray[Any]] = {
        "small": pipeline_cases.SMALL,
        "items": np.frombuffer(items, np.uint8),
        "places": np.array(places, np.float32),
        "cuts": np.array(pipeline_cases.cut(), np.int32),
        "attached.scores": scores(model),
        "texts": typed_texts.written(),
        "wav": np.frombuffer(spoken.wav_file(), np.uint8),
        "ids": np.array(ids, np.int32),
        "vectors": typed_texts.vectors(),
        "cosines": np.array(typed_texts.cosines(), np.float32),
        "nearest": np.array(typed_texts.nearest(), np.int32),
        "listed": typed_texts.written(typed_texts.LISTED),
        "rows": np.array([number for each in typed_texts.listed()["rows"] for number in (len(each), *each)], np.int32),
        "ranks": np.array([place for place, _ in typed_texts.ranked(3)], np.int32),
        **{
            f"listed.{name}": np.array(typed_texts.listed()[name], np.float32)
            for name in ("embedder", "topics", "judge")
        },
    }
    values = write_values(scratch / "values", given)
    found = compiled(package, scratch / "build")
    return found.run("", scratch / "run", environment={"MOBPACK_VALUES": str(values)})


def echo(folder: Path) -> Plan:
    """Returns the picture that reaches it."""
    outputs = specs(
        "output",
        ("raw", UINT8, ("h", "w", "c")),
        ("colours", FLOAT, ("h", "w", 3)),
        ("turn", INT64, ()),
        ("chroma", UINT8, ("ch", "cw", "cc")),
        ("conversion", INT64, (3,)),
    )
    nodes = [
        *COLOURS,
        helper.make_node("Identity", ["image.pixels"], ["raw"]),
        helper.make_node("Identity", ["image.chroma"], ["chroma"]),
        helper.make_node("Identity", ["image.conversion"], ["conversion"]),
        helper.make_node("Identity", ["image.orientation"], ["turn"]),
    ]
    contract = Contract(inputs=(IMAGE,), outputs=tuple(map(plain_output, outputs)))
    return planned("echo", PIXELS, outputs, contract, nodes, folder)


def classifier(folder: Path) -> Plan:
    """Returns a picture's mean red, green and blue."""
    outputs = specs("output", ("mean", FLOAT, (3,)))
    labels = ("red", 'green "\\(x)"', "blüe ")
    classes = ClassesOutput(identifier="logits", scores=outputs[0], labels=labels, top_k=2, threshold=10.0)
    contract = Contract(inputs=(IMAGE,), outputs=(classes,))
    return planned("classifier", PIXELS, outputs, contract, [*COLOURS, AXES, MEAN], folder)


def several(folder: Path) -> Plan:
    """A model with every kind of output; its inputs have names that the generated code uses itself."""
    image, lengths = replace(IMAGE, identifier="session"), specs("input", ("output", INT64, ("run", 2)))
    outputs = specs(
        "output",
        ("found.boxes", FLOAT, ("n", 4)),
        ("found.scores", FLOAT, (2,)),
        ("found.classes", INT64, ("n",)),
        ("mask.classes", UINT8, ("h", "w")),
        ("mask.scores", FLOAT, ("h", "w")),
        ("symbols", INT64, (3,)),
        ("symbol_scores", FLOAT, (3,)),
        ("mean", FLOAT, (3,)),
        ("doubled", INT64, ("run", 2)),
        ("made", UINT8, ("h", "w", 4)),
    )
    boxes, scores, classes, places, place_scores, symbols, symbol_scores, mean, doubled, made = outputs
    contract = Contract(
        inputs=(image, TensorInput(identifier="output", spec=lengths[0])),
        outputs=(
            BoxesOutput(identifier="found", boxes=boxes, scores=scores, classes=classes, labels=("dog", "cat")),
            MaskOutput(identifier="mask", classes=places, scores=place_scores, labels=("a", "b")),
            TextOutput(identifier="text", symbols=symbols, scores=symbol_scores, alphabet=("ß", " ", "日")),
            EmbeddingOutput(identifier="vector", vector=mean),
            TensorOutput(identifier="doubled", spec=doubled),
            PictureOutput(identifier="made", pixels=made),
        ),
    )
    node = helper.make_node
    nodes = [
        *COLOURS,
        AXES,
        MEAN,
        node("Constant", [], ["numbers"], value_floats=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        node("Constant", [], ["rows"], value_ints=[2, 4]),
        node("Reshape", ["numbers", "rows"], ["found.boxes"]),
        node("Constant", [], ["found.scores"], value_floats=[0.75, 0.5]),
        node("Constant", [], ["found.classes"], value_ints=[1, 7]),
        node("Constant", [], ["first"], value_int=0),
        node("Gather", ["image.pixels", "first"], ["mask.classes"], axis=2),
        node("Cast", ["mask.classes"], ["mask.scores"], to=onnx.TensorProto.FLOAT),
        node("Identity", ["image.channels"], ["symbols"]),
        node("Cast", ["image.channels"], ["symbol_scores"], to=onnx.TensorProto.FLOAT),
        node("Add", ["output", "output"], ["doubled"]),
        node("Identity", ["image.pixels"], ["made"]),
    ]
    return planned("several", (*PIXELS, *lengths), outputs, contract, nodes, folder)


def hearing(folder: Path) -> Plan:
    """Returns the recording of integers that reaches it."""
    samples, rate = sound(INT16)
    outputs = specs("output", ("heard", INT16, ("frames", "channels")), ("speed", INT64, ()))
    nodes = [
        helper.make_node("Identity", [samples.name], ["heard"]),
        helper.make_node("Identity", [rate.name], ["speed"]),
    ]
    given = AudioInput(identifier="audio", samples=samples, rate=rate)
    contract = Contract(inputs=(given,), outputs=tuple(map(plain_output, outputs)))
    return planned("hearing", (samples, rate), outputs, contract, nodes, folder)


def player(folder: Path) -> Plan:
    """Returns the sound of 8000 Hz that reaches it, and nothing of any other."""
    samples, rate = sound(FLOAT)
    outputs = specs("output", ("played", FLOAT, ("m", spoken.CHANNELS)))
    numbers = {"row": 1, "zero": 0, "all": 8000, "far": 2**63 - 1}
    nodes = [
        *(helper.make_node("Constant", [], [name], value_ints=[number]) for name, number in numbers.items()),
        helper.make_node("Reshape", [rate.name, "row"], ["given"]),
        helper.make_node("Sub", ["given", "all"], ["start"]),
        helper.make_node("Slice", [samples.name, "start", "far", "zero"], ["played"]),
    ]
    given = AudioInput(identifier="audio", samples=samples, rate=rate)
    made = SoundOutput(identifier="played", samples=outputs[0], rate=spoken.RATE, channels=spoken.CHANNELS)
    return planned("player", (samples, rate), outputs, Contract(inputs=(given,), outputs=(made,)), nodes, folder)


def listener(folder: Path) -> Plan:
    """Adds up all samples that it has ever received, and their rates."""
    samples, rate = sound(FLOAT)
    [state] = specs("input", ("state", FLOAT, (2,)))
    outputs = specs("output", ("scores", FLOAT, (2,)), ("stateN", FLOAT, (2,)))
    nodes = [
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        helper.make_node("ReduceSum", [samples.name], ["sum"], keepdims=0),
        helper.make_node("Reshape", ["sum", "one"], ["sums"]),
        helper.make_node("Cast", [rate.name], ["speed"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Reshape", ["speed", "one"], ["speeds"]),
        helper.make_node("Concat", ["sums", "speeds"], ["both"], axis=0),
        helper.make_node("Add", ["state", "both"], ["stateN"]),
        helper.make_node("Identity", ["stateN"], ["scores"]),
    ]
    given = AudioInput(identifier="audio", samples=samples, rate=rate)
    classes = ClassesOutput(identifier="sounds", scores=outputs[0], labels=(), top_k=2, threshold=-3.5e38)
    carried = StateInput(identifier="state", input=state, output=replace(outputs[1], identifier="another"))
    contract = Contract(inputs=(given, carried), outputs=(classes,))
    return planned("listener", (samples, rate, state), outputs, contract, nodes, folder)


def spelling(folder: Path) -> Plan:
    """Returns the code points of the text that reaches it."""
    [points] = specs("input", ("text.points", INT32, ("text.characters",)))
    [spelled] = specs("output", ("spelled", INT32, ("text.characters",)))
    nodes = [helper.make_node("Identity", [points.name], [spelled.name])]
    contract = Contract(inputs=(TextInput(identifier="text", code_points=points),), outputs=(plain_output(spelled),))
    return planned("spelling", (points,), (spelled,), contract, nodes, folder)


def tagging(folder: Path) -> Plan:
    """Finds digits and what is behind them; its text has a name of the generated code."""
    [points] = specs("input", ("points", INT32, ("n",)))
    given = TextInput(identifier="output", code_points=points)
    contract = Contract(inputs=(given,), outputs=(spans(points),))
    return of_text("tagging", typed_texts.TAGGER, (points,), TAGS, contract, folder)


def noting(folder: Path) -> Plan:
    """The same of its second text, and the code points of the first one."""
    other, points = specs("input", ("other", INT32, ("k",)), ("points", INT32, ("n",)))
    [copied] = specs("output", ("copied", INT32, ("k",)))
    texts = (TextInput(identifier="other", code_points=other), TextInput(identifier="text", code_points=points))
    contract = Contract(inputs=texts, outputs=(spans(points), plain_output(copied)))
    return of_text("noting", typed_texts.NOTER, (other, points), (*TAGS, copied), contract, folder)


def spans(text: TensorSpec) -> SpansOutput:
    classes, starts, ends, found = TAGS
    labels = typed_texts.LABELS
    return SpansOutput(
        identifier="tags", classes=classes, starts=starts, ends=ends, scores=found, text=text, labels=labels
    )


def ranking(folder: Path) -> Plan:
    """Counts in a document the first code point of a query."""
    query, document = specs("input", ("query", INT32, ("q",)), ("document", INT32, ("d",)))
    outputs = specs("output", ("score", FLOAT, (1,)))
    pairs = PairsOutput(identifier="fit", score=outputs[0], query=query, document=document)
    texts = tuple(TextInput(identifier=each.identifier, code_points=each) for each in (query, document))
    contract = Contract(inputs=texts, outputs=(pairs,))
    return of_text("ranking", typed_texts.RANKER, (query, document), outputs, contract, folder)


def of_text(
    name: str,
    graph: str,
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...],
    contract: Contract,
    folder: Path,
) -> Plan:
    path = saved(folder / name / "plain.onnx", onnx_model(graph, opsets={"": 18}))
    return shipped(name, inputs, outputs, contract, path)


def tokens(folder: Path) -> Plan:
    """Gives the token ids of a text."""
    model = typed_texts.tokens(folder / "tokens")
    assert model.contract
    path = saved(folder / "tokens" / "plain.onnx", onnx.ModelProto.FromString(model.graph))
    return shipped("tokens", model.signature.inputs, model.signature.outputs, model.contract, path)


def scanner(folder: Path) -> list[Plan]:
    """The models of a pipeline."""
    used = {each.model for each in typed_models.SCANNER.stages}
    known = typed_models.plans(folder / "scanner", Store(cache_folder() / "store"))
    return [each for each in known if each.model.name in used]


def of_graph(model: Model, folder: Path) -> Plan:
    """A model that another test has made."""
    assert model.contract
    path = saved(folder / model.name / "plain.onnx", onnx.ModelProto.FromString(model.graph))
    return shipped(model.name, model.signature.inputs, model.signature.outputs, model.contract, path)


def attached(folder: Path) -> Plan:
    """A network of 4 x 4 pixels with a contract from mobpack.toml."""
    net = onnx_model(
        "(float[1, 3, 4, 4] image) => (float[1, 4] logits) { row = Flatten (image) logits = MatMul (row, w) }",
        weights={"w": weight(48, 4)},
        opsets={"": 18},
    )
    tables = Tables(
        inputs={"image": PictureInput(resize="letterbox")}, outputs={"logits": Classes(activation="softmax", top_k=4)}
    )
    model = attach(loaded(folder / "attached", net, "attached"), tables).model
    assert model.contract
    path = saved(folder / "attached" / "plain.onnx", onnx.ModelProto.FromString(model.graph))
    return shipped("attached", model.signature.inputs, model.signature.outputs, model.contract, path)


def scores(model: Path) -> NDArray[Any]:
    """Scores of Python's ONNX Runtime for one picture in all its orientations: float [8, 4]."""
    picture = ((7 * np.arange(30 * 40 * 4) + 3) % 256).astype(np.uint8).reshape(30, 40, 4)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given: dict[str, NDArray[Any]] = {
        "image.pixels": picture,
        "image.channels": np.array([2, 1, 0], np.int64),
        "image.chroma": np.zeros((1, 1, 1), np.uint8),
        "image.conversion": np.zeros(3, np.int64),
    }
    found = [session.run(None, {**given, "image.orientation": np.array(each, np.int64)})[0] for each in range(1, 9)]
    assert len({tuple(each) for each in found}) == len(found), "each orientation is another picture"
    return np.stack(found)


def sound(element: ElementType) -> tuple[TensorSpec, TensorSpec]:
    shape = ("audio.frames", "audio.channels")
    samples, rate = specs("input", ("audio.samples", element, shape), ("audio.rate", INT64, ()))
    return samples, rate


def plain_output(spec: TensorSpec) -> TensorOutput:
    return TensorOutput(identifier=spec.identifier, spec=spec)


def planned(
    name: str,
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...],
    contract: Contract,
    nodes: Sequence[NodeProto],
    folder: Path,
) -> Plan:
    """Plan of a model with these nodes."""
    given, made = (
        [helper.make_tensor_value_info(each.name, onnx_type(each.element), each.shape) for each in specs]
        for specs in (inputs, outputs)
    )
    model = helper.make_model(
        helper.make_graph(nodes, name, given, made), ir_version=10, opset_imports=[helper.make_opsetid("", 18)]
    )
    onnx.checker.check_model(model, full_check=True)
    return shipped(name, inputs, outputs, contract, saved(folder / name / "plain.onnx", model))


def shipped(
    name: str, inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...], contract: Contract, path: Path
) -> Plan:
    cpu = choice("cpu", path=path)
    cpu = replace(cpu, compiled=replace(cpu.compiled, sha256=sha256_of(path), size_bytes=path.stat().st_size))
    return on_ios(typed(name, inputs, outputs, contract), cpu)
