"""Contracts in TypeScript: pictures, sounds and states reach the graph as they are, and what comes out has names.

The models are small graphs that tell what they were given; ONNX Runtime runs them under Node through a package's own
JavaScript.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from packager.compile.compile import compile_variant
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
from packager.core.values import Choice, Compiled, Model, Package, Plan, TensorSpec, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from tests.cases import spoken
from tests.cases.onnx_text import STANDARD, compiled, onnx_model
from tests.cases.react_native_package import FENCE, RESOLUTIONS, tsc
from tests.cases.react_native_typescript import code_of
from tests.golden.cases import REACT_NATIVE_CASES, Case, Wrapped
from tests.npm.test_react_native_package import complaints, eslint
from tests.npm.test_react_native_typescript import PROGRAMS
from tests.toolchain import node, typed_texts

LOWEST = -float("inf")

PACKAGE = Package(name="typed", version="1.0.0", license="")

RGB = """
    picked = Gather <axis = 2> (image_pixels, image_channels)
    numbers = Cast <to = 1> (picked)
    means = ReduceMean <axes = [0, 1], keepdims = 0> (numbers)
"""

IMAGE = """uint8[height, width, channels] image_pixels, int64[3] image_channels, int64 image_orientation,
    uint8[chroma_height, chroma_width, chroma_channels] image_chroma, int64[3] image_conversion"""

SEEN = f"""
({IMAGE}) => (float[13] scores)
<int64[1] two = {{2}}, int64[1] three = {{3}}, int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[2] start = {{0, 0}},
    int64[1] flat = {{-1}}, int64 first = {{0}}, int64 last = {{-1}}> {{
    {RGB}
    turned = Cast <to = 1> (image_orientation)
    turned_row = Reshape (turned, one)
    sizes = Shape <end = 2> (image_pixels)
    sizes_row = Cast <to = 1> (sizes)
    reds_all = Gather <axis = 2> (numbers, first)
    reds = Reshape (reds_all, flat)
    first_red = Gather (reds, first)
    last_red = Gather (reds, last)
    first_row = Reshape (first_red, one)
    last_row = Reshape (last_red, one)
    places = Slice (image_conversion, zero, two)
    chroma = Gather <axis = 2> (image_chroma, places)
    chroma_numbers = Cast <to = 1> (chroma)
    chroma_means = ReduceMean <axes = [0, 1], keepdims = 0> (chroma_numbers)
    number = Slice (image_conversion, two, three)
    number_row = Cast <to = 1> (number)
    chroma_sizes = Shape <end = 2> (image_chroma)
    chroma_row = Cast <to = 1> (chroma_sizes)
    scores = Concat <axis = 0> (means, turned_row, sizes_row, first_row, last_row, chroma_means, number_row, chroma_row)
}}
"""
"""Mean red, green and blue, orientation, height, width, red of the first and of the last pixel; mean U and V, number of
the conversion, height and width of chroma."""

FOUND = """
(float[n, 4] boxes, float[n] scores, int64[n] classes)
=> (float[n, 4] boxes_out, float[n] scores_out, int64[n] classes_out) {
    boxes_out = Identity (boxes)
    scores_out = Identity (scores)
    classes_out = Identity (classes)
}
"""

ALL = f"""
({IMAGE}, int64[n] options)
=> (float[3] means, uint8[height, width] places, float[height, width] shades, int64[n] symbols, float[n] sureness,
    int64 raw, uint8[height, width, 4] made)
<int64 first = {{0}}, float tenth = {{0.1}}, int64[1] last = {{2}}> {{
    {RGB}
    reds = Gather <axis = 2> (picked, first)
    places = Identity (reds)
    shades = Cast <to = 1> (reds)
    symbols = Identity (options)
    numbers_of = Cast <to = 1> (options)
    sureness = Mul (numbers_of, tenth)
    raw = Identity (image_orientation)
    alpha = Unsqueeze (reds, last)
    made = Concat <axis = 2> (picked, alpha)
}}
"""

HEARD = """
(float[frames, channels] samples, int64 rate, float[1, 2] memory) => (float[6] scores, float[1, 2] next)
<int64[1] one = {1}, int64[2] row = {1, 1}, float[1, 1] step = {1}, int64[1] flat = {-1}> {
    sum = ReduceSum <keepdims = 0> (samples)
    sum_row = Reshape (sum, one)
    sum_place = Reshape (sum, row)
    sizes = Shape (samples)
    sizes_row = Cast <to = 1> (sizes)
    rate_number = Cast <to = 1> (rate)
    rate_row = Reshape (rate_number, one)
    memory_row = Reshape (memory, flat)
    added = Concat <axis = 1> (sum_place, step)
    next = Add (memory, added)
    scores = Concat <axis = 0> (sum_row, sizes_row, rate_row, memory_row)
}
"""
"""Sum of the samples, frames, channels, rate, the sum of earlier calls, and how many there were."""

SPELLED = "(int32[n] points) => (int32[m] spelled) { spelled = Identity (points) }"

RECORDED = """
(int16[frames, channels] samples, int64 rate) => (float[n] scores) <int64[1] flat = {-1}> {
    numbers = Cast <to = 1> (samples)
    scores = Reshape (numbers, flat)
}
"""


@dataclass(frozen=True)
class Specs:
    """The tensors of a model by their names."""

    found: Mapping[str, TensorSpec]

    def image(self) -> ImageInput:
        return ImageInput(
            identifier="image",
            pixels=self["image_pixels"],
            channels=self["image_channels"],
            orientation=self["image_orientation"],
            chroma=self["image_chroma"],
            conversion=self["image_conversion"],
        )

    def tensors(self, *names: str) -> tuple[TensorInput, ...]:
        return tuple(TensorInput(identifier=self[name].identifier, spec=self[name]) for name in names)

    def __getitem__(self, name: str) -> TensorSpec:
        return self.found[name]


def classes(scores: TensorSpec, *labels: str, top_k: int = 3, threshold: float = LOWEST) -> ClassesOutput:
    return ClassesOutput(identifier="seen", scores=scores, labels=labels, top_k=top_k, threshold=threshold)


def watcher(specs: Specs) -> Contract:
    colours = ("red", "green", "blue", "orientation", "height", "width", 'it\'s "first" \\', "最後")
    labels = (*colours, "u", "v", "conversion", "chromaHeight", "chromaWidth")
    return Contract(inputs=(specs.image(),), outputs=(classes(specs["scores"], *labels),))


def finder(specs: Specs) -> Contract:
    boxes = BoxesOutput(
        identifier="found",
        boxes=specs["boxes_out"],
        scores=specs["scores_out"],
        classes=specs["classes_out"],
        labels=("cat", "dog"),
    )
    return Contract(inputs=specs.tensors("boxes", "scores", "classes"), outputs=(boxes,))


def everything(specs: Specs) -> Contract:
    """A parameter has the name of what is behind it in every call."""
    return Contract(
        inputs=(specs.image(), *specs.tensors("options")),
        outputs=(
            classes(specs["means"], top_k=2, threshold=10),
            MaskOutput(identifier="where", classes=specs["places"], scores=specs["shades"], labels=("no", "yes")),
            EmbeddingOutput(identifier="vector", vector=specs["means"]),
            TextOutput(
                identifier="words", symbols=specs["symbols"], scores=specs["sureness"], alphabet=("a", "'", "語", " ")
            ),
            TensorOutput(identifier="raw", spec=specs["raw"]),
            PictureOutput(identifier="made", pixels=specs["made"]),
        ),
    )


def listener(specs: Specs) -> Contract:
    return Contract(
        inputs=(
            AudioInput(identifier="audio", samples=specs["samples"], rate=specs["rate"]),
            StateInput(identifier="memory", input=specs["memory"], output=specs["next"]),
        ),
        outputs=(classes(specs["scores"], top_k=6),),
    )


def recorder(specs: Specs) -> Contract:
    return Contract(
        inputs=(AudioInput(identifier="audio", samples=specs["samples"], rate=specs["rate"]),),
        outputs=(classes(specs["scores"], top_k=100),),
    )


def player(specs: Specs) -> Contract:
    played = SoundOutput(identifier="played", samples=specs["played"], rate=spoken.RATE, channels=spoken.CHANNELS)
    return Contract(
        inputs=(AudioInput(identifier="audio", samples=specs["samples"], rate=specs["rate"]),), outputs=(played,)
    )


def speller(specs: Specs) -> Contract:
    return Contract(
        inputs=(TextInput(identifier="text", code_points=specs["points"]),),
        outputs=(TensorOutput(identifier="spelled", spec=specs["spelled"]),),
    )


def tagger(specs: Specs) -> Contract:
    """The text has a name that is taken in the generated code."""
    spans = SpansOutput(
        identifier="tags",
        classes=specs["classes"],
        starts=specs["starts"],
        ends=specs["ends"],
        scores=specs["scores"],
        text=specs["points"],
        labels=typed_texts.LABELS,
    )
    return Contract(inputs=(TextInput(identifier="outputs", code_points=specs["points"]),), outputs=(spans,))


def noter(specs: Specs) -> Contract:
    texts = (
        TextInput(identifier="other", code_points=specs["other"]),
        TextInput(identifier="text", code_points=specs["points"]),
    )
    copied = TensorOutput(identifier="copied", spec=specs["copied"])
    return Contract(inputs=texts, outputs=(*tagger(specs).outputs, copied))


def ranker(specs: Specs) -> Contract:
    query, document = (TextInput(identifier=name, code_points=specs[name]) for name in ("query", "document"))
    pairs = PairsOutput(identifier="fit", score=specs["score"], query=query.code_points, document=document.code_points)
    return Contract(inputs=(query, document), outputs=(pairs,))


MODELS = {
    "watcher": (SEEN, watcher),
    "finder": (FOUND, finder),
    "everything": (ALL, everything),
    "listener": (HEARD, listener),
    "recorder": (RECORDED, recorder),
    "player": (spoken.GRAPH, player),
    "speller": (SPELLED, speller),
    "tagger": (typed_texts.TAGGER, tagger),
    "noter": (typed_texts.NOTER, noter),
    "ranker": (typed_texts.RANKER, ranker),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of the models, with their files."""
    folder = tmp_path_factory.mktemp("typed")
    tokenizing = (typed_texts.tokens(folder / "tokens"), *typed_texts.lists(folder))
    plans = [
        *(made(name, folder) for name in MODELS),
        *(planned(compile_variant(baseline(each), Store(folder / "store"))) for each in tokenizing),
    ]
    case = Wrapped(
        target=ReactNative(),
        android=Case(
            package=PACKAGE, target=Android(providers=()), plans=tuple(plans), report=Report(parities=()), golden={}
        ),
        ios=Case(
            package=PACKAGE,
            target=Ios(providers=()),
            plans=tuple(replace(each, target="ios") for each in plans),
            report=Report(parities=()),
            golden={},
        ),
    )
    write_sources(case.sources(), folder / "package")
    node.link(node.project("react_native"), folder / "package")
    return folder / "package"


def made(name: str, folder: Path) -> Plan:
    graph, contract = MODELS[name]
    opsets = {"": 18} if name in ("noter", "player", "ranker", "tagger") else STANDARD
    file = compiled(folder, onnx_model(graph, opsets=opsets), name)
    model = file.variant.model
    signature = model.signature
    specs = Specs({spec.name: spec for spec in (*signature.inputs, *signature.outputs)})
    return planned(file, replace(model, contract=contract(specs)))


def planned(file: Compiled, model: Model | None = None) -> Plan:
    return Plan(
        model=model or file.variant.model,
        target="android",
        environment=Runtime.NAME,
        choices=(Choice(provider="cpu", compiled=file, reason=""),),
    )


def test_what_an_app_passes_reaches_the_graph_and_what_comes_out_has_names(package: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(given_texts()), encoding="utf-8")
    done = node.run(
        ["--test-reporter=tap", "--test", PROGRAMS / "typed.test.mjs"],
        cwd=package,
        environment={"PACKAGE": str(package), "MODULE": "Typed", "TEXTS": str(texts)},
    )

    assert done.returncode == 0, done.output
    assert "# fail 0" in done.stdout
    assert "# pass 0" not in done.stdout


def given_texts() -> dict[str, Any]:
    """Texts as UTF-16, which JSON has no way to write where a surrogate is alone, and what is to come of them."""
    return {
        "awkward": [typed_texts.utf16(text).tolist() for text in typed_texts.AWKWARD],
        "ids": typed_texts.ids(),
        "tagged": typed_texts.TAGGED,
        "spans": typed_texts.spans(),
        "listed": [typed_texts.utf16(text).tolist() for text in typed_texts.LISTED],
        "sought": typed_texts.SOUGHT,
        "results": {**typed_texts.listed(), "ranked": typed_texts.ranked(3)},
        "documents": typed_texts.DOCUMENTS,
        "ranked": typed_texts.RANKED,
        "vectors": typed_texts.vectors().tolist(),
        "cosines": typed_texts.cosines(),
        "nearest": typed_texts.nearest(),
        "wav": list(spoken.wav_file()),
    }


HEAD = """\
import { Classifier, ListenerModel, Ranker, Several, Similarity, Tagger } from 'react-native-contracts';
const model = await Classifier.load();
const several = await Several.load();
const listener = await ListenerModel.load();
const [ranker, tagger, vector] = [await Ranker.load(), await Tagger.load(), new Float32Array(3)];
const picture = { data: new Uint8Array(4), width: 1, height: 1 };
const sound = { samples: new Float32Array(4), rate: 16_000 };
const signal = new AbortController().signal;
void [model, several, listener, ranker, tagger, Similarity, vector, picture, sound, signal];
"""

WRONG = {
    "a picture without its size": ("await model.classify({ data: picture.data, width: 1 });", "TS2741"),
    "pixels as numbers": ("await model.classify({ ...picture, data: [1, 2] });", "TS2322"),
    "pixels as floats": ("await model.classify({ ...picture, data: new Float32Array(4) });", "TS2322"),
    "a format that there is not": ("await model.classify({ ...picture, format: 'yuv' });", "TS2322"),
    "an orientation that there is not": ("await model.classify({ ...picture, orientation: 9 });", "TS2322"),
    "a region without an edge": (
        "await model.classify({ ...picture, region: { left: 0, top: 0, right: 1 } });",
        "TS2741",
    ),
    "a picture for a sound": ("await listener.classify(picture);", "TS2739"),
    "a sound without its rate": ("await listener.classify({ samples: sound.samples });", "TS2741"),
    "samples of another type": ("await listener.classify({ ...sound, samples: new Uint8Array(4) });", "TS2322"),
    "a method that the model has not": ("await model.detect(picture);", "TS2339"),
    "an option that there is not": ("await model.classify(picture, { count: 3 });", "TS2353"),
    "a number of classes for what has others too": (
        "await several.predict(picture, { data: new BigInt64Array(2), shape: [1, 2] }, { top: 3 });",
        "TS2353",
    ),
    "a signal for a call that ends at once": ("model.classifySync(picture, { signal });", "TS2353"),
    "a tensor that is missing": ("await several.predict(picture);", "TS2554"),
    "a tensor of another type": ("await several.predict(picture, new Float32Array(2));", "TS2345"),
    "starting anew what carries nothing": ("model.reset();", "TS2339"),
    "a label that may be missing": ("const label: string = (await model.classify(picture))[0].label;", "TS2532"),
    "writing to what a model gave": ("const all = await model.classify(picture); all.length = 0;", "TS2540"),
    "a text for documents": ("await ranker.rank('a', 'b');", "TS2345"),
    "a document that is missing": ("await ranker.score('a');", "TS2554"),
    "a number for a text": ("await tagger.entities(7);", "TS2345"),
    "vectors of another type": ("Similarity.cosine([1], [1]);", "TS2740"),
    "vectors without a number": ("Similarity.nearest(vector, [vector]);", "TS2554"),
    "a model that nobody loaded": (
        "import('react-native-contracts').then(({ LoadedClassifier }) => LoadedClassifier);",
        "TS2339",
    ),
}

RIGHT = """\
import { Embedder, ListenerModel, ModelError, Ranker, ReaderModel, Segmenter, Several } from 'react-native-contracts';
import { Similarity, Storyteller, Tagger } from 'react-native-contracts';
import { useClassifier, useDetector } from 'react-native-contracts';
import type {
  Box, Classification, Classifier, Detection, Entity, GeneratedText, Mask, Picture, PictureOrientation,
  PixelFormat, Ranked, Reading, Region, SeedOptions,
  SeveralPrediction, Sound,
} from 'react-native-contracts';

const region: Region = { left: 0, top: 0, right: 1, bottom: 1 };
const format: PixelFormat = 'bgra';
const orientation: PictureOrientation = 6;

export async function named(model: Classifier, data: ArrayBuffer, signal: AbortSignal): Promise<string> {
  const picture: Picture = { data, width: 2, height: 2, rowBytes: 16, format, orientation, region };
  const all: readonly Classification[] = await model.classify(picture, { top: 2, signal });
  const [first] = model.classifySync({ data: new Uint8ClampedArray(16), width: 2, height: 2 }, { top: 1 });
  if (first === undefined) throw new ModelError('runtime', String(all.length));
  return `${first.label} ${first.score.toFixed(2)} ${String(first.index)}`;
}

export async function all(picture: Picture, sound: Sound): Promise<[Mask, Float32Array, Reading, SeveralPrediction]> {
  const [mask, embedder, reader] = [await Segmenter.load(), await Embedder.load(), await ReaderModel.load()];
  const several = await Several.load();
  const lengths = { data: new BigInt64Array(2), shape: [1, 2] } as const;
  const listener = await ListenerModel.load();
  const heard = await listener.classify(sound);
  listener.reset();
  const prediction = await several.predict(picture, lengths);
  const eight: 8 = prediction.raw.shape[2];
  if (heard.length > eight) several.predictSync(picture, lengths);
  return [await mask.segment(picture), await embedder.embed('text'), await reader.read(picture), prediction];
}

export async function said(text: string, documents: readonly string[], signal: AbortSignal): Promise<string> {
  const [tagger, ranker] = [await Tagger.load(), await Ranker.load()];
  const [first]: readonly Entity[] = await tagger.entities(text, { signal });
  const best: readonly Ranked[] = await ranker.rank(text, documents, { signal });
  const alike: readonly Ranked[] = Similarity.nearest(new Float32Array(3), [new Float32Array(3)], 1);
  const score: number = (await ranker.score(text, text)) + Similarity.cosine(new Float32Array(1), new Float32Array(1));
  const part = first === undefined ? '' : `${first.label} ${first.text} ${String(first.end - first.start)}`;
  return `${part} ${String(best.length + alike.length + score)}`;
}

export async function told(prompt: string, signal: AbortSignal): Promise<string> {
  const model = await Storyteller.load();
  const options: SeedOptions = { seed: 3n, signal };
  const text: GeneratedText = model.generate(prompt, options);
  let told = '';
  for await (const part of text) told += part;
  return told;
}

export function Component({ picture }: { readonly picture: Picture }): string {
  const { model, state } = useClassifier();
  const detector = useDetector();
  if (state === 'ready') void model.classify(picture);
  const found: readonly Detection[] = detector.model?.detectSync(picture) ?? [];
  const boxes: Box[] = found.map(({ box }) => box);
  return `${state} ${String(boxes.length)}`;
}
"""


def test_programs_that_misuse_a_contract_do_not_compile_and_the_sources_hold_to_all_rules(tmp_path: Path) -> None:
    """The README's examples are among the programs that compile."""
    case = REACT_NATIVE_CASES["contracts"]
    modules = node.link(node.project("react_native"), tmp_path)
    installed = modules / "react-native-contracts"
    write_sources(code_of(case.sources()), installed)
    texts = {str(path): text for path, text in case.texts().items()}
    (installed / "package.json").write_text(texts["package.json"], encoding="utf-8")
    source, wrong = tmp_path / "src", tmp_path / "wrong"
    write_sources(code_of(case.sources()), source / "package")
    (source / "package" / "lib").rename(tmp_path / "lib")
    wrong.mkdir()
    for folder in (tmp_path, source):
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for number, (kind, text) in enumerate(FENCE.findall(texts["README.md"])):
        (source / f"example{number}.{kind}").write_text(text, encoding="utf-8")
    (source / "right.ts").write_text(RIGHT, encoding="utf-8")
    for number, (program, _) in enumerate(WRONG.values()):
        (wrong / f"wrong{number}.ts").write_text(f"{HEAD}{program}\n", encoding="utf-8")
    options = {"jsx": "react-native", "rootDir": ".", "lib": ["es2022"], "types": ["node"], "noUnusedLocals": False}
    options |= {"isolatedDeclarations": False, "declaration": False, **RESOLUTIONS["of-an-app"]}

    found = complaints(tsc(tmp_path, options, include=["src", "wrong"]))
    assert not [line for line in found if not line.startswith("wrong/")]
    for number, (what, (program, code)) in enumerate(WRONG.items()):
        errors = [line for line in found if line.startswith(f"wrong/wrong{number}.ts")]
        assert [line.partition(": error ")[2][:6] for line in errors] == [code], f"{what}: {program}\n{errors}"
    printed = source / "package" / "src"
    linted = (*sorted(source.glob("*.ts*")), printed / "models", printed / "runtime" / "typed")
    done = eslint(tmp_path, *(str(path.relative_to(tmp_path)) for path in linted))
    assert (done.returncode, done.output) == (0, "")
