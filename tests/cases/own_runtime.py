"""Runtimes of a user's own, whole, reduced and renamed, and projects that name them."""

import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import pytest

from packager import config as configuration
from packager.compile.operators import operator_config
from packager.config import Config
from packager.core.console import Console
from packager.files.store import Store
from packager.files.zips import write_zip
from packager.workflows import build
from packager.workflows.planning import plan_all
from packager.workflows.requested import BuildRequest
from tests.cases.caches import OWN, empty_cache
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.toolchain import jvm
from tests.unit.test_runtime_library import contents, write_aar

GEMM = 'ai.onnx;13;Gemm{"inputs": {"0": ["float"]}}\n'
"""all that the model `linear` needs"""

EVERYTHING = "!no_ops_specified_means_all_ops_are_required\n"

POM = "{http://maven.apache.org/POM/4.0.0}"

WORD = "acmecs9fjme"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and a runtime in every accepted form."""
    folder = tmp_path_factory.mktemp("project")
    saved(folder / "model.onnx", linear())
    write_aar(folder / "ort.aar", contents(), config=GEMM)
    write_aar(folder / "full.aar", contents(), config=EVERYTHING)
    write_aar(folder / "bare.aar", contents(), config="")
    write_aar(folder / "no-abi.aar", {name: text for name, text in contents().items() if not name.endswith(".so")})
    (folder / "cut.zip").write_text("PK, and no more", encoding="utf-8")
    write_zip(folder / "empty.zip", {PurePosixPath("README.md"): b"nothing here"})
    (folder / "out").mkdir()
    write_aar(folder / "out" / "made.aar", contents(), config=GEMM)
    write_zip(folder / "out.zip", {PurePosixPath("out", path.name): path for path in (folder / "out").iterdir()})
    return folder


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this file's tests, apart from the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def project(
    folder: Path, runtime: dict[str, object], *, package: str = "vision", model: str = "linear", **android: object
) -> Config:
    document: dict[str, Any] = {
        "package": {"name": package},
        "model": {model: {"path": "model.onnx"}},
        "runtime": runtime,
        "target": {"android": android},
    }
    return configuration.from_document(document, folder, targets=("android",), settings=())


def dependencies(pom: Path) -> list[str]:
    return [
        ":".join(each.findtext(f"{POM}{part}", "") for part in ("groupId", "artifactId", "version"))
        for each in ElementTree.parse(pom).getroot().iter(f"{POM}dependency")
    ]


# With ONNX Runtime's own Android library

NET = onnx_model(
    "(float[batch, 3, 16, 16] x) => (float[batch, 4] scores) { c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, k) "
    "r = Relu (c) p = GlobalAveragePool (r) f = Flatten (p) scores = Gemm (f, g) }",
    weights={"k": weight(8, 3, 3, 3), "g": weight(8, 4, seed=1)},
)
"""A net that XNNPACK takes."""


@pytest.fixture(scope="module")
def reduced(onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with NET and ONNX Runtime's Android library, declared to have only this model's operators."""
    folder = tmp_path_factory.mktemp("reduced")
    with zipfile.ZipFile(onnxruntime_android.aar) as archive:
        wanted = [
            name for name in archive.namelist() if not name.startswith(("jni/", "headers/")) or "x86_64/lib" in name
        ]
        entries = {PurePosixPath(name): archive.read(name) for name in wanted if not name.endswith("/")}
    write_zip(folder / "ort.aar", entries)
    saved(folder / "model.onnx", NET)
    config = project(folder, {}, package="models", model="net", format="ort", providers=["xnnpack"])
    plans = plan_all(config, ("android",), Store(folder / "store"), Console(quiet=True)).plans
    operators = [each.operators for each in plans[0].files]
    (folder / "ort.config").write_text(operator_config(operators), encoding="utf-8")
    return folder


def built(folder: Path, out: Path, cache: Path, *, emit_project: bool = False, **runtime: object) -> dict[str, Any]:
    """Builds `folder` into `out` with its runtime and returns the manifest."""
    request = BuildRequest(targets=("android",), out=out, emit_project=emit_project)
    given = {"android": "ort.aar", **runtime}
    config = project(folder, given, package="models", model="net", providers=["xnnpack"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        build.build(config, request, Console(quiet=True))
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return manifest


@pytest.fixture(scope="module")
def renamed(kotlin_compiler: None, reduced: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of a package that brings the runtime along as `acme`."""
    out = tmp_path_factory.mktemp("renamed") / "dist"
    built(reduced, out, OWN.parent, emit_project=True, name="acme")
    return out
