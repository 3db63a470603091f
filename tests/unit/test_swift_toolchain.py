"""Swift packages build and pass tests on Linux, and their sources compile for iOS; mistakes in them are found."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from tests.cases.swift_toolchain import source
from tests.toolchain.debian_root import Locked, check, make_alone, read_lock
from tests.toolchain.swift import LOCK


def test_the_lock_names_each_package_once() -> None:
    lines, packages = LOCK.read_text(encoding="utf-8").splitlines(), read_lock(LOCK)
    assert lines == sorted(lines)
    assert len({each.package for each in packages}) == len(packages) > 50
    assert {each.version[:6] for each in packages if each.package in ("swiftlang", "libswiftlang")} == {"6.0.3-"}


def test_a_line_that_locks_no_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"debs\.txt, line 1: .*: dash=0\.5\.12-12"):
        read_lock(source(tmp_path / "debs.txt", "dash=0.5.12-12\n"))


def test_a_package_with_other_bytes_is_refused(tmp_path: Path) -> None:
    deb = source(tmp_path / "dash_1%3a0.5_amd64.deb", "the locked bytes")
    locked = Locked("dash", "1:0.5", sha256_of(deb))
    assert check([locked], tmp_path) == [deb]
    deb.write_text("other bytes", encoding="utf-8")
    with pytest.raises(ToolError, match=r"dash=1:0\.5 is not the locked file"):
        check([locked], tmp_path)


def test_what_is_half_made_is_thrown_away(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        source(folder / "half", "")
        raise ToolError("no network")

    with pytest.raises(ToolError, match="no network"):
        make_alone(tmp_path / "root", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["root.lock"]
