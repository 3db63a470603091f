"""Locked packages of Debian come from their places on the mirror; apt's lists are asked where one is not there."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.processes import downloads
from tests.toolchain import debian_root
from tests.toolchain.debian_root import Locked, Suite, read_lock
from tests.toolchain.require import require

PLACE = "pool/main/a/attr/libattr1_2.6.0-1_amd64.deb"
HELPER = """\
#!/bin/sh
shift 3
while [ $# -gt 1 ]; do printf %s "$1" > "$2"; shift 2; done
"""
"""Writes files that hold their addresses."""
NOTHING = "#!/bin/sh\nexit 100\n"
GONE = """\
#!/bin/sh
echo "E: Version '1:2.6.0-1' for 'libattr1' was not found" >&2
exit 100
"""


@pytest.fixture(autouse=True)
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the programs of apt, and the cache."""
    require(Path("/etc/debian_version").is_file(), "the machine has no mirror of Debian")
    monkeypatch.setattr(debian_root, "APT_HELPER", written(tmp_path / "apt-helper", HELPER))
    written(tmp_path / "apt-get", GONE)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def written(program: Path, text: str) -> Path:
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return program


def locked(content: str) -> tuple[Locked, ...]:
    """A package with these bytes."""
    return (Locked("libattr1", "1:2.6.0-1", sha256(content.encode()).hexdigest(), PLACE),)


def test_a_package_comes_from_its_place_under_the_name_that_apt_gives_it(tmp_path: Path) -> None:
    address = f"{downloads.debian_mirror()}/{PLACE}"
    [deb] = Suite("sid").download(locked(address), tmp_path, refresh="lock them anew")
    assert deb.name == "libattr1_1%3a2.6.0-1_amd64.deb"
    assert deb.read_text(encoding="utf-8") == address


def test_other_bytes_in_its_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is not the locked file"):
        Suite("sid").download(locked("other bytes"), tmp_path, refresh="lock them anew")


def test_lists_are_asked_for_a_package_that_is_not_in_its_place(apt: Path, tmp_path: Path) -> None:
    written(apt / "apt-helper", NOTHING)
    with pytest.raises(ToolError, match=r"no longer has 1:2\.6\.0-1, libattr1"):
        Suite("sid").download(locked(""), tmp_path, refresh="lock them anew")


def test_a_lock_may_lack_places(tmp_path: Path) -> None:
    lock, line = tmp_path / "debs.txt", f"libattr1=1:2.6.0-1 {'0' * 64}"
    lock.write_text(f"{line}\n{line} {PLACE}\n", encoding="utf-8")
    assert [each.place for each in read_lock(lock)] == [None, PLACE]
