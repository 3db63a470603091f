"""A model with deceptive names, built for all targets: no text of a release has a raw character of them."""

import io
import json
import os
import plistlib
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest

from packager import description
from packager.core.characters import any_unseen, unseen
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.sbom import assert_valid
from tests.toolchain import command

NAMES = {"x": "im\u202eage\x01", "y": "out\u200b\u2028put", "h": "hidden\x1b[31m\ufeff", "n": "batch\u2066"}
PERSIAN, FAMILY = "می\u200cخو\u0627\u0647م", "👩\u200d👩\u200d👧"
PROJECT = f"""
[package]
name = "deceiving"
description = "{PERSIAN} {FAMILY} </description> ]]>"
license = "MIT & {PERSIAN}"
[model.hostile]
path = "hostile.onnx"
[model.friendly]
path = "friendly.onnx"
[model.friendly.outputs.y]
kind = "classes"
activation = "softmax"
labels = "labels.txt"
[target.android]
group = "com.example"
[target.ios]
[target.react_native]
"""
LABELS = "Friendly.y.labels.txt"
"""data of Android's classes: apps get labels as they are"""
ARCHIVES = {".zip", ".aar", ".jar", ".tgz"}
BINARIES = {
    ".class",
    ".kotlin_module",
    ".onnx",
    ".ort",
    ".so",
    ".bin",
    ".safetensors",
    ".tflite",
    ".weights",
    ".data",
    ".a",
    ".png",
    ".dex",
}


def hostile() -> bytes:
    model = onnx_model(
        "(float[n, 64] x) => (float[n, 8] y) { h = MatMul (x, w) y = Relu (h) }", weights={"w": weight(64, 8)}
    )
    graph = model.graph
    for number, node in enumerate(graph.node):
        node.name = f"node {number} {NAMES['h']}"
        node.doc_string = "a\x01b\u202e"
        node.input[:] = [NAMES.get(name, name) for name in node.input]
        node.output[:] = [NAMES.get(name, name) for name in node.output]
    for value in (*graph.input, *graph.output):
        value.name = NAMES[value.name]
        value.type.tensor_type.shape.dim[0].dim_param = NAMES["n"]
    graph.name, graph.doc_string, model.doc_string = "g\u202e", "graph\x01", "model\u2028\x01"
    model.producer_name, model.producer_version, model.domain = "made\u200b", "1\x01", "d\u2066"
    model.metadata_props.add(key="k\u202e", value="v\x01")
    return bytes(model.SerializeToString(deterministic=True))


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deceiving")
    (folder / "hostile.onnx").write_bytes(hostile())
    friendly = "(float[1, 64] x) => (float[1, 2] y) { y = MatMul (x, w) }"
    saved(folder / "friendly.onnx", onnx_model(friendly, weights={"w": weight(64, 2)}))
    (folder / "labels.txt").write_text(f"{PERSIAN}\n{FAMILY}\n", encoding="utf-8")
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    variables = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache"))}
    asked = ("build", "--emit-project", "--emit", "ort-package", "--emit", "spdx")
    done = command.run(*asked, folder=folder, environment=variables)
    assert done.returncode == 0, done.stderr
    assert unseen(done.stdout + done.stderr) == ""
    return folder / "dist"


def files(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The file, or the files inside if it is an archive."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".tgz":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                if member.isfile() and (opened := archive.extractfile(member)):
                    yield from files(f"{name}!{member.name}", opened.read())
    elif suffix in ARCHIVES:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.namelist():
                yield from files(f"{name}!{entry}", archive.read(entry))
    elif not name.endswith("/"):
        yield name, content


@pytest.fixture(scope="module")
def texts(dist: Path) -> dict[str, str]:
    """Every text of the release by its path."""
    shipped = (
        each
        for path in sorted(dist.rglob("*"))
        if path.is_file()
        for each in files(path.relative_to(dist).as_posix(), path.read_bytes())
    )
    return {name: content.decode() for name, content in shipped if PurePosixPath(name).suffix not in BINARIES}


def test_no_text_of_a_release_holds_a_character_that_nobody_sees(texts: dict[str, str]) -> None:
    suffixes = {PurePosixPath(name).suffix for name in texts}
    assert {".kt", ".swift", ".ts", ".js", ".pom", ".json", ".html", ".md", ".xml", ".kts"} <= suffixes
    shown = {name: text for name, text in texts.items() if PurePosixPath(name).name != LABELS}
    assert {name: found for name, text in shown.items() if (found := any_unseen().findall(text))} == {}


def test_json_xml_and_property_lists_can_be_read_and_say_what_was_said(texts: dict[str, str]) -> None:
    poms = 0
    for name, text in texts.items():
        if name.endswith((".json", ".module")):
            json.loads(text)
        elif name.endswith((".plist", ".xcprivacy")):
            plistlib.loads(text.encode())
        elif name.endswith((".pom", ".xml")):
            root = ElementTree.fromstring(text)
            described = root.findtext("{http://maven.apache.org/POM/4.0.0}description")
            if "deceiving" in PurePosixPath(name).name and described is not None:
                assert described == f"{PERSIAN} {FAMILY} </description> ]]>"
                poms += 1
    assert poms


def test_names_of_tensors_and_labels_are_what_they_were(texts: dict[str, str]) -> None:
    for suffix, written in {
        ".kt": r"im\u202eage\u0001",
        ".js": r"im\u202eage\u0001",
        ".swift": r"im\u{202E}age\u{1}",
    }.items():
        assert any(written in text for name, text in texts.items() if name.endswith(suffix)), suffix
    labels = [text for name, text in texts.items() if PurePosixPath(name).name == LABELS]
    assert labels
    assert all("\u0645\u06cc\u200c" in text for text in labels)


def test_bills_and_descriptions_are_inside_and_bills_beside_every_package(dist: Path) -> None:
    with zipfile.ZipFile(dist / "android/deceiving-1.0.0.aar") as archive:
        library = archive.read("META-INF/com.example.deceiving/sbom.cdx.json")
        apis = {"android": archive.read("META-INF/com.example.deceiving/api.json")}
    with zipfile.ZipFile(dist / "swift/deceiving-1.0.0.zip") as archive:
        package = archive.read("deceiving-1.0.0/sbom.cdx.json")
        apis["ios"] = archive.read("deceiving-1.0.0/api.json")
    with tarfile.open(dist / "npm/react-native-deceiving-1.0.0.tgz") as archive:
        files = [archive.extractfile(f"package/{name}") for name in ("sbom.cdx.json", "api.json")]
        module, apis["react_native"] = (file.read() for file in files if file)
    for target, text in apis.items():
        api = description.read(text.decode(), target)
        assert (api.target, api.package) == (target, "deceiving")
        assert sorted(each.class_name for each in api.models) == ["Friendly", "Hostile"]
    beside = {
        "android/deceiving-1.0.0.cdx.json": library,
        "swift/deceiving-1.0.0.cdx.json": package,
        "npm/react-native-deceiving-1.0.0.cdx.json": module,
    }
    for path, inside in beside.items():
        inner = assert_valid(inside.decode())
        outer = assert_valid((dist / path).read_text(encoding="utf-8"))
        assert [each["type"] for each in inner["components"]].count("machine-learning-model") == 2
        assert inner["components"][2:] == outer["components"][2:]
        for within, without in zip(inner["components"][:2], outer["components"][:2], strict=True):
            assert "quantitativeAnalysis" not in within["modelCard"]
            assert without["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    published = dist / "maven/com/example/deceiving/1.0.0/deceiving-1.0.0-cyclonedx.json"
    assert published.read_bytes() == library
    assert published.with_name(f"{published.name}.sha256").is_file()
    manifest = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    as_spdx = {path.replace(".cdx.json", ".spdx3.json") for path in beside}
    assert {each["path"] for each in manifest["artifacts"] if each["kind"] == "sbom"} == {*beside, *as_spdx}
    for path in as_spdx:
        assert "ai_AIPackage" in (dist / path).read_text(encoding="utf-8")
