"""The iOS files of `mobpack build` satisfy Swift's and Apple's tools, and are the same wherever they are made."""

import json
import os
import plistlib
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from tests.cases.archives import read_zip
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved
from tests.toolchain import command
from tests.toolchain.swift import swift

NAME, MODULE, STEM = "small-nets", "SmallNetsKit", "small-nets-2.0.1"
PROJECT = f"""\
[package]
name = "{NAME}"
version = "2.0.1"

[model.linear]
path = "linear.onnx"

[target.ios]
"""


BUILD = ("build", "--target", "ios")


def project(folder: Path) -> Path:
    """Writes a project with one small model, in a folder of that name."""
    folder.mkdir()
    saved(folder / "linear.onnx", linear())
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = project(tmp_path_factory.mktemp("built") / "one")
    done = command.run(*BUILD, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / "swift"


@pytest.fixture(scope="module")
def content(built: Path) -> dict[PurePosixPath, bytes]:
    """The files in the archive by their place in the package."""
    files = read_zip(built / f"{STEM}.zip")
    assert {path.parts[0] for path in files} == {STEM}
    return {PurePosixPath(*path.parts[1:]): data for path, data in files.items()}


def test_the_checksum_of_the_archive_is_the_one_that_swiftpm_computes(built: Path) -> None:
    """Registries and users of the archive compare them."""
    archive = f"{STEM}.zip"
    done = swift().run(["swift", "package", "compute-checksum", archive], cwd=built)
    release = json.loads((built / f"{STEM}.json").read_text(encoding="utf-8"))
    [resource] = release["resources"]

    assert done.returncode == 0, done.output
    assert resource["checksum"] == done.output.split()[-1]
    assert (resource["name"], resource["type"]) == ("source-archive", "application/zip")
    assert release["version"] == "2.0.1"


def test_the_folder_and_the_archive_are_one_package(built: Path, content: dict[PurePosixPath, bytes]) -> None:
    folder = built / NAME
    found = {PurePosixPath(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}

    assert set(found) == set(content)
    assert [path for path, file in found.items() if file.read_bytes() != content[path]] == []


def test_a_build_in_another_folder_makes_the_same_bytes(built: Path, tmp_path: Path) -> None:
    cache = empty_cache(tmp_path / "cache")  # or it would be the same file
    folder = project(tmp_path / "other é")
    variables = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland"}
    again = [sys.executable, "-m", "packager.cli", *BUILD]
    done = subprocess.run(again, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    for name in (f"{STEM}.zip", f"{STEM}.json"):
        assert (folder / "dist" / "swift" / name).read_bytes() == (built / name).read_bytes()


def test_entries_of_the_archive_are_sorted_and_bear_one_date(built: Path) -> None:
    with zipfile.ZipFile(built / f"{STEM}.zip") as archive:
        entries = archive.infolist()
    assert [each.filename for each in entries] == sorted(each.filename for each in entries)
    assert len({each.date_time for each in entries}) == 1


def test_the_privacy_manifest_is_a_property_list_with_every_reason(content: dict[PurePosixPath, bytes]) -> None:
    found = plistlib.loads(content[PurePosixPath(f"Sources/{MODULE}/Resources/PrivacyInfo.xcprivacy")])
    accessed = {
        each["NSPrivacyAccessedAPIType"]: each["NSPrivacyAccessedAPITypeReasons"]
        for each in found["NSPrivacyAccessedAPITypes"]
    }

    assert (found["NSPrivacyTracking"], found["NSPrivacyTrackingDomains"]) == (False, [])
    assert found["NSPrivacyCollectedDataTypes"] == []
    assert accessed == {
        f"NSPrivacyAccessedAPICategory{each['category']}": each["reasons"]
        for each in downloads.pins()["ios"]["privacy"]
    }


def test_the_manifest_of_the_build_has_what_was_released(built: Path) -> None:
    manifest: dict[str, Any] = json.loads((built.parent / "manifest.json").read_text(encoding="utf-8"))
    released = {each["kind"]: each for each in manifest["artifacts"]}

    for kind, name in (("swift-package", f"{STEM}.zip"), ("swift-registry", f"{STEM}.json")):
        assert released[kind]["path"] == f"swift/{name}"
        assert released[kind]["sha256"] == sha256_of(built / name)
