"""`mobpack extract`: each model file of a release once, under its SHA-256."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from click.testing import CliRunner, Result

from packager.cli.extract import extract as command
from packager.core.errors import ConfigError, ToolError
from packager.distribution.release.extract import INDEX, extract
from packager.files import zips
from packager.files.zips import write_zip
from packager.targets import MODELS_IN, TARGETS, WRAPPERS

CPU, GRAPH, GOLDEN = b"weights" * 1000, b"graph", b"golden"
MEMBERS = {
    "aar": {"assets/mobpack/demo/a.ort": CPU, "assets/mobpack/demo/a.golden": GOLDEN, "classes.jar": b"classes"},
    "swift-package": {
        "demo-1.0.0/Sources/Demo/Resources/Models/a/model.ort": CPU,
        "demo-1.0.0/Sources/Demo/Resources/Models/a/fixed.onnx": GRAPH,
        "demo-1.0.0/Package.swift": b"swift",
    },
    "npm-package": {"package/models/both/mobpack/Demo/a.ort": CPU, "package/package.json": b"{}"},
    "web-package": {"package/models/a.ort": CPU, "package/package.json": b"{}"},
    "node-package": {"package/models/a/a.onnx": GRAPH, "package/package.json": b"{}"},
    "pub-package": {"demo-1.0.0/models/a.ort": CPU, "demo-1.0.0/pubspec.yaml": b"name: demo"},
    "jar": {"mobpack/demo/a.onnx": GRAPH, "META-INF/MANIFEST.MF": b""},
    "cmake-package": {"demo-1.0.0/models/a/a.onnx": GRAPH, "demo-1.0.0/CMakeLists.txt": b""},
    "wheel": {"demo/models/a/a.onnx": GRAPH, "demo/__init__.py": b""},
}
TARGET_OF = {
    "aar": "android",
    "swift-package": "ios",
    "npm-package": "react_native",
    "web-package": "web",
    "node-package": "node",
    "pub-package": "flutter",
    "cmake-package": "cpp",
    "jar": "jvm",
    "wheel": "python",
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_name(kind: str) -> str:
    return f"{kind}.tgz" if kind in ("npm-package", "web-package", "cmake-package", "node-package") else f"{kind}.zip"


def packed(members: Mapping[str, bytes], path: Path) -> Path:
    if path.suffix == ".zip":
        return write_zip(path, {PurePosixPath(name): content for name, content in members.items()})
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return released(tmp_path / "dist", "1.0.0", MEMBERS)


def released(folder: Path, version: str, members: Mapping[str, Mapping[str, bytes]]) -> Path:
    folder.mkdir()
    artifacts = []
    for kind, content in members.items():
        path = packed(content, folder / file_name(kind))
        digest = sha256(path.read_bytes())
        artifacts.append({"target": TARGET_OF[kind], "kind": kind, "path": path.name, "sha256": digest})
    (folder / "notes.pom").write_text("not a package")
    artifacts.append({"target": "android", "kind": "maven", "path": "notes.pom", "sha256": ""})
    document = {"mobpack": "0", "package": {"name": "demo", "version": version}, "artifacts": artifacts}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != INDEX}


def test_files_are_written_once_and_mended(release: Path, tmp_path: Path) -> None:
    assert {kind for target in (*TARGETS.values(), *WRAPPERS.values()) for kind in target.MODELS_IN} == set(MEMBERS)
    assert set(MODELS_IN) == set(MEMBERS)
    found = extract(release, tmp_path / "public")
    assert files_in(tmp_path / "public") == {sha256(each): each for each in (CPU, GRAPH, GOLDEN)}
    assert {(each.target, each.file) for each in found} == {
        ("android", "demo/a.ort"),
        ("android", "demo/a.golden"),
        ("cpp", "a/a.onnx"),
        ("jvm", "demo/a.onnx"),
        ("flutter", "a.ort"),
        ("ios", "a/model.ort"),
        ("ios", "a/fixed.onnx"),
        ("node", "a/a.onnx"),
        ("python", "a/a.onnx"),
        ("react_native", "both/mobpack/Demo/a.ort"),
        ("web", "a.ort"),
    }
    extract(release, tmp_path / "public")
    (tmp_path / "public" / sha256(CPU)).write_bytes(b"cut")
    extract(release, tmp_path / "public")
    assert (tmp_path / "public" / sha256(CPU)).read_bytes() == CPU


def test_versions_share_a_folder_and_the_list_names_both(release: Path, tmp_path: Path) -> None:
    newer = released(tmp_path / "newer", "2.0.0", {"aar": {"assets/mobpack/demo/a.ort": b"other weights"}})
    extract(release, tmp_path / "public")
    extract(newer, tmp_path / "public")
    extract(newer, tmp_path / "public")
    listed = json.loads((tmp_path / "public" / INDEX).read_text())
    assert listed["schema-version"] == 1
    assert [each["sha256"] for each in listed["files"] if each["version"] == "2.0.0"] == [sha256(b"other weights")]
    assert {each["sha256"] for each in listed["files"]} == set(files_in(tmp_path / "public"))
    assert len(listed["files"]) == 12


def test_a_folder_without_a_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a release of mobpack"):
        extract(tmp_path, tmp_path / "public")


def test_a_pipe_is_refused_and_not_waited_for(release: Path, tmp_path: Path) -> None:
    (release / file_name("aar")).unlink()
    os.mkfifo(release / file_name("aar"))
    with pytest.raises(ToolError, match="a pipe, not a file"):
        extract(release, tmp_path / "public")
    (release / "manifest.json").unlink()
    os.mkfifo(release / "manifest.json")
    with pytest.raises(ConfigError, match="a pipe, not a file"):
        extract(release, tmp_path / "public")


def test_a_release_without_packages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no packages with models"):
        extract(released(tmp_path / "dist", "1.0.0", {}), tmp_path / "public")


def test_names_that_climb_out_stay_in_the_folder(tmp_path: Path) -> None:
    release = released(tmp_path / "dist", "1.0.0", {"npm-package": {"package/models/../../../escaped": CPU}})
    extract(release, tmp_path / "public")
    assert set(files_in(tmp_path / "public")) == {sha256(CPU)}
    assert not list(tmp_path.rglob("escaped"))


def test_a_package_that_is_not_the_manifests_is_refused(release: Path, tmp_path: Path) -> None:
    with (release / file_name("aar")).open("ab") as file:
        file.write(b"more")
    with pytest.raises(ToolError, match="is not the file that manifest"):
        extract(release, tmp_path / "public")
    assert list((tmp_path / "public").iterdir()) == []


@pytest.mark.parametrize("kind", ["aar", "npm-package", "web-package"])
def test_a_package_that_cannot_be_unpacked_is_refused(kind: str, release: Path, tmp_path: Path) -> None:
    document = json.loads((release / "manifest.json").read_text())
    cut = (release / file_name(kind)).read_bytes()[:100]
    (release / file_name(kind)).write_bytes(cut)
    for each in document["artifacts"]:
        each["sha256"] = sha256(cut) if each["kind"] == kind else each["sha256"]
    (release / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(ToolError, match=f"cannot read .*{kind}"):
        extract(release, tmp_path / "public")
    assert list((tmp_path / "public").iterdir()) == []


@pytest.mark.parametrize("manifest", ["{", "[]", "{}", '{"package": {}, "artifacts": [3]}', "[" * 100_000])
def test_a_manifest_of_something_else_is_refused(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(ConfigError, match="is not a manifest of mobpack"):
        extract(tmp_path, tmp_path / "public")


@pytest.mark.parametrize("index", ["{", '{"files": [{"other": 1}]}', "[" * 100_000])
def test_a_list_that_cannot_be_read_is_left_as_it_is(index: str, release: Path, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / INDEX).write_text(index)
    with pytest.raises(ConfigError, match=r"models\.json cannot be read"):
        extract(release, tmp_path / "public")
    assert (tmp_path / "public" / INDEX).read_text() == index


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def test_the_command_shows_files_or_prints_json(release: Path, tmp_path: Path) -> None:
    result = run(str(release), "--to", str(tmp_path / "public"))
    assert result.exit_code == 0
    assert "demo/a.ort" in result.output
    assert f"3 files, 7.0 kB, in {tmp_path / 'public'}" in result.output
    printed = json.loads(run(str(release), "--to", str(tmp_path / "public"), "--json").stdout)
    assert printed["folder"] == str(tmp_path / "public")
    assert {each["sha256"] for each in printed["files"]} == set(files_in(tmp_path / "public"))


@pytest.mark.parametrize("kind", ["aar", "npm-package"])
def test_a_package_with_too_many_entries_is_refused_and_nothing_is_left(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "PACKAGE", replace(zips.PACKAGE, entries=20))
    release = released(tmp_path / "dist", "1.0.0", {kind: {f"package/models/{number}": b"" for number in range(21)}})
    with pytest.raises(ToolError, match=r"entries|too many"):
        extract(release, tmp_path / "public")
    assert list((tmp_path / "public").iterdir()) == []
