"""Wheel, sdist and editable installs all find the templates, and the wheel has every one of them."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_installed_mobpack_finds_its_templates(built: tuple[Path, Path], kind: str, tmp_path: Path) -> None:
    target = tmp_path / "site"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
            "--no-compile",
            "--target",
            str(target),
            str(built[1] if kind == "wheel" else built[0]),
        ],
        check=True,
        capture_output=True,
    )
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "from packager.files import installed; print(installed.__file__); print(installed.templates_folder())",
        ],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
    )
    module, folder = map(Path, found.stdout.split("\n")[:2])
    assert module.is_relative_to(tmp_path), "the installed copy must be the one that runs"
    assert folder.is_relative_to(tmp_path)
    assert (folder / "android").is_dir()


def test_this_editable_install_finds_the_templates_in_the_repository() -> None:
    from packager.files import installed

    assert installed.templates_folder() == ROOT / "templates"
