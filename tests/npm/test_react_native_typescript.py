"""TypeScript of npm packages: what ships as JavaScript is what the compiler makes of it, wrong programs do not compile,
and models load, run and test themselves under Node on a real ONNX Runtime."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
import pytest

from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.tuned import Tuned
from packager.core.values import Choice, Compiled, ElementType, Package, Plan
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.vectors import ValuesRecipe, generated
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings
from tests.cases import varied
from tests.cases.onnx_text import compiled
from tests.cases.react_native_typescript import TARGETS, WRONG, all_cases, places, rendered
from tests.golden.cases import REACT_NATIVE_CASES, Case, Wrapped
from tests.toolchain import models, node, typescript
from tests.toolchain.node import Finished
from tests.toolchain.typescript import Workplace

__all__ = ["places", "rendered"]


PROGRAMS = Path(__file__).parents[1] / "toolchain" / "react_native" / "typescript"

PACKAGE = Package(name="every-type", version="1.0.0", license="")

OPTIONS = {"xnnpack": {"intra_op_num_threads": "2", "own": "0"}}

TUNED = {
    "SM8650": {"every_type": Tuned(threads=3, provider_options=OPTIONS)},
    "MT6765": {"every_type": Tuned(providers=("cpu",), threads=2)},
}

TUNED_ON_IOS = {"iPhone17,1": {"every_type": Tuned(providers=("cpu",), threads=1)}}


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


@pytest.mark.parametrize("program", ["runs", "loading", "selftest", "observer", "frames", "policies", "proof", "tuned"])
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
