"""ONNX Runtime's own archive for iOS is fetched from its address, and only its own bytes are accepted."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.files.processes import downloads
from tests.cases import xcframework_cases as cases

LIBRARY = cases.archive(cases.code(kind=cases.OBJECT))


@pytest.fixture
def pinned_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bytes]:
    """Pins an archive of these bytes at the given address; the cache is new, and waits are short."""
    root = tmp_path / "served/onnxruntime.xcframework"
    (root / "ios-arm64").mkdir(parents=True)
    (root / "ios-arm64/libort.a").write_bytes(LIBRARY)
    cases.write_plist(root, cases.entry("ios-arm64", LibraryPath="libort.a", BinaryPath="libort.a"))
    content = cases.zipped(root, tmp_path / "served.zip").read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setitem(downloads.pins()["ios"], "checksum", hashlib.sha256(content).hexdigest())

    def pin(url: str) -> bytes:
        monkeypatch.setitem(downloads.pins()["ios"], "archive", url)
        return content

    return pin
