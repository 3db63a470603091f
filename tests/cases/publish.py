"""A release to publish, and what a folder holds afterwards."""

import json
from pathlib import Path

import pytest

from packager.distribution.release import MANIFEST, staged


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def publish(out: Path, text: str) -> None:
    with staged(out) as staging:
        (staging / "android").mkdir()
        (staging / "android" / f"{text}.aar").write_text(text)
        (staging / MANIFEST).write_text(json.dumps({"mobpack": "0.1.0", "text": text}))


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """An earlier release."""
    publish(tmp_path / "dist", "old")
    return tmp_path / "dist"
