"""`mobpack verify --rebuild`: the project gives the same bytes again, and a difference is explained."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError
from packager.distribution.provenance import FILE_NAME
from packager.distribution.release import OF_ONE_MACHINE
from packager.files.hashes import sha256_of
from tests.cases.cli import Answer, Mobpack, mobpack
from tests.cases.onnx_text import linear, saved
from tests.cases.signing_cases import make_key
from tests.ship.test_provenance import shared_release

__all__ = ["mobpack"]

PACKAGE = "swift/pages-1.0.0.zip"

MODEL = "pages-1.0.0/Sources/PagesKit/Resources/Models/pages/model.ort"


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A project with its lock and its release, in the working folder of `mobpack`; its cache has no results."""
    shutil.copytree(shared_release(tmp_path_factory.getbasetemp()).parent, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def used_cache(mobpack: Mobpack, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of the first build instead, for tests of words: with --cached, nothing is computed."""
    cache = shared_release(tmp_path_factory.getbasetemp()).parent.with_name("project-cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def state(folder: Path) -> dict[str, tuple[int, str]]:
    return {str(path): (path.stat().st_mtime_ns, sha256_of(path)) for path in folder.rglob("*") if path.is_file()}


def tamper(folder: Path) -> None:
    """Change the last byte of the model in the package."""
    path = folder / "dist" / PACKAGE
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in entries.items():
            is_model = entry.filename == MODEL
            archive.writestr(entry, content[:-1] + bytes([content[-1] ^ 1]) if is_model else content)


def forge(folder: Path) -> None:
    """The same, and write the new sha256 into every list, as a careful attacker would."""
    dist = folder / "dist"
    before = {name: sha256_of(dist / name) for name in (PACKAGE, "manifest.json")}
    tamper(folder)
    for name in ("manifest.json", "report.json", "report.html", FILE_NAME):
        text = (dist / name).read_text(encoding="utf-8")
        for path, old in before.items():
            text = text.replace(old, sha256_of(dist / path))
        (dist / name).write_text(text, encoding="utf-8", newline="\n")


def test_a_release_is_built_again_and_is_the_same(project: Path, mobpack: Mobpack) -> None:
    """In an empty store, without touching the release."""
    before = state(project / "dist")
    answer = mobpack("verify", "--rebuild", "--json")
    assert answer.code == 0, answer.err
    rebuilt = json.loads(answer.out)["rebuilt"]
    assert (rebuilt["files"], rebuilt["differences"]) == (len(before) - len(OF_ONE_MACHINE), [])
    assert (rebuilt["has-provenance"], rebuilt["is-fresh"], rebuilt["installed"]) == (True, True, ["arm64", "runtime"])
    assert {"compile", "parity", "golden", "kernels"} <= rebuilt["steps"].keys()
    assert state(project / "dist") == before
    store = project / ".cache/mobpack/store"
    assert [path for path in store.rglob("*") if path.is_file() and not path.name.startswith(".")] == []


@pytest.mark.usefixtures("used_cache")
def test_results_of_earlier_builds_are_used_only_when_asked_for(project: Path, mobpack: Mobpack) -> None:
    answer = mobpack("verify", "--rebuild", "--cached", "--config", str(project))
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    count = len(state(project / "dist")) - len(OF_ONE_MACHINE)
    assert lines[0] == f"dist: built again, and all {count} files are the same bytes"
    assert "results of earlier builds were used (--cached)" in lines[1]


@pytest.mark.usefixtures("used_cache")
def test_a_signed_release_is_compared_as_it_was_before_it_was_signed(project: Path, mobpack: Mobpack) -> None:
    key = make_key(project / "keys")
    assert mobpack("sign", "dist", "--key", key.private).code == 0
    before = state(project / "dist")
    answer = mobpack("verify", "dist", "--key", key.public, "--rebuild", "--cached")
    assert answer.code == 0, answer.err
    assert "files are the same bytes" in answer.out
    assert f"{FILE_NAME}.sig: signed by " in answer.out
    assert state(project / "dist") == before
    tamper(project)
    answer = mobpack("verify", "dist", "--key", key.public, "--rebuild", "--cached")
    assert answer.code == GateError.EXIT_CODE
    assert f"differs: {PACKAGE}: in it {MODEL} differs" in answer.out


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "an artifact": (
        tamper,
        [
            f"differs: {PACKAGE}: in it {MODEL} differs",
            f"most probably {PACKAGE} was changed after the release was built",
        ],
    ),
    "an artifact and every list of its sha256": (
        forge,
        [
            "differs: manifest.json: artifacts.",
            f"differs: {PACKAGE}: in it {MODEL} differs",
            "most probably all that it says it was built of is the same here, so its files were changed together with",
        ],
    ),
    "the model of the project": (
        lambda folder: saved(folder / "net.onnx", linear(seed=7)),
        [
            "built of something else: file net.onnx: sha256 ",
            f"differs: {PACKAGE}: in it ",
            "most probably it was built of something else: file net.onnx: sha256 ",
        ],
    ),
    "a file more": (
        lambda folder: (folder / "dist/swift/notes.txt").touch(),
        [
            "differs: swift/notes.txt: a rebuilt release does not have it",
            "most probably swift/notes.txt was changed after the release was built",
        ],
    ),
    "a file less": (
        lambda folder: (folder / "dist/swift/pages-1.0.0.json").unlink(),
        ["differs: swift/pages-1.0.0.json: the rebuilt release has it, this one does not"],
    ),
}


@pytest.mark.usefixtures("used_cache")
@pytest.mark.parametrize("change", CHANGES)
def test_a_difference_is_named_and_explained(change: str, project: Path, mobpack: Mobpack) -> None:
    alter, words = CHANGES[change]
    alter(project)
    answer = mobpack("verify", "--rebuild", "--cached")
    assert answer.code == GateError.EXIT_CODE
    assert "mobpack: error: dist is not what the project builds: " in answer.err
    for each in words:
        assert each in said(answer)


def said(answer: Answer) -> str:
    return answer.out + answer.err


@pytest.mark.usefixtures("used_cache")
def test_a_release_without_provenance_is_built_again_by_its_manifest(project: Path, mobpack: Mobpack) -> None:
    """And where it differs, versions in the manifest are the best guess."""
    (project / "dist" / FILE_NAME).unlink()
    answer = mobpack("verify", "--rebuild", "--cached")
    assert answer.code == 0, answer.err
    manifest = project / "dist/manifest.json"
    manifest.write_text(manifest.read_text().replace('"mobpack": "', '"mobpack": "9'), newline="\n")
    answer = mobpack("verify", "--rebuild", "--cached")
    assert answer.code == GateError.EXIT_CODE
    assert "differs: manifest.json: mobpack is " in answer.out
    assert "most probably it was built by other versions: mobpack 9" in answer.err


def test_a_rebuild_needs_a_release_and_its_project(project: Path, mobpack: Mobpack) -> None:
    for arguments, words in [
        (["nothing"], "nothing is not a release of mobpack"),
        (["dist", "--config", "elsewhere"], "--rebuild needs the project that dist was built from"),
    ]:
        answer = mobpack("verify", "--rebuild", *arguments)
        assert answer.code == ConfigError.EXIT_CODE
        assert words in answer.err
