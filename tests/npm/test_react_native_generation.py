"""Generated texts in TypeScript are those of Python; ONNX Runtime runs the models under Node."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from tests.golden.cases import Case, Wrapped
from tests.npm.test_react_native_typescript import PROGRAMS
from tests.toolchain import generation_models, node
from tests.toolchain.generation_models import PROMPT, SEEDS

PACKAGE = Package(name="tales", version="1.0.0", license="")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of the models, with their files and the texts of Python."""
    folder = tmp_path_factory.mktemp("generation")
    (folder / "models").mkdir()
    made = list(generation_models.made(folder / "models", Store(cache_folder() / "store")))
    scribe = generation_models.heard(folder / "models", Store(cache_folder() / "store"))
    plans = (*(each.plan for each in made), scribe.plan)
    case = Wrapped(
        target=ReactNative(),
        android=Case(package=PACKAGE, target=Android(providers=()), plans=plans, report=Report(parities=()), golden={}),
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
    teller, sampler = (each.steps for each in made)
    texts = {"text": teller.text(PROMPT), "nothing": teller.text(""), "dog": teller.text("a dog"), "heard": scribe.text}
    texts |= {f"seed {seed}": sampler.text("a dog", seed) for seed in SEEDS}
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    return folder / "package"


def test_texts_are_those_of_python(package: Path) -> None:
    done = node.run(
        ["--test-reporter=tap", "--test", PROGRAMS / "generation.test.mjs"],
        cwd=package,
        environment={"PACKAGE": str(package), "MODULE": "Tales", "TEXTS": str(package.parent / "texts.json")},
    )

    assert done.returncode == 0, done.output
    assert "# fail 0" in done.stdout
    assert "# pass 7" in done.stdout
