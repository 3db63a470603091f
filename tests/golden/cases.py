"""The models behind the golden trees: small signatures that together reach every branch of the templates.

`trees.py` has the packages, `stored.py` says how they are stored.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from packager import description
from packager.compile.compile import REPLAY
from packager.compile.plan import NO_PACKING
from packager.core import names
from packager.core.chat import ChatTemplate
from packager.core.contract import (
    AudioInput,
    BoxesOutput,
    ClassesOutput,
    Contract,
    EmbeddingOutput,
    GeneratedOutput,
    ImageInput,
    InstancesOutput,
    KeypointsOutput,
    MaskOutput,
    PairsOutput,
    PictureOutput,
    SoundOutput,
    SpansOutput,
    StateInput,
    Streamed,
    TensorInput,
    TensorOutput,
    TextInput,
    TextOutput,
    ValuesOutput,
)
from packager.core.findings import Parity, Report
from packager.core.pipeline import Pipeline, Stage
from packager.core.values import (
    Choice,
    Compiled,
    Dimension,
    ElementType,
    Format,
    Model,
    Package,
    Plan,
    Precision,
    Signature,
    Sources,
    Style,
    TensorSpec,
    Traits,
    baseline,
)
from packager.engines.environments.runtime import Runtime
from packager.targets.android import Android
from packager.targets.android.view import AndroidView
from packager.targets.cpp import Cpp
from packager.targets.flutter import Flutter
from packager.targets.flutter.view import FlutterView
from packager.targets.ios import Ios
from packager.targets.ios.view import IosView
from packager.targets.jvm import Jvm
from packager.targets.node import Node
from packager.targets.python import Python
from packager.targets.react_native import ReactNative
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import Built, Target
from packager.targets.web import Web
from packager.targets.web.view import WebView
from packager.vectors import Allowed, Golden, GoldenFile, GoldenSample, Vectors
from packager.vectors.safetensors import TensorEntry
from tests.cases.trust_vectors import TRUST
from tests.cases.tuf_repository import delivery

NO_SETTINGS: Mapping[str, str] = {}
FILES = Path(__file__).parent / "weights"
"""Stand-ins for the files of models: their first and last blocks are read."""
PLAIN_FILE = FILES / "model.onnx"
GOLDEN_FILE = FILES / "golden.safetensors"
WEIGHTS = tuple(sorted(FILES.glob("*.weights")))


class Rendered(ABC):
    """A package that a target prints."""

    @abstractmethod
    def sources(self) -> Sources: ...

    def texts(self) -> dict[PurePosixPath, str]:
        """Every text of the package by its path."""
        return dict(self.sources().texts)


@dataclass(frozen=True, kw_only=True)
class Case(Rendered):
    package: Package
    target: Android | Ios
    plans: tuple[Plan, ...]
    report: Report
    golden: Golden = field(default_factory=dict)

    def view(self) -> AndroidView | IosView:
        return self.target.view(self.package, self.plans, self.report, golden=self.golden)

    def sources(self) -> Sources:
        if isinstance(self.target, Ios):
            return self.target.render(self.target.view(self.package, self.plans, self.report, golden=self.golden))
        return self.target.render(self.target.view(self.package, self.plans, self.report, golden=self.golden))


def built_of(case: Case) -> Built:
    """The case as a wrapper includes it."""
    if isinstance(case.target, Ios):
        return case.target.built(
            case.target.view(case.package, case.plans, case.report, golden=case.golden), case.plans
        )
    return case.target.built(case.target.view(case.package, case.plans, case.report, golden=case.golden), case.plans)


@dataclass(frozen=True, kw_only=True)
class Wrapped(Rendered):
    """A package that contains the files for Android and iOS."""

    target: ReactNative
    android: Case
    ios: Case

    @property
    def package(self) -> Package:
        return self.android.package

    @property
    def golden(self) -> Golden:
        return {**self.android.golden, **self.ios.golden}

    def built(self) -> dict[str, Built]:
        return {each.target.NAME: built_of(each) for each in (self.android, self.ios)}

    def view(self) -> ReactNativeView:
        return self.target.view(self.package, self.built(), self.android.report, self.golden)

    def sources(self) -> Sources:
        return self.target.render(self.view())


@dataclass(frozen=True, kw_only=True)
class Published(Rendered):
    """A package for Flutter, which contains the files for Android, iOS, or both."""

    target: Flutter
    android: Case | None = None
    ios: Case | None = None

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(each for each in (self.android, self.ios) if each)

    @property
    def package(self) -> Package:
        return self.cases[0].package

    def view(self) -> FlutterView:
        golden = {key: found for each in self.cases for key, found in each.golden.items()}
        built = {each.target.NAME: built_of(each) for each in self.cases}
        return self.target.view(self.package, built, self.cases[0].report, golden=golden)

    def sources(self) -> Sources:
        return self.target.render(self.view())


@dataclass(frozen=True, kw_only=True)
class Paged(Rendered):
    """A package for pages. It contains ONNX Runtime's WebAssembly, which is fetched once."""

    package: Package
    target: Web
    plans: tuple[Plan, ...]
    golden: Golden = field(default_factory=dict)

    def view(self) -> WebView:
        return self.target.view(self.package, self.plans, Report(parities=()), golden=self.golden)

    def sources(self) -> Sources:
        return self.target.render(self.view())


@dataclass(frozen=True, kw_only=True)
class Wheel(Rendered):
    """A package for computers: a wheel, a CMake package, a jar, or one for Node."""

    package: Package
    target: Target
    plans: tuple[Plan, ...]
    golden: Golden = field(default_factory=dict)

    def view(self) -> Any:
        return self.target.view(self.package, self.plans, Report(parities=()), golden=self.golden)

    def sources(self) -> Sources:
        return self.target.render(self.view())


def api_of(case: Case | Wrapped | Published | Paged | Wheel) -> description.PackageApi:
    """The API of the package, as a build describes it."""
    inside = (case,) if isinstance(case, Case | Paged | Wheel) else (case.android, case.ios)
    plans = [plan for each in inside if each for plan in each.plans]
    golden = {key: found for each in inside if each for key, found in each.golden.items()}
    return description.describe(case.package, plans, golden, case.target)


def specs(prefix: str, *tensors: tuple[str, ElementType, tuple[Dimension, ...]]) -> tuple[TensorSpec, ...]:
    identifiers = names.identifiers([tensor[0] for tensor in tensors], prefix=prefix)
    return tuple(
        TensorSpec(name=name, identifier=identifier, element=element, shape=shape)
        for identifier, (name, element, shape) in zip(identifiers, tensors, strict=True)
    )


def model(name: str, signature: Signature, *, source: str = "") -> Model:
    return Model(
        name=name,
        path=Path(source or f"{name}.onnx"),
        graph=b"",
        signature=signature,
        ir_version=10,
        opsets={"": 21},
        operators={},
        size_bytes=4096,
        parameter_count=1000,
        traits=Traits(precision=Precision.FLOAT32),
        sha256="0" * 60 + "feed",
    )


VARIANT = baseline(model("any", Signature(inputs=(), outputs=())), "fp32")


def plan(name: str, signature: Signature, *choices: Choice, source: str = "") -> Plan:
    """A model's plan: `choices`, or one file for the CPU."""
    return Plan(
        model=model(name, signature, source=source),
        target="android",
        environment=Runtime.NAME,
        choices=choices or (choice("cpu"),),
    )


def choice(
    provider: str,
    style: Style = Style.FIXED,
    *,
    soc_models: tuple[str, ...] = (),
    path: Path = Path("model.ort"),
    size_bytes: int = 5120,
    data_files: tuple[Path, ...] = (),
    settings: Mapping[str, str] = NO_SETTINGS,
) -> Choice:
    """A provider and the file it opens: the same one for the same style and chips."""
    file = Compiled(
        variant=VARIANT,
        path=FILES / path,
        sha256=hashlib.sha256(f"{style} {soc_models}".encode()).hexdigest(),
        size_bytes=size_bytes + sum(file.stat().st_size for file in data_files),
        operators={},
        style=style,
        format=Format(path.suffix.removeprefix(".")),
        data_files=data_files,
        settings=settings,
    )
    nodes = 0 if provider == "cpu" else 12
    return Choice(provider=provider, compiled=file, reason="", soc_models=soc_models, nodes=nodes)


def reshaped(model: str, *outputs: str) -> Report:
    """A shape report whose shapes differ from the declared ones."""
    return Report(
        parities=(
            Parity(
                model=model,
                variant="source",
                runner="cpu",
                sample_count=1,
                samples="random",
                tolerance=1e-3,
                outputs=(),
                reshaped_outputs=outputs,
            ),
        )
    )


def vectors(made: Plan, *, tolerance: float, samples: int = 1, unknown_size: int = 5) -> Golden:
    """Golden vectors for every file of `made`: tensors one behind the other, with the sizes `unknown_size`."""
    end = 512
    found = []
    for _ in range(samples):
        places: tuple[dict[str, TensorEntry], dict[str, TensorEntry]] = ({}, {})
        for of_kind, specs in zip(places, (made.model.signature.inputs, made.model.signature.outputs), strict=True):
            for spec in specs:
                shape = tuple(size if isinstance(size, int) else unknown_size for size in spec.shape)
                size_bytes = prod(shape) * 4
                of_kind[spec.name] = TensorEntry(element=spec.element, shape=shape, offset=end, size_bytes=size_bytes)
                end += size_bytes
        found.append(GoldenSample(inputs=places[0], outputs=places[1]))
    file = GoldenFile(path=GOLDEN_FILE, sha256="0" * 60 + "601d", size_bytes=end, about={}, samples=tuple(found))
    outputs = {
        spec.name: Allowed(rtol=tolerance, atol=tolerance / 100, scale=2.5) for spec in made.model.signature.outputs
    }
    return {(made.model.name, each.sha256): Vectors(golden=file, allowed=outputs) for each in made.files}


IMAGE_CLASSIFIER = Case(
    package=Package(name="vision", version="1.0.0", license="Apache-2.0"),
    target=Android(),
    plans=(
        plan(
            "classifier",
            Signature(
                inputs=specs("input", ("x", ElementType.FLOAT, ("batch", 3, 224, 224))),
                outputs=specs("output", ("logits", ElementType.FLOAT, ("batch", 4))),
            ),
            choice("xnnpack", Style.UNFUSED, settings=REPLAY),
            choice("cpu"),
        ),
    ),
    report=Report(parities=()),
)

EVERYTHING = Case(
    package=Package(name="every-thing", version="2.1.0", license="", description="All that a signature can hold."),
    target=Android(group="org.example_lab", providers=("qnn", "nnapi", "xnnpack", "webgpu"), min_sdk=26),
    plans=(
        plan(
            "every-thing_v2",
            Signature(
                inputs=specs(
                    "input",
                    ("serving_default_input_2:0", ElementType.FLOAT, (1, 8)),
                    ("53", ElementType.INT64, ()),
                    ("class", ElementType.BOOL, ("batch_size", 2)),
                    ("text", ElementType.STRING, ("batch_size",)),
                    ("int8", ElementType.INT8, (4,)),
                    ("uint8", ElementType.UINT8, (4, None)),
                    ("int16", ElementType.INT16, (2, 2)),
                    ("int32", ElementType.INT32, (None, None)),
                    ("float16", ElementType.FLOAT16, ("batch_size", "past sequence*/ + 1")),
                    ("bfloat16", ElementType.BFLOAT16, (3,)),
                    ("double", ElementType.DOUBLE, (0, 3)),
                ),
                outputs=specs(
                    "output",
                    ("float$static", ElementType.FLOAT, (1, 4)),
                    ("bool_static", ElementType.BOOL, (2,)),
                    ("half_static", ElementType.FLOAT16, ()),
                    ("declared_static", ElementType.FLOAT, (7,)),
                    ("scores", ElementType.DOUBLE, ("batch_size", None)),
                    ("scores_shape", ElementType.INT64, ("rank",)),
                    ("words", ElementType.STRING, (2,)),
                    ("uint16", ElementType.UINT16, (3,)),
                    ("uint32", ElementType.UINT32, (3,)),
                    ("uint64", ElementType.UINT64, (None,)),
                    ("bytes", ElementType.UINT8, (None,)),
                ),
            ),
            choice("qnn", Style.CONTEXT, soc_models=("SM8650",), path=Path("context.onnx")),
            choice("qnn", Style.CONTEXT, soc_models=("SM8750", "SM8750P"), path=Path("context.onnx")),
            choice("qnn", Style.UNFUSED, settings=REPLAY),
            choice("nnapi", Style.UNFUSED, settings=REPLAY),
            choice("xnnpack", Style.UNFUSED, settings=REPLAY),
            choice("webgpu", Style.UNFUSED, settings=REPLAY),
            choice("cpu"),
            source="Every `thing`.onnx",
        ),
        plan(
            "options",
            Signature(inputs=(), outputs=specs("output", ("eyes", ElementType.STRING, ()))),
            choice("cpu", Style.PLAIN, path=PLAIN_FILE, data_files=WEIGHTS, settings=NO_PACKING),
        ),
    ),
    report=reshaped("every-thing_v2", "declared_static"),
)

IMAGE_CLASSIFIER = replace(IMAGE_CLASSIFIER, golden=vectors(IMAGE_CLASSIFIER.plans[0], tolerance=1e-3, samples=2))
EVERYTHING = replace(
    EVERYTHING, golden={**vectors(EVERYTHING.plans[0], tolerance=5e-2), **vectors(EVERYTHING.plans[1], tolerance=1e-3)}
)

# Packages that open signed files alone have one file more, and other ones that load.
TRUSTED = replace(IMAGE_CLASSIFIER, package=replace(IMAGE_CLASSIFIER.package, version="1.2.3", trust=TRUST))
DELIVERED = replace(TRUSTED.package, delivery=delivery("vision", {"classifier": "c" * 64}))
"""a package whose models a channel updates"""

CASES = {
    "image_classifier": IMAGE_CLASSIFIER,
    "everything": EVERYTHING,
    "trusted": TRUSTED,
    "delivered": replace(TRUSTED, package=DELIVERED),
}


def on_ios(made: Plan, *choices: Choice, inputs: tuple[TensorSpec, ...] = ()) -> Plan:
    """The plan for iOS, with more inputs."""
    signature = replace(made.model.signature, inputs=(*made.model.signature.inputs, *inputs))
    return replace(made, target="ios", choices=choices, model=replace(made.model, signature=signature))


IOS_IMAGE_CLASSIFIER = replace(
    IMAGE_CLASSIFIER,
    target=Ios(),
    plans=(on_ios(IMAGE_CLASSIFIER.plans[0], choice("coreml", Style.UNFUSED, settings=REPLAY), choice("cpu")),),
)
IOS_EVERYTHING = replace(
    EVERYTHING,
    target=Ios(module="Everything", providers=("coreml", "xnnpack"), min_ios="16.0", min_macos="14.2"),
    plans=(
        on_ios(
            EVERYTHING.plans[0],
            choice("coreml", Style.UNFUSED, settings=REPLAY),
            choice("xnnpack", Style.UNFUSED, settings=REPLAY),
            choice("cpu"),
            inputs=specs(
                "input",
                ("uint16", ElementType.UINT16, (2,)),
                ("uint32", ElementType.UINT32, (2,)),
                ("uint64", ElementType.UINT64, (2,)),
            ),
        ),
        on_ios(EVERYTHING.plans[1], *EVERYTHING.plans[1].choices),
    ),
)
# Packages without CoreML and without golden vectors are other files.
IOS_CPU_ALONE = replace(
    IOS_IMAGE_CLASSIFIER,
    package=Package(name="cpu-alone", version="1.0.0", license="MIT", description="No provider, no self-test."),
    target=Ios(providers=()),
    plans=(on_ios(IMAGE_CLASSIFIER.plans[0], choice("cpu")),),
    golden={},
)
IOS_CASES = {
    "image_classifier": replace(
        IOS_IMAGE_CLASSIFIER, golden=vectors(IOS_IMAGE_CLASSIFIER.plans[0], tolerance=1e-3, samples=2)
    ),
    "everything": replace(
        IOS_EVERYTHING,
        golden={**vectors(IOS_EVERYTHING.plans[0], tolerance=5e-2), **vectors(IOS_EVERYTHING.plans[1], tolerance=1e-3)},
    ),
    "cpu_alone": IOS_CPU_ALONE,
    "trusted": replace(IOS_IMAGE_CLASSIFIER, package=TRUSTED.package),
    "delivered": replace(IOS_IMAGE_CLASSIFIER, package=DELIVERED),
}

# An Android app can pass no unsigned integers: the models are Android's.
REACT_NATIVE_CASES = {
    "image_classifier": Wrapped(target=ReactNative(), android=IMAGE_CLASSIFIER, ios=IOS_CASES["image_classifier"]),
    "everything": Wrapped(
        target=ReactNative(package="@example/every-thing", module="Everything"),
        android=EVERYTHING,
        ios=replace(
            IOS_CASES["everything"],
            plans=tuple(
                replace(made, model=known.model)
                for made, known in zip(IOS_CASES["everything"].plans, EVERYTHING.plans, strict=True)
            ),
        ),
    ),
    "cpu_alone": Wrapped(
        target=ReactNative(),
        android=replace(
            IMAGE_CLASSIFIER,
            package=IOS_CPU_ALONE.package,
            target=Android(providers=()),
            plans=(plan("classifier", IMAGE_CLASSIFIER.plans[0].model.signature),),
            golden={},
        ),
        ios=IOS_CPU_ALONE,
    ),
    "trusted": Wrapped(target=ReactNative(), android=TRUSTED, ios=IOS_CASES["trusted"]),
    "delivered": Wrapped(
        target=ReactNative(),
        android=replace(TRUSTED, package=DELIVERED),
        ios=replace(IOS_CASES["trusted"], package=DELIVERED),
    ),
}

# Models with a contract: between them they have every kind.
PIXELS = specs(
    "input",
    ("image.pixels", ElementType.UINT8, ("image.height", "image.width", "image.channels")),
    ("image.channels", ElementType.INT64, (3,)),
    ("image.orientation", ElementType.INT64, ()),
    ("image.chroma", ElementType.UINT8, ("image.chroma_height", "image.chroma_width", "image.chroma_channels")),
    ("image.conversion", ElementType.INT64, (3,)),
)
IMAGE = ImageInput(
    identifier="image",
    pixels=PIXELS[0],
    channels=PIXELS[1],
    orientation=PIXELS[2],
    chroma=PIXELS[3],
    conversion=PIXELS[4],
)
SOUND = specs(
    "input",
    ("audio.samples", ElementType.FLOAT, ("audio.frames", "audio.channels")),
    ("audio.rate", ElementType.INT64, ()),
)
AUDIO = AudioInput(identifier="audio", samples=SOUND[0], rate=SOUND[1])
PLACE = specs("input", ("audio.place", ElementType.INT64, (3,)))
PUSHED = replace(AUDIO, place=PLACE[0], streamed=Streamed(rate=16000, hop=512, length=576))
POINTS = specs(
    "input",
    ("query.text", ElementType.INT32, ("query.characters",)),
    ("query.document", ElementType.INT32, ("document.characters",)),
)
QUERY, DOCUMENT = (
    TextInput(identifier=name, code_points=each) for name, each in zip(("query", "document"), POINTS, strict=True)
)
STATES = specs("input", ("state", ElementType.FLOAT, (2, 1, 128)))
NEXT_STATES = specs("output", ("stateN", ElementType.FLOAT, (2, 1, 128)))
STATE = StateInput(identifier="state", input=STATES[0], output=NEXT_STATES[0])
LENGTHS = specs("input", ("lengths", ElementType.INT64, ("batch", 2)))
SCORES = specs("output", ("logits.scores", ElementType.FLOAT, (4,)))
CLASSES = ClassesOutput(
    identifier="logits", scores=SCORES[0], labels=("cat", 'a "dog"', "größe\\$x", "日本"), top_k=3, threshold=0.0
)
FOUND = specs(
    "output",
    ("found.boxes", ElementType.FLOAT, ("found.count", 4)),
    ("found.scores", ElementType.FLOAT, ("found.count",)),
    ("found.classes", ElementType.INT64, ("found.count",)),
)
BOXES = BoxesOutput(identifier="found", boxes=FOUND[0], scores=FOUND[1], classes=FOUND[2], labels=("text",))
PLACES = specs(
    "output",
    ("mask.classes", ElementType.UINT8, ("mask.height", "mask.width")),
    ("mask.scores", ElementType.FLOAT, ("mask.height", "mask.width")),
)
MASK = MaskOutput(identifier="mask", classes=PLACES[0], scores=PLACES[1], labels=())
VECTOR = specs("output", ("feature.vector", ElementType.FLOAT, (256,)))
EMBEDDING = EmbeddingOutput(identifier="feature", vector=VECTOR[0])
SYMBOLS = specs(
    "output", ("text.symbols", ElementType.INT64, ("text.count",)), ("text.scores", ElementType.FLOAT, ("text.count",))
)
TEXT = TextOutput(identifier="text", symbols=SYMBOLS[0], scores=SYMBOLS[1], alphabet=("a", "b", "\\", "ß", "日", " "))
PARTED = specs(
    "output",
    ("parts.boxes", ElementType.FLOAT, ("parts.count", 4)),
    ("parts.scores", ElementType.FLOAT, ("parts.count",)),
    ("parts.classes", ElementType.INT64, ("parts.count",)),
    ("parts.areas", ElementType.INT32, ("parts.count", 4)),
    ("parts.places", ElementType.UINT8, ("parts.places",)),
)
INSTANCES = InstancesOutput(
    identifier="parts",
    boxes=PARTED[0],
    scores=PARTED[1],
    classes=PARTED[2],
    areas=PARTED[3],
    places=PARTED[4],
    labels=("leaf",),
    image="image",
)
JOINTS = specs("output", ("joints.points", ElementType.FLOAT, (2, 2)), ("joints.scores", ElementType.FLOAT, (2,)))
KEYPOINTS = KeypointsOutput(identifier="joints", points=JOINTS[0], scores=JOINTS[1], labels=("left knee", "right knee"))
MEASURED = specs("output", ("weather.numbers", ElementType.FLOAT, ("weather.steps", 2)))
VALUES = ValuesOutput(identifier="weather", numbers=MEASURED[0], labels=("wind", "rain"), units=("m/s", ""))
MADE = specs("output", ("made.pixels", ElementType.UINT8, ("made.height", "made.width", 4)))
PICTURE = PictureOutput(identifier="made", pixels=MADE[0])
PLAYED = specs("output", ("voice.samples", ElementType.FLOAT, ("voice.frames", 1)))
SPOKEN = SoundOutput(identifier="voice", samples=PLAYED[0], rate=22050, channels=1)
TAGS = specs(
    "output",
    ("tags.classes", ElementType.INT64, ("tags.count",)),
    ("tags.starts", ElementType.INT64, ("tags.count",)),
    ("tags.ends", ElementType.INT64, ("tags.count",)),
    ("tags.scores", ElementType.FLOAT, ("tags.count",)),
)
SPANS = SpansOutput(
    identifier="tags",
    classes=TAGS[0],
    starts=TAGS[1],
    ends=TAGS[2],
    scores=TAGS[3],
    text=POINTS[0],
    labels=("person", "Ort"),
)
FITS = specs("output", ("logits.score", ElementType.FLOAT, (1,)))
PAIRS = PairsOutput(identifier="logits", score=FITS[0], query=POINTS[0], document=POINTS[1])
RAW = specs("output", ("raw", ElementType.FLOAT, (1, "steps", 8)))
RAW_OUTPUT = TensorOutput(identifier="raw", spec=RAW[0])

PROMPT = specs("input", ("prompt.text", ElementType.INT32, ("prompt.characters",)))
CACHES = specs("input", ("past.key", ElementType.FLOAT, (1, 2, "past length", 8)))
CARRIED = specs(
    "input",
    ("logits.progress", ElementType.INT64, (4,)),
    ("logits.bytes", ElementType.INT64, ("logits.waiting bytes",)),
)
SEED = specs("input", ("logits.seed", ElementType.INT64, (1,)))
NEXT_CACHES = specs("output", ("present.key", ElementType.FLOAT, (1, 2, "total length", 8)))
NEXT_CARRIED = specs(
    "output",
    ("logits.next progress", ElementType.INT64, (4,)),
    ("logits.next bytes", ElementType.INT64, ("next waiting bytes",)),
)
PARTS = specs(
    "output",
    ("logits.characters", ElementType.INT32, ("logits.new characters",)),
    ("logits.finished", ElementType.INT32, (1,)),
)
CHAT = ChatTemplate(
    before=1,
    after=0,
    has_first=False,
    pieces={
        "^u": ("<user>\n", "m<>", ""),
        "ua": ("</user>$\n", "m]", ""),
        "au": ("<user>\n", "m<>", ""),
        "u$": ("\n",),
    },
    errors={"^a": 'begin with a "question"'},
    refused=("<user>",),
    needs_text=True,
)
GENERATED = GeneratedOutput(
    identifier="logits", code_points=PARTS[0], is_finished=PARTS[1], seed=SEED[0], has_encoder=False, chat=CHAT
)


LISTED = tuple(replace(each, is_batch=True) for each in (QUERY, DOCUMENT))
ROW_SCORES = specs("output", ("logits.scores", ElementType.FLOAT, ("texts", 4)))
ROW_VECTORS = specs("output", ("feature.vector", ElementType.FLOAT, ("texts", 256)))
ROW_FITS = specs("output", ("logits.score", ElementType.FLOAT, ("texts",)))
ROWS = specs("output", ("raw", ElementType.INT64, ("texts", "steps")))


def typed(name: str, inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...], contract: Contract) -> Plan:
    """The plan of a model with a contract, one file for the CPU."""
    made = plan(name, Signature(inputs=inputs, outputs=outputs))
    return replace(made, model=replace(made.model, contract=contract))


LISTS: tuple[Plan, ...] = (
    typed(
        "topics", POINTS[:1], ROW_SCORES, Contract(inputs=LISTED[:1], outputs=(replace(CLASSES, scores=ROW_SCORES[0]),))
    ),
    typed(
        "embedder",
        POINTS[:1],
        ROW_VECTORS,
        Contract(inputs=LISTED[:1], outputs=(replace(EMBEDDING, vector=ROW_VECTORS[0]),)),
    ),
    typed("judge", POINTS, ROW_FITS, Contract(inputs=LISTED, outputs=(replace(PAIRS, score=ROW_FITS[0]),))),
    typed(
        "rows",
        POINTS[:1],
        (*ROW_SCORES, *ROWS),
        Contract(
            inputs=LISTED[:1],
            outputs=(replace(CLASSES, scores=ROW_SCORES[0]), TensorOutput(identifier="raw", spec=ROWS[0])),
        ),
    ),
)
"""models that take several texts in a run"""
CONTRACTS: tuple[Plan, ...] = (
    typed("classifier", PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(CLASSES,))),
    typed("detector", PIXELS, FOUND, Contract(inputs=(IMAGE,), outputs=(BOXES,))),
    typed("segmenter", PIXELS, PLACES, Contract(inputs=(IMAGE,), outputs=(MASK,))),
    typed("reader", PIXELS, SYMBOLS, Contract(inputs=(IMAGE,), outputs=(TEXT,))),
    typed(
        "listener",
        (*SOUND, *PLACE, *STATES),
        (*SCORES, *NEXT_STATES),
        Contract(inputs=(PUSHED, STATE), outputs=(CLASSES,)),
    ),
    typed("embedder", POINTS[:1], VECTOR, Contract(inputs=(QUERY,), outputs=(EMBEDDING,))),
    typed("tagger", POINTS[:1], TAGS, Contract(inputs=(QUERY,), outputs=(SPANS,))),
    typed("ranker", POINTS, FITS, Contract(inputs=(QUERY, DOCUMENT), outputs=(PAIRS,))),
    typed(
        "storyteller",
        (*PROMPT, *CACHES, *CARRIED, *SEED),
        (*PARTS, *NEXT_CARRIED, *NEXT_CACHES),
        Contract(
            inputs=(
                TextInput(identifier="prompt", code_points=PROMPT[0]),
                *(
                    StateInput(identifier=before.identifier, input=before, output=after)
                    for before, after in zip((*CACHES, *CARRIED), (*NEXT_CACHES, *NEXT_CARRIED), strict=True)
                ),
            ),
            outputs=(GENERATED,),
        ),
    ),
    typed(
        "several",
        (*PIXELS, *LENGTHS),
        (*SCORES, *VECTOR, *PARTED, *JOINTS, *MEASURED, *MADE, *PLAYED, *RAW),
        Contract(
            inputs=(IMAGE, TensorInput(identifier="lengths", spec=LENGTHS[0])),
            outputs=(CLASSES, EMBEDDING, INSTANCES, KEYPOINTS, VALUES, PICTURE, SPOKEN, RAW_OUTPUT),
        ),
    ),
)

PAGE_READER = Pipeline(
    name="page-reader",
    finder=Stage(name="line", identifier="line", model="detector"),
    readers=(
        Stage(name="text", identifier="text", model="reader", min_score=0.7),
        Stage(name="kind", identifier="kind", model="classifier"),
    ),
    max_items=1000,
)
"""each box read where it is certain, and classified"""

CASES["contracts"] = Case(
    package=Package(name="contracts", version="1.0.0", license="MIT", pipelines=(PAGE_READER,)),
    target=Android(providers=("xnnpack",)),
    plans=CONTRACTS,
    report=Report(parities=()),
    golden=vectors(CONTRACTS[0], tolerance=1e-3),
)
IOS_CASES["contracts"] = replace(
    CASES["contracts"],
    target=Ios(providers=()),
    plans=tuple(on_ios(each, choice("cpu")) for each in CONTRACTS),
    golden=vectors(on_ios(CONTRACTS[0], choice("cpu")), tolerance=1e-3),
)
CASES["encrypted"] = replace(
    IMAGE_CLASSIFIER,
    package=replace(IMAGE_CLASSIFIER.package, encryption="models-1"),
    target=Android(providers=()),
    plans=(plan("classifier", IMAGE_CLASSIFIER.plans[0].model.signature),),
    golden={},
)
IOS_CASES["encrypted"] = replace(IOS_CPU_ALONE, package=CASES["encrypted"].package)
REACT_NATIVE_CASES["contracts"] = Wrapped(target=ReactNative(), android=CASES["contracts"], ios=IOS_CASES["contracts"])


def on_pages(made: Plan) -> Plan:
    """The plan for the web: one file for the CPU."""
    return replace(made, target="web", choices=(choice("cpu"),))


def paged(package: Package, target: Web, plans: tuple[Plan, ...], golden: int = 0) -> Paged:
    """A package of which the first models, `golden` in number, have golden vectors."""
    made = tuple(map(on_pages, plans))
    found = {key: each for plan in made[:golden] for key, each in vectors(plan, tolerance=1e-3).items()}
    return Paged(package=package, target=target, plans=made, golden=found)


OF_PAGES = tuple(each for each in CONTRACTS if each.model.name in ("classifier", "listener", "several"))
"""Models of other kinds differ from those for React Native as these do."""
WEB_CASES = {
    "contracts": paged(CASES["contracts"].package, Web(), OF_PAGES, golden=1),
    "everything": paged(EVERYTHING.package, Web(package="@example/every-thing"), EVERYTHING.plans, golden=2),
    "cpu_alone": paged(IOS_CPU_ALONE.package, Web(), IMAGE_CLASSIFIER.plans),
    "trusted": paged(TRUSTED.package, Web(), IMAGE_CLASSIFIER.plans),
    "delivered": paged(DELIVERED, Web(), IMAGE_CLASSIFIER.plans),
}


FLUTTER_CASES = {
    "contracts": Published(target=Flutter(), android=CASES["contracts"], ios=IOS_CASES["contracts"]),
    "everything": Published(
        target=Flutter(package="every_thing"),
        android=REACT_NATIVE_CASES["everything"].android,
        ios=REACT_NATIVE_CASES["everything"].ios,
    ),
    "cpu_alone": Published(target=Flutter(), android=REACT_NATIVE_CASES["cpu_alone"].android),
    "delivered": Published(
        target=Flutter(), android=replace(TRUSTED, package=replace(DELIVERED, license=IOS_CPU_ALONE.package.license))
    ),
    "apple_alone": Published(target=Flutter(package="apple_alone"), ios=IOS_CPU_ALONE),
}

PYTHON_CASES = {
    "contracts": Wheel(
        package=CASES["contracts"].package,
        target=Python(),
        plans=WEB_CASES["contracts"].plans,
        golden=WEB_CASES["contracts"].golden,
    )
}

JVM_CASES = {"contracts": replace(PYTHON_CASES["contracts"], target=Jvm())}

CPP_CASES = {"contracts": replace(PYTHON_CASES["contracts"], target=Cpp())}

NODE_CASES = {"contracts": replace(PYTHON_CASES["contracts"], target=Node())}
