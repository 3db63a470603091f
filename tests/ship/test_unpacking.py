"""Wheels that uv unpacks for tests in place of pip: the same hashes, and pip where uv does not do it."""

import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import runtime
from packager.engines.environments.environment import install_locked
from tests.toolchain.unpacking import quickly, unpack


def lock_of(folder: Path, *, digest: str = "") -> Path:
    """A lock of a wheel `thing` 1.0 in `folder`, whose version is the variable VERSION."""
    wheel = folder / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing.py", "")
        archive.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("thing-1.0.dist-info/RECORD", "thing.py,,\n")
    digest = digest or sha256(wheel.read_bytes()).hexdigest()
    lock = folder / "lock.txt"
    lock.write_text(f"--no-index\n--find-links {folder}\nthing==${{VERSION}} --hash=sha256:{digest}\n")
    return lock


def installer(site: Path) -> str:
    assert (site / "thing.py").is_file()
    return (site / "thing-1.0.dist-info" / "INSTALLER").read_text(encoding="utf-8").strip()


def test_uv_unpacks_a_lock_and_pip_does_in_another_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = lock_of(tmp_path)
    for name in ("uv", "pip"):
        unpack(lock, tmp_path / name / "site", {"VERSION": "1.0"})
        assert installer(tmp_path / name / "site") == name
        monkeypatch.setattr(sys, "prefix", str(tmp_path))


def test_a_lock_includes_another_beside_it(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    lock.write_text(lock.read_text().replace("${VERSION}", "1.0"))
    (tmp_path / "both.txt").write_text("-r lock.txt\n")
    unpack(tmp_path / "both.txt", tmp_path / "site")
    assert installer(tmp_path / "site") == "uv"


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"does not match the hash in lock\.txt"):
        unpack(lock_of(tmp_path, digest="0" * 64), tmp_path / "environment" / "site", {"VERSION": "1.0"})


def test_environments_have_it_meanwhile_alone() -> None:
    with quickly():
        assert vars(runtime)["install_locked"] is unpack
    assert vars(runtime)["install_locked"] is install_locked
