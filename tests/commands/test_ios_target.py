"""iOS: a Swift package is whole, states its requirements, and has the same bytes every time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.distribution import release
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Store
from packager.targets.ios import Ios
from tests.cases.disks import tiny_disk
from tests.cases.ios_target import assembled, kit, view_of
from tests.golden.cases import Case
from tests.toolchain import apple_runtime
from tests.toolchain.require import require

__all__ = ["kit"]


def test_the_c_headers_are_those_of_the_runtimes_own_archive() -> None:
    shipped = apple_runtime.published() / "ios-arm64/onnxruntime.framework/Headers"
    for name in downloads.pins()["ios"]["headers"]:
        assert (shipped / name).read_bytes() == (templates_folder() / "ios/onnxruntime/include" / name).read_bytes(), (
            name
        )


def test_a_full_disk_leaves_nothing_of_a_release(kit: Case, tmp_path: Path) -> None:
    assert isinstance(kit.target, Ios)
    view, _, artifact = assembled(kit, tmp_path / "store")
    (tmp_path / "disk").mkdir()
    with tiny_disk(tmp_path / "disk"):
        with pytest.raises(ToolError, match="no space left"), release.staged(tmp_path / "disk/dist") as staging:
            kit.target.layout(view, (artifact,), staging)
        assert list((tmp_path / "disk").iterdir()) == []


def script(case: Case, folder: Path) -> Path:
    """The script of an emitted project."""
    assert isinstance(case.target, Ios)
    project = case.target.project(view_of(case), case.sources(), Store(folder / "store"))
    path = folder / "scripts/make-xcframework.sh"
    path.parent.mkdir()
    path.write_text(project.texts[PurePosixPath("scripts/make-xcframework.sh")])
    return path


def test_the_script_for_an_xcframework_says_that_xcode_is_missing(kit: Case, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("dirname", "mktemp"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    done = subprocess.run(
        [shutil.which("bash") or "", script(kit, tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path / "bin")},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: xcodebuild not found")


def test_the_script_for_an_xcframework_is_free_of_what_shellcheck_knows(kit: Case, tmp_path: Path) -> None:
    shellcheck = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    require(shellcheck is not None, "shellcheck is missing: pip install mobpack[test]")
    done = subprocess.run([shellcheck or "", script(kit, tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
