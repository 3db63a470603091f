"""Projects of npm packages for tests: locked by hash, and installed whole or not at all."""

import re
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ToolError
from tests.cases.node_toolchain import PROJECTS, archive_of, lock_of, locked, places
from tests.toolchain import npm_packages

EXACT = re.compile(r"\d+\.\d+\.\d+(-[\w.]+)?")

INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")


@pytest.mark.parametrize("name", PROJECTS)
def test_every_package_of_a_lock_has_a_hash_and_no_place(name: str) -> None:
    # what a package bundles is in its archive, whose hash is that of the package
    packages = {path: entry for path, entry in locked(name)["packages"].items() if path and not entry.get("inBundle")}

    assert packages
    assert [path for path, entry in packages.items() if not INTEGRITY.fullmatch(entry.get("integrity", ""))] == []
    assert places(locked(name)) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_asks_for_exact_versions_and_its_lock_has_them(name: str) -> None:
    asked = locked(name, "package.json")
    packages = locked(name)["packages"]

    assert [version for version in asked["dependencies"].values() if not EXACT.fullmatch(version)] == []
    assert packages[""]["dependencies"] == asked["dependencies"]
    for package, version in {**asked["dependencies"], **asked.get("overrides", {})}.items():
        assert packages[f"node_modules/{package}"]["version"] == version


def test_the_place_of_a_package_in_the_registry_follows_from_its_name_and_version(tmp_path: Path) -> None:
    hashed: dict[str, Any] = {"version": "1.2.0", "integrity": "sha512-"}
    packages: dict[str, dict[str, Any]] = {
        "node_modules/@a/b": hashed,
        "node_modules/@a/b/node_modules/c": hashed,
        "node_modules/called": {**hashed, "name": "@a/real"},
        "node_modules/c/node_modules/bundled": {"version": "1.2.0", "inBundle": True},
        "node_modules/elsewhere": {**hashed, "optional": True, "os": ["none"]},
        "node_modules/here": {**hashed, "optional": True, "os": ["!none"]},
    }
    found = npm_packages.packages_of(lock_of(tmp_path, packages))

    assert [each.address("https://example.org/npm/") for each in found] == [
        "https://example.org/npm/@a/b/-/b-1.2.0.tgz",
        "https://example.org/npm/c/-/c-1.2.0.tgz",
        "https://example.org/npm/@a/real/-/real-1.2.0.tgz",
        "https://example.org/npm/here/-/here-1.2.0.tgz",
    ]


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_an_archive_of_npm_is_read_as_python_reads_it(kind: int) -> None:
    long = "/".join(["package", "folder" * 12, "with" * 12, "a-long-name" * 6, "file.js"])
    files = {"package/index.js": "x" * 512, "package/empty": "", long: "y" * 700, "package/run.sh": "z"}
    found = {
        path: (is_program, bytes(text)) for path, is_program, text in npm_packages.entries(archive_of(files, kind))
    }

    assert found == {
        name.removeprefix("package/"): (name.endswith(".sh"), text.encode()) for name, text in files.items()
    }


@pytest.mark.parametrize("name", ["package/../../file", "/package/file", "file", "package/a/../../../file"])
def test_a_path_that_leads_out_of_a_package_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="leads out of the package"):
        npm_packages.unpack(archive_of({name: "x"}), tmp_path / "a" / "b" / "c", "c")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("entry_type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_npm_does_not_pack_is_refused(entry_type: bytes, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="an entry of type"):
        npm_packages.unpack(archive_of({"package/link": ""}, entry_type=entry_type), tmp_path / "c", "c")


def test_what_no_test_reads_is_left_out(tmp_path: Path) -> None:
    files = {
        "package/bin/napi-v6/none/x64/lib.so": "",
        f"package/bin/napi-v6/{sys.platform}/{npm_packages.MACHINE}/lib.so": "",
        "package/lib/index.js": "",
        "package/lib/index.js.map": "",
    }
    npm_packages.unpack(archive_of(files), tmp_path, "onnxruntime-node")

    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {
        f"bin/napi-v6/{sys.platform}/{npm_packages.MACHINE}/lib.so",
        "lib/index.js",
    }
