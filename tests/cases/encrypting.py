"""`[package] encryption`: which builds may encrypt, and what a build with it writes."""

from pathlib import Path

import pytest

from tests.cases.encryption_cases import KEY, KEY_ID
from tests.cases.onnx_text import linear, saved

PROJECT = """[package]
name = "vision"
version = "1.2.3"
{keys}
[model.scorer]
path = "scorer.onnx"
[target.ios]
providers = []
"""

ENCRYPTED = f'encryption = "{KEY_ID}"'


def project(folder: Path, keys: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    saved(folder / "scorer.onnx", linear())
    path = folder / "mobpack.toml"
    path.write_text(PROJECT.format(keys=keys), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY.hex())
