"""Changes of a model, each as a model of its own in one package: compilers then see all of them in one run.

Apps are written for the models `given` and `typed`; the same app with another class's name meets a changed model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath

from packager.core.contract import Contract, TensorInput
from packager.core.findings import Report
from packager.core.values import Dimension, ElementType, Package, Plan, Signature, Sources
from packager.description import PackageApi
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from tests.golden.cases import (
    CLASSES,
    EMBEDDING,
    IMAGE,
    LENGTHS,
    PIXELS,
    SCORES,
    VECTOR,
    Case,
    Published,
    Wrapped,
    api_of,
    choice,
    on_ios,
    plan,
    specs,
    typed,
)

PACKAGE = Package(name="changes", version="1.0.0", license="MIT")
F, U8, I64 = ElementType.FLOAT, ElementType.UINT8, ElementType.INT64
OPEN: tuple[Dimension, ...] = ("batch", 3, 8)
MORE = specs("output", ("logits.scores", F, (5,)))


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A model that has changed, and whether apps in each language still compile."""

    of: str
    """the model that it was"""
    plan: Plan
    kotlin: bool
    typescript: bool
    swift: bool
    dart: bool

    @property
    def name(self) -> str:
        return self.plan.model.name


def tensors(name: str, inputs: tuple[object, ...], outputs: tuple[object, ...]) -> Plan:
    return plan(name, Signature(inputs=specs("input", *inputs), outputs=specs("output", *outputs)))  # type: ignore[arg-type]


X, Y = ("x", F, OPEN), ("logits", F, ("batch", 4))
TENSORS = tensors("given", (X,), (Y,))
TYPED = typed("typed", PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(CLASSES,)))


def classifier(name: str, **values: object) -> Plan:
    contract = Contract(inputs=(IMAGE,), outputs=(replace(CLASSES, **values),))  # type: ignore[arg-type]
    return typed(name, PIXELS, MORE if "scores" in values else SCORES, contract)


WITH_LENGTHS = Contract(inputs=(IMAGE, TensorInput(identifier="lengths", spec=LENGTHS[0])), outputs=(CLASSES,))
LABELS = CLASSES.labels
CHANGED = (
    Changed(of="given", plan=tensors("unchanged", (X,), (Y,)), kotlin=True, typescript=True, swift=True, dart=True),
    Changed(
        of="given",
        plan=tensors("output-renamed", (X,), (("scores", F, ("batch", 4)),)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="given",
        plan=tensors("input-renamed", (("pixels", F, OPEN),), (Y,)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="given",
        plan=tensors("input-bytes", (("x", U8, OPEN),), (Y,)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="given",
        plan=tensors("output-integers", (X,), (("logits", I64, ("batch", 4)),)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="given",
        plan=tensors("input-added", (X, ("mask", F, (1, 8))), (Y,)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="given",
        plan=tensors("output-added", (X,), (Y, ("feature", F, (1, 8)))),
        kotlin=True,
        typescript=True,
        swift=True,
        dart=True,
    ),
    Changed(
        of="given",
        plan=tensors("batch-fixed", (("x", F, (1, 3, 8)),), (("logits", F, (1, 4)),)),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=True,
    ),
    Changed(
        of="typed",
        plan=classifier("label-added", scores=MORE[0], labels=(*LABELS, "fish")),
        kotlin=True,
        typescript=False,
        swift=True,
        dart=True,
    ),
    Changed(
        of="typed",
        plan=classifier("labels-moved", labels=LABELS[::-1]),
        kotlin=True,
        typescript=True,
        swift=True,
        dart=True,
    ),
    Changed(of="typed", plan=classifier("fewer-at-once", top_k=2), kotlin=True, typescript=True, swift=True, dart=True),
    Changed(
        of="typed",
        plan=typed("tensor-beside", (*PIXELS, *LENGTHS), SCORES, WITH_LENGTHS),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
    Changed(
        of="typed",
        plan=typed("embeds", PIXELS, VECTOR, Contract(inputs=(IMAGE,), outputs=(EMBEDDING,))),
        kotlin=False,
        typescript=False,
        swift=False,
        dart=False,
    ),
)
PLANS = (TENSORS, TYPED, *(each.plan for each in CHANGED))


def _as_before(changed: Changed) -> Plan:
    """The model that it was, under the name of the changed one."""
    old = next(each for each in (TENSORS, TYPED) if each.model.name == changed.of)
    return replace(old, model=replace(old.model, name=changed.name))


def _on_android(plans: tuple[Plan, ...]) -> Case:
    return Case(package=PACKAGE, target=Android(providers=()), plans=plans, report=Report(parities=()))


def _on_ios(plans: tuple[Plan, ...]) -> Case:
    cases = tuple(on_ios(each, choice("cpu")) for each in plans)
    return replace(_on_android(plans), target=Ios(providers=()), plans=cases)


ANDROID, IOS = _on_android(PLANS), _on_ios(PLANS)
REACT_NATIVE = Wrapped(target=ReactNative(), android=ANDROID, ios=IOS)
FLUTTER = Published(target=Flutter(), android=ANDROID, ios=IOS)
BEFORE = (TENSORS, TYPED, *map(_as_before, CHANGED))
"""The release before: tools that compare two packages find each change under the name of its model."""
ANDROID_BEFORE, IOS_BEFORE = _on_android(BEFORE), _on_ios(BEFORE)


def class_name(model: str) -> str:
    return "".join(part.capitalize() for part in model.split("-"))


def kotlin_texts(case: Case = ANDROID) -> dict[str, str]:
    root = PurePosixPath("src/main/kotlin")
    return {path.relative_to(root).as_posix(): text for path, text in case.texts().items() if path.suffix == ".kt"}


@cache
def changed(language: str) -> dict[str, PackageApi]:
    return each_alone(package(language, PLANS))


def package(language: str, plans: tuple[Plan, ...]) -> Case | Wrapped | Published:
    android, ios = _on_android(plans), _on_ios(plans)
    found: dict[str, Case | Wrapped | Published] = {
        "Dart": replace(FLUTTER, android=android, ios=ios),
        "Kotlin": android,
        "Swift": ios,
        "TypeScript": replace(REACT_NATIVE, android=android, ios=ios),
    }
    return found[language]


def each_alone(made: Case | Wrapped | Published) -> dict[str, PackageApi]:
    """By model, the package as if the model were its only one, under the name `Model`."""
    api = api_of(made)
    return {each.name: replace(api, models=(replace(each, name="model", class_name="Model"),)) for each in api.models}


def texts_of(sources: Sources) -> dict[str, str]:
    """Every text of a package by path, and the types or sources that are copied to it."""
    copied = {
        path.as_posix(): file.read_text(encoding="utf-8")
        for path, file in sources.files.items()
        if path.name.endswith((".d.ts", ".dart", ".py"))
    }
    return {**copied, **{path.as_posix(): text for path, text in sources.texts.items()}}


APPS_IN_KOTLIN: Mapping[str, str] = {
    "given": """
import java.nio.FloatBuffer
suspend fun useNAME(context: android.content.Context, x: FloatBuffer): FloatBuffer {
    val model: NAME = NAME.load(context)
    val output: NAME.Output = model.run(NAME.Input(x = x, batch = 2))
    return output.logits
}
""",
    "typed": """
import java.nio.FloatBuffer
suspend fun useNAME(context: android.content.Context, picture: Picture): FloatBuffer {
    val model: NAME = NAME.load(context)
    val found: List<Classification> = model.classify(picture) + model.classifyBlocking(picture, top = 2)
    println(found)
    return NAME.Output().logitsScores
}
""",
}
APPS_IN_DART: Mapping[str, str] = {
    "given": """
import 'dart:typed_data';
import 'package:changes/changes.dart';
Future<Float32List> useNAME(Float32List x) async {
  final NAME model = await NAME.load();
  final NAMEOutputs outputs = await model.run(NAMEInputs(x: TensorInput(x, shape: [2, 3, 8])));
  return outputs.logits.data;
}
""",
    "typed": """
import 'dart:typed_data';
import 'package:changes/changes.dart';
Future<List<Classification>> useNAME(Picture picture) async {
  final NAME model = await NAME.load();
  return model.classify(picture, top: 2, cancellation: Cancellation());
}
Float32List scoresOfNAME(NAMEOutputs outputs) => outputs.logitsScores.data;
""",
}
APPS_IN_SWIFT: Mapping[str, str] = {
    "given": """
public func useNAME(_ x: [Float]) async throws -> [Float] {
    let model: NAME = try await NAME.load()
    let output: NAME.Output = try await model.run(NAME.Input(x: x, batch: 2))
    return output.logits
}
""",
    "typed": """
public func useNAME(_ picture: Picture) async throws -> [Float] {
    let model: NAME = try await NAME.load()
    let found: [Classification] = try await model.classify(picture, top: 2)
    print(found)
    return NAME.Output().logitsScores
}
""",
}
APPS_IN_TYPESCRIPT: Mapping[str, str] = {
    "given": """
import { NAME, type NAMEOutputs } from './package/index.js';
export async function main(x: Float32Array, batch: number): Promise<Float32Array> {
  const model: NAME = await NAME.load();
  const { logits }: NAMEOutputs = await model.run({ x: { data: x, shape: [batch, 3, 8] as const } });
  return logits.data;
}
""",
    "typed": """
import { NAME, type Classification, type NAMEOutputs, type Picture } from './package/index.js';
export async function main(picture: Picture): Promise<readonly Classification[]> {
  const model = await NAME.load();
  const found: readonly Classification[] = await model.classify(picture, { top: 2 });
  return found;
}
export function scores(outputs: NAMEOutputs): readonly [4] {
  return outputs.logitsScores.shape;
}
""",
}


def app(apps: Mapping[str, str], of: str, model: str) -> str:
    return apps[of].replace("NAME", class_name(model))
