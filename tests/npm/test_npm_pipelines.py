"""Pipelines in TypeScript: the same items as in Python, of pictures in every orientation; and how they end."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.node import Node
from packager.targets.react_native import ReactNative
from packager.targets.web import Web
from tests.cases import pipeline_cases
from tests.golden.cases import Case, Paged, Wheel, Wrapped
from tests.npm.test_react_native_typescript import PROGRAMS
from tests.toolchain import node, typed_models

ENTRIES = {
    "react_native": {"MODULE": "Scanner", "ENTRY": "index.web.js"},
    "web": {"ENTRY": "index.js"},
    "node": {"ENTRY": "api.js"},
}


@pytest.fixture(scope="module", params=ENTRIES)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Output of one run of the program."""
    folder = tmp_path_factory.mktemp("scanner")
    used = {each.model for each in typed_models.SCANNER.stages}
    known = typed_models.plans(folder, Store(cache_folder() / "store"))
    plans = tuple(each for each in known if each.model.name in used)
    package = Package(name="scanner", version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    case: Paged | Wheel | Wrapped
    if request.param == "web":
        case = Paged(package=package, target=Web(), plans=tuple(replace(each, target="web") for each in plans))
    elif request.param == "node":
        case = Wheel(package=package, target=Node(), plans=tuple(replace(each, target="node") for each in plans))
    else:
        apple = tuple(replace(each, target="ios") for each in plans)
        nothing = Report(parities=())
        case = Wrapped(
            target=ReactNative(),
            android=Case(package=package, target=Android(providers=()), plans=plans, report=nothing),
            ios=Case(package=package, target=Ios(providers=()), plans=apple, report=nothing),
        )
    write_sources(case.sources(), folder / "package")
    node.link(node.project("react_native"), folder / "package")
    given = {"small": pipeline_cases.SMALL.tolist(), "boxes": pipeline_cases.CUTS}
    (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
    [last] = (folder / "package" / "models").rglob("finder.*")
    done = node.run(
        [PROGRAMS / "pipeline.mjs", folder / "given.json", last],
        cwd=folder / "package",
        environment={"PACKAGE": str(folder / "package"), **ENTRIES[request.param]},
    )
    assert done.returncode == 0, done.output
    return {**json.loads(done.stdout), "wanted": pipeline_cases.all_scanned(plans)}


def test_a_pipeline_gives_the_items_of_python(said: Mapping[str, Any]) -> None:
    assert said["items"] == said["wanted"]


def test_boxes_are_cut_out_as_in_python(said: Mapping[str, Any]) -> None:
    assert said["regions"] == pipeline_cases.cut()


def test_a_pipeline_ends_early(said: Mapping[str, Any]) -> None:
    assert said["nineRows"] == ["runtime: pipeline `scan`: 9 boxes, and it takes 8 at most", ["detector"]]
    ended, runs = said["cancelled"]
    assert (ended.partition(":")[0], runs) == ("cancelled", ["detector", "probe", "finder"])
    assert said["runAgain"] == 6
    assert said["refused"].startswith("bad-input: picture `image` has width undefined")


def test_a_pipeline_disposes_of_its_models_the_last_first(said: Mapping[str, Any]) -> None:
    assert said["disposed"] == [["finder", "probe", "detector"], "disposed: Detector was disposed of"]
    for name, code in (("notLoaded", "cancelled"), ("missing", "missing")):
        failure, released = said[name]
        assert (failure.partition(":")[0], released) == (code, ["probe", "detector"]), failure
