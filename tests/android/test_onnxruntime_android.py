"""ONNX Runtime's library for Android is the published one, wherever it comes from."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import onnxruntime_android
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from tests.toolchain.require import fetched


def test_the_pinned_archive_is_that_of_the_version_that_packages_depend_on() -> None:
    named = downloads.pins()["android"]["onnxruntime"]
    assert downloads.pin(onnxruntime_android.PUBLISHED).package == f"{named}:aar"


def test_an_archive_that_neither_registry_has_is_a_tool_error_with_both_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"^mvn not found; npm not found$"):
        onnxruntime_android.archive()


def test_the_published_archive_is_restored_from_the_package_of_npm(tmp_path: Path) -> None:
    """Its manifest is another one, and nothing else."""
    fetched(onnxruntime_android.REPACKED)
    restored = onnxruntime_android.from_npm(tmp_path)
    assert sha256_of(restored) == downloads.pin(onnxruntime_android.PUBLISHED).sha256
