"""Leftovers of earlier commands are removed once they are old, whatever other processes do to them at the same time."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.files.leftovers import DAY_S, remove_old


def left(path: Path, *, days: float, is_folder: bool = True) -> Path:
    """A file, or a folder with a file in it, that was last changed `days` days ago."""
    if is_folder:
        path.mkdir()
    (path / "half" if is_folder else path).write_text("")
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("is_folder", [True, False])
def test_an_old_one_is_removed_and_a_young_one_stays(tmp_path: Path, is_folder: bool) -> None:
    old, young = (left(tmp_path / f"{days}", days=days, is_folder=is_folder) for days in (1.01, 0.99))
    remove_old([old, young])
    assert list(tmp_path.iterdir()) == [young]


def test_the_age_can_be_another(tmp_path: Path) -> None:
    old, young = (left(tmp_path / f"{days}", days=days) for days in (7.1, 6.9))
    remove_old(tmp_path.iterdir(), days=7)
    assert list(tmp_path.iterdir()) == [young]
    assert not old.exists()


def test_one_that_vanishes_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("first", "second", "third")
    folders = [left(tmp_path / name, days=2) for name in names]

    def paths() -> Iterator[Path]:
        for folder in folders:
            if folder.name == "second":
                shutil.rmtree(folder)
            yield folder

    remove_old(paths())
    assert list(tmp_path.iterdir()) == []
    old = left(tmp_path / "old", days=2, is_folder=False)
    other = left(tmp_path / "other", days=2, is_folder=False)
    is_dir = Path.is_dir

    def meanwhile(path: Path) -> bool:
        found = is_dir(path)
        old.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Path, "is_dir", meanwhile)
    remove_old([old, other])
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_one_that_cannot_be_removed_stays_and_the_next_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others, own = left(tmp_path / "others", days=2, is_folder=False), left(tmp_path / "own", days=2, is_folder=False)
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == others:
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    remove_old([others, own])
    assert list(tmp_path.iterdir()) == [others]


def test_a_folder_whose_files_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others, own = left(tmp_path / "others", days=2), left(tmp_path / "own", days=2)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "unlink", refuse)
    remove_old([others])
    monkeypatch.undo()
    assert (others / "half").is_file()
    remove_old([own])
    assert list(tmp_path.iterdir()) == [others]
