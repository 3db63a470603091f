"""Pipelines in Dart: the same items as in Python, of pictures in every orientation; and how they end."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from tests.cases import pipeline_cases
from tests.golden.cases import Case, Published
from tests.toolchain import typed_models
from tests.toolchain.dart import compile_kernel, configured_package, dart

PROGRAM = Path(__file__).parents[1] / "toolchain" / "dart_programs" / "pipeline.dart"
SAID = re.compile(r"^([a-z0-9 ]+) ([\[\d].*|true)$", re.MULTILINE)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Output of one run of the program."""
    folder = tmp_path_factory.mktemp("scanner")
    used = {each.model for each in typed_models.SCANNER.stages}
    known = typed_models.plans(folder, Store(cache_folder() / "store"))
    package = Package(name="scanner", version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    plans = tuple(each for each in known if each.model.name in used)
    android = Case(package=package, target=Android(providers=()), plans=plans, report=Report(parities=()), golden={})
    write_sources(Published(target=Flutter(), android=android).sources(), folder / "package")
    configured_package(folder / "package", "scanner")
    (folder / "package" / PROGRAM.name).write_bytes(PROGRAM.read_bytes())
    given = {"small": pipeline_cases.SMALL.tolist(), "boxes": pipeline_cases.CUTS}
    (folder / "package" / "given.json").write_text(json.dumps(given), encoding="utf-8")
    library = dart().onnxruntime()
    done = dart().run(
        ["dart", "--enable-asserts", compile_kernel(folder / "package", PROGRAM.name), library, "given.json"],
        cwd=folder / "package",
        mounts={str(library.parent): library.parent},
    )
    assert done.returncode == 0, done.output
    found = {name: json.loads(value) for name, value in SAID.findall(done.output)}
    assert found.get("done") is True, done.output
    return {**found, "wanted": pipeline_cases.all_scanned(plans)}


def test_a_pipeline_gives_the_items_of_python(said: Mapping[str, Any]) -> None:
    assert [said[f"{orientation}"] for orientation in range(1, 9)] == said["wanted"]


def test_boxes_are_cut_out_as_in_python(said: Mapping[str, Any]) -> None:
    assert [said["regions"], said["even regions"]] == pipeline_cases.cut()


def test_a_pipeline_ends_early(said: Mapping[str, Any]) -> None:
    assert said["nine rows"] == ["runtime: pipeline `scan`: 9 boxes, and it takes 8 at most", ["detector"]]
    ended, runs = said["cancelled"]
    assert (ended.partition(":")[0], runs) == ("cancelled", ["detector", "probe", "finder"])
    assert said["run again"] == 6


def test_a_pipeline_disposes_of_its_models_the_last_first(said: Mapping[str, Any]) -> None:
    assert said["disposed"] == [["finder", "probe", "detector"], "disposed: the model was disposed of"]
    failure, released = said["not loaded"]
    assert (failure.partition(":")[0], released) == ("missing", ["probe", "detector"])
