"""TypeScript of npm packages: what ships as JavaScript is what the compiler makes of it, wrong programs do not compile,
and models load, run and test themselves under Node on a real ONNX Runtime."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.tuned import Tuned
from packager.core.values import Choice, Compiled, ElementType, Package, Plan, Signature, Sources
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.vectors import ValuesRecipe, generated
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings
from tests import varied
from tests.golden.cases import LISTS, REACT_NATIVE_CASES, Case, Wrapped, plan, specs
from tests.onnx_text import compiled
from tests.toolchain import models, node, typescript
from tests.toolchain.forks import forked
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import compile_all, complaints, complaints_of_6
from tests.toolchain.typescript import Workplace

__all__ = ["forked"]

pytestmark = [pytest.mark.by_content(recorded=True), pytest.mark.react_native]

PROGRAMS = Path(__file__).parent / "toolchain" / "react_native" / "typescript"
PACKAGE = Package(name="every-type", version="1.0.0", license="")
OPTIONS = {"xnnpack": {"intra_op_num_threads": "2", "own": "0"}}
TUNED = {
    "SM8650": {"every_type": Tuned(threads=3, provider_options=OPTIONS)},
    "MT6765": {"every_type": Tuned(providers=("cpu",), threads=2)},
}
TUNED_ON_IOS = {"iPhone17,1": {"every_type": Tuned(providers=("cpu",), threads=1)}}
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
    "another constant size": (
        "await model.run({ x: { data: x, shape: [1, 4, 224, 224] } });",
        "TS2322",
    ),
    "memory of another type": (
        "await model.run({ x }, { into: { logits: { data: new Uint8Array(4), shape: [1, 4] } } });",
        "TS2322",
    ),
    "memory without the shape that is open": (
        "await model.run({ x }, { into: { logits: new Float32Array(4) } });",
        "TS2739",
    ),
    "an output that there is not": ("(await model.run({ x })).scores;", "TS2339"),
    "an output as another type": (
        "const found: Uint8Array = (await model.run({ x })).logits.data;",
        "TS2322",
    ),
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


@pytest.mark.parametrize("root", TARGETS)
def test_javascript_and_types_that_packages_share_are_what_the_compiler_makes(
    root: str, places: Mapping[str, tuple[Workplace, Finished]]
) -> None:
    """Those of all packages beside those of one target, as they ship."""
    place, done = places[root]
    assert done.returncode == 0, done.output
    for each, made in typescript.shared_output(root, place).items():
        kept = typescript.kept(each)
        assert kept
        assert set(kept) == set(made)
        stale = [path for path in made if made[path] != kept[path]]
        assert not stale, f"{stale}: python -m tests.toolchain.typescript --write"


def test_rendered_javascript_and_types_are_what_the_compiler_makes_of_the_sources(
    rendered: Path, places: Mapping[str, tuple[Workplace, Finished]]
) -> None:
    place, done = places["rendered"]

    assert done.returncode == 0, done.output
    for name in all_cases():
        shipped = typescript.texts(rendered / name / "lib")
        made = typescript.texts(place.lib / name)
        assert set(shipped) == set(made)
        for path, text in made.items():
            assert shipped[path] == text, f"{name}: {path}"


def test_programs_that_misuse_a_model_do_not_compile(places: Mapping[str, tuple[Workplace, Finished]]) -> None:
    _, done = places["misused"]

    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith(("src/right.ts", "src/package"))], done.output
    for number, (what, (program, code)) in enumerate(WRONG.items()):
        errors = [line for line in lines if line.startswith(f"src/wrong{number}.ts")]
        assert [line.partition(": error ")[2][:6] for line in errors] == [code], f"{what}: {program}\n{errors}"


@pytest.mark.nightly("the same by TypeScript 7")
@pytest.mark.parametrize("name", [*TARGETS, "rendered", "misused"])
def test_typescript_6_complains_of_the_same(places: Mapping[str, tuple[Workplace, Finished]], name: str) -> None:
    place, done = places[name]
    assert complaints_of_6(place.config) == complaints(done)


@pytest.fixture(scope="module")
def every_type(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of a model that transposes an input of every element type, with its files and golden vectors."""
    folder = tmp_path_factory.mktemp("every_type")
    file = compiled(folder, onnx.load(models.every_type(folder)), "every_type")
    case = wrapped(file, folder)
    place = folder / "package"
    write_sources(case.sources(), place)
    node.link(node.project("react_native"), place)
    return place


def wrapped(file: Compiled, folder: Path) -> Wrapped:
    """Packages with one file, which is for XNNPACK or CoreML as well as for the CPU."""
    plans = {
        name: (
            Plan(
                model=file.variant.model,
                target=name,
                environment=Runtime.NAME,
                choices=(chosen(provider, file), chosen("cpu", file)),
            ),
        )
        for name, provider in (("android", "xnnpack"), ("ios", "coreml"))
    }
    exact = ParitySettings(tolerance=1e-3)
    golden = golden_vectors(plans["android"], ParityTable(), lambda _: exact, Store(folder / "store"), Console())
    report = REACT_NATIVE_CASES["cpu_alone"].android.report
    return Wrapped(
        target=ReactNative(),
        android=Case(
            package=PACKAGE, target=Android(tuned=TUNED), plans=plans["android"], report=report, golden=golden
        ),
        ios=Case(package=PACKAGE, target=Ios(tuned=TUNED_ON_IOS), plans=plans["ios"], report=report, golden=golden),
    )


def chosen(provider: str, file: Compiled) -> Choice:
    return Choice(provider=provider, compiled=file, reason="")


@pytest.mark.parametrize("program", ["runs", "loading", "selftest", "observer", "frames", "policies", "tuned"])
def test_models_behave_under_node_on_a_real_onnxruntime(program: str, every_type: Path) -> None:
    done = run_tests(PROGRAMS / f"{program}.test.mjs", every_type)

    assert done.returncode == 0, done.output
    assert "# fail 0" in done.stdout
    assert "# pass 0" not in done.stdout


def test_a_chip_opens_the_variant_that_was_the_fastest_on_it(tmp_path: Path) -> None:
    fastest = Tuned(variant=varied.VARIANT)
    android = Android(providers=("xnnpack",), tuned={"SM8650": {"chain": fastest, "plain": fastest}})
    ios = Ios(providers=("coreml",), tuned={"iPhone17,1": {"chain": fastest}})
    on_android, on_ios = varied.cases([android, ios], tmp_path)
    package = tmp_path / "package"
    write_sources(Wrapped(target=ReactNative(), android=on_android, ios=on_ios).sources(), package)
    node.link(node.project("react_native"), package)

    done = run_tests(PROGRAMS / "varied.test.mjs", package, module="Models")

    assert done.returncode == 0, done.output
    assert "# pass 5" in done.stdout


def run_tests(program: Path, package: Path, module: str = "EveryType") -> Finished:
    return node.run(
        ["--test-reporter=tap", program],
        cwd=package,
        environment={"PACKAGE": str(package), "MODULE": module, "RECIPES": json.dumps(list(recipes()))},
    )


def recipes() -> Iterator[dict[str, object]]:
    """Recipes, and Python's values for them."""
    for element in ElementType:
        if element in (ElementType.STRING, ElementType.BFLOAT16, ElementType.OTHER):
            continue
        for low, high, row in ((-1, 1, 0), (0, 2, 3), (3, 100, 0)):
            for seed in (0, 2**64 - 1, 0x0123456789ABCDEF):
                yield recipe_case(
                    ValuesRecipe(element=element, shape=(7, 5), seed=seed, low=max(low, 0), high=high, row=row)
                )


def recipe_case(recipe: ValuesRecipe) -> dict[str, object]:
    values = generated.values(recipe)
    names = {ElementType.FLOAT: "float32", ElementType.DOUBLE: "float64"}
    return {
        "type": names.get(recipe.element, str(recipe.element)),
        "count": values.size,
        "recipe": base64.b64encode(generated.stored(recipe).tobytes()).decode(),
        "values": base64.b64encode(values.tobytes()).decode(),
    }
