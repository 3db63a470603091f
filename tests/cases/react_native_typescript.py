"""TypeScript of npm packages, right and wrong, and what the compiler says of it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.tuned import Tuned
from packager.core.values import ElementType, Plan, Signature, Sources
from packager.render.templates import write_sources
from tests.cases import varied
from tests.golden.cases import LISTS, REACT_NATIVE_CASES, Case, Wrapped, plan, specs
from tests.toolchain import typescript
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.typescript import Workplace

HOSTILE = (
    "__proto__",
    "constructor",
    "default",
    "*/ throw 1; /*",
    "`${process.exit()}`",
    'it\'s "quoted" \\',
    "line\nbreak\u2028separator",
    "{@link Nothing} <b>日本 🙂</b>",
    "$&",
)

CODE = ("src", "lib")

HEAD = """\
import { Classifier, ModelError } from './package/index.js';
const model = await Classifier.load();
const x = new Float32Array(4);
const signal = new AbortController().signal;
void [ModelError, model, x, signal];
"""

WRONG = {
    "other numbers": ("await model.run({ x: new Int32Array(4) });", "TS2322"),
    "an array of numbers": ("await model.run({ x: [1, 2] });", "TS2322"),
    "an input that is missing": ("await model.run({});", "TS2741"),
    "an input that there is not": ("await model.run({ x, more: x });", "TS2353"),
    "another shape": ("await model.run({ x: { data: x, shape: [1, 3, 8] } });", "TS2322"),
    "another constant size": ("await model.run({ x: { data: x, shape: [1, 4, 224, 224] } });", "TS2322"),
    "memory of another type": (
        "await model.run({ x }, { into: { logits: { data: new Uint8Array(4), shape: [1, 4] } } });",
        "TS2322",
    ),
    "memory without the shape that is open": (
        "await model.run({ x }, { into: { logits: new Float32Array(4) } });",
        "TS2739",
    ),
    "an output that there is not": ("(await model.run({ x })).scores;", "TS2339"),
    "an output as another type": ("const found: Uint8Array = (await model.run({ x })).logits.data;", "TS2322"),
    "memory of strings": ("import('./package/index.js').then(({ allocate }) => allocate('string', 3));", "TS2345"),
    "memory as another array": (
        "const bytes: Uint8Array = (await import('./package/index.js')).allocate('float32', 3);",
        "TS2322",
    ),
    "a dimension that there is not": ("(await model.run({ x })).logits.shape[4];", "TS2493"),
    "a signal for a run that ends at once": ("model.runSync({ x }, { signal });", "TS2353"),
    "a provider that there is not": ("await Classifier.load({ providers: ['gpu'] });", "TS2322"),
    "a source that there is not": ("await Classifier.load({ source: { uri: 'https://x/' } });", "TS2353"),
    "writing to what a model gave": ("model.info.name = 'other';", "TS2540"),
    "frames that are no stream": ("model.frames([{ x }]);", "TS2345"),
    "frames of something else": ("model.frames((async function* () { yield x; })());", "TS2345"),
    "a constant of a shape": ("const channels: 4 = Classifier.inputs.x.shape[1];", "TS2322"),
    "a code that errors have not": (
        "if (new ModelError('missing', '').code === 'gone') await model.selfTest();",
        "TS2367",
    ),
}

RIGHT = """\
import { allocate, Classifier, useClassifier, ModelError } from './package/index.js';
import type { ClassifierOutputs } from './package/index.js';

const [, channels, height, width] = Classifier.inputs.x.shape;
const area: 50176 | number = height * width;
const x: Float32Array = allocate('float32', channels * area);
export async function main(signal: AbortSignal): Promise<Float32Array> {
  const model: Classifier = await Classifier.load({ providers: ['nnapi', 'coreml', 'cpu'], signal, threads: 2 });
  const outputs: ClassifierOutputs = await model.run({ x }, { signal });
  model.runSync({ x: { data: x, shape: [1, 3, 224, 224] } }, { into: {} });
  for await (const { logits } of model.frames((async function* () { yield { x }; })())) void logits.data;
  const { passed } = await model.selfTest();
  if (!passed) throw new ModelError('runtime', String(await model.selfTest()));
  model.dispose();
  return outputs.logits.data;
}
export function Component(): string {
  const { state, model, error } = useClassifier({ source: { url: 'https://models.example/' } });
  if (state === 'ready') return model.info.name;
  return state === 'error' ? error.code : state;
}
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources and lib/ of each golden package."""
    folder = tmp_path_factory.mktemp("rendered")
    for name, case in all_cases().items():
        write_sources(code_of(case.sources()), folder / name)
    return folder


def all_cases() -> dict[str, Wrapped]:
    return {
        **REACT_NATIVE_CASES,
        "hostile": hostile(),
        "lists": without_golden(LISTS),
        "tuned": tuned(),
        **varied_cases(),
    }


def varied_cases() -> dict[str, Wrapped]:
    """Packages with variants by chip: of plain models, of typed ones, and signed."""
    return {f"varied_{name}": varied_like(REACT_NATIVE_CASES[name]) for name in ("cpu_alone", "contracts", "trusted")}


def tuned() -> Wrapped:
    """A package whose first model has settings for chips."""
    known = REACT_NATIVE_CASES["contracts"]
    name = known.android.plans[0].model.name
    settings = Tuned(providers=("cpu",), threads=2, provider_options={"xnnpack": {"a.b": "it's"}})
    chips = {"SM8650": {name: settings}, "Tensor G3": {name: Tuned(threads=1)}}
    android, ios = (
        replace(case, target=replace(case.target, providers=("xnnpack",), tuned=chips))
        for case in (known.android, known.ios)
    )
    return replace(known, android=android, ios=ios)


def varied_like(known: Wrapped) -> Wrapped:
    """The same with models that a chip opens in another variant."""
    made = [_varied_like(case) for case in (known.android, known.ios)]
    return replace(known, android=made[0], ios=made[1])


def _varied_like(case: Case) -> Case:
    chips = {"SM8650": {plan.model.name: Tuned(variant=varied.VARIANT) for plan in case.plans}}
    plans = []
    for each in case.plans:
        special = replace(each.choices[-1], soc_models=("SM8650",), variant=varied.VARIANT)
        plans.append(replace(each, choices=(*each.choices, special)))
    return replace(case, target=replace(case.target, tuned=chips), plans=tuple(plans))


def hostile() -> Wrapped:
    """Names with a meaning in TypeScript, JavaScript, or a comment."""
    tensors = [(name, ElementType.FLOAT, (1, None)) for name in HOSTILE]
    signature = Signature(inputs=specs("input", *tensors), outputs=specs("output", *tensors))
    return without_golden((plan("default", signature, source="*/ `'\"\\.onnx"),))


def without_golden(plans: tuple[Plan, ...]) -> Wrapped:
    """A package of `plans`, which have no golden vectors."""
    known = REACT_NATIVE_CASES["cpu_alone"]
    return replace(known, android=replace(known.android, plans=plans), ios=replace(known.ios, plans=plans, golden={}))


def code_of(sources: Sources) -> Sources:
    """A package's TypeScript, and the compiler's output for it."""
    return Sources(
        texts={path: text for path, text in sources.texts.items() if path.parts[0] in CODE},
        files={path: file for path, file in sources.files.items() if path.parts[0] in CODE},
    )


TARGETS = [name for name in typescript.ROOTS if name != typescript.SHARED]
"""templates with code that packages of one target share"""


@pytest.fixture(scope="module")
def places(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Workplace, Finished]]:
    """The shared code of each target's packages, all golden packages, and programs that misuse a model, compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    found = {root: typescript.shared_place(root, folder / root) for root in TARGETS}
    found["rendered"] = typescript.workplace(
        {name: rendered / name / "src" for name in all_cases()}, folder / "rendered"
    )
    found["misused"] = with_wrong_programs(rendered / "image_classifier" / "src", folder / "misused")
    said = compile_all([place.config for place in found.values()])
    return {name: (place, done) for (name, place), done in zip(found.items(), said, strict=True)}


def with_wrong_programs(package: Path, folder: Path) -> Workplace:
    place = typescript.workplace({"package": package}, folder)
    for number, (program, _) in enumerate(WRONG.values()):
        (place.src / f"wrong{number}.ts").write_text(f"{HEAD}{program}\n", encoding="utf-8")
    (place.src / "right.ts").write_text(RIGHT, encoding="utf-8")
    place.configure({"noEmit": True, "isolatedDeclarations": False, "noUnusedLocals": False})
    return place
