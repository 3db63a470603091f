"""An .xcframework is unpacked whole from its .zip, and nothing is written elsewhere."""

import os
import zipfile
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.targets.xcframework import folder
from packager.targets.xcframework.lint import lint
from tests.cases import xcframework_cases as cases

NAME = f"{cases.NAME}.xcframework"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return cases.write_good(tmp_path)


def write_zip(path: Path, entries: dict[str, bytes], *, links: tuple[str, ...] = ()) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if name in links else 0o100644) << 16
            archive.writestr(info, content)
    return path


@pytest.mark.parametrize("inside", ["", "package/ios/", "a/b/"])
def test_it_is_found_in_a_zip_wherever_it_lies(root: Path, tmp_path: Path, inside: str) -> None:
    packed = cases.zipped(root, tmp_path / "a.zip", inside=inside)
    with folder.opened(packed) as unpacked:
        assert unpacked.name == NAME
        binary = f"ios-arm64/{cases.NAME}.framework/{cases.NAME}"
        assert (unpacked / binary).read_bytes() == (root / binary).read_bytes()
    assert not unpacked.exists()


def test_it_is_a_folder_or_the_only_one_in_a_folder(root: Path, tmp_path: Path) -> None:
    assert folder.only(root) == folder.only(tmp_path) == root
    (tmp_path / "Other.xcframework").mkdir()
    with pytest.raises(ConfigError, match=r"expected one .xcframework, found Other.xcframework, Speech"):
        folder.only(tmp_path)
    with pytest.raises(ConfigError, match="no such file"):
        folder.only(tmp_path / "nothing")


def test_what_finder_adds_is_left_out(tmp_path: Path) -> None:
    entries = {f"{NAME}/Info.plist": b"x", f"__MACOSX/{NAME}/._Info.plist": b"x", f"{NAME}/.DS_Store": b"x"}
    folder.unpack(write_zip(tmp_path / "a.zip", entries), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / NAME).iterdir()] == ["Info.plist"]


@pytest.mark.parametrize(
    "name", [f"../{NAME}/Info.plist", f"/etc/{NAME}/Info.plist", f"{NAME}/../../x", f"{NAME}\\..\\x", f"a/../{NAME}/x"]
)
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    packed = write_zip(tmp_path / "a.zip", {f"{NAME}/Info.plist": b"x", name: b"x"})
    with pytest.raises(ToolError, match="it contains the path"):
        folder.unpack(packed, tmp_path / "out/deep")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "../../../../etc"])
def test_a_link_that_leads_outside_is_refused(tmp_path: Path, target: str) -> None:
    packed = write_zip(
        tmp_path / "a.zip", {f"{NAME}/Info.plist": b"x", f"{NAME}/a/b": target.encode()}, links=(f"{NAME}/a/b",)
    )
    with pytest.raises(ToolError, match="leads outside, to"):
        folder.unpack(packed, tmp_path / "out")


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """The second entry would land in the folder that the first one links to."""
    entries = {f"{NAME}/a": b"b", f"{NAME}/a/file": b"x", f"{NAME}/b/other": b"y"}
    packed = write_zip(tmp_path / "a.zip", entries, links=(f"{NAME}/a",))
    with pytest.raises(ToolError, match=r"not a \.zip"):
        folder.unpack(packed, tmp_path / "out")
    assert not (tmp_path / "out" / NAME / "b/file").exists()


def test_links_that_lead_in_circles_are_refused(root: Path, tmp_path: Path) -> None:
    links = {f"{NAME}/Info.plist": b"", f"{NAME}/a": b"b", f"{NAME}/b": b"a"}
    packed = write_zip(tmp_path / "a.zip", links, links=(f"{NAME}/a", f"{NAME}/b"))
    with pytest.raises(ToolError, match="leads to itself"), folder.opened(packed) as unpacked:
        folder.refuse_outside(unpacked)
    (root / "ios-arm64/around").symlink_to("around")
    with pytest.raises(ToolError, match="around: the link leads to itself"):
        folder.refuse_outside(root)


def test_a_pipe_is_refused_before_anything_is_read_from_it(root: Path) -> None:
    os.mkfifo(root / "ios-arm64/pipe")
    with pytest.raises(ToolError, match="pipe: neither a file nor a folder"):
        lint(root)


def test_links_that_lead_on_through_links_are_refused(tmp_path: Path) -> None:
    entries = {f"{NAME}/a/b/c": b"x", f"{NAME}/up": b"a/b/../../..", f"{NAME}/z": b"up/etc"}
    packed = write_zip(tmp_path / "a.zip", entries, links=(f"{NAME}/up", f"{NAME}/z"))
    with pytest.raises(ToolError, match="leads outside, to"):
        folder.unpack(packed, tmp_path / "out")


def test_zips_of_two_or_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = write_zip(tmp_path / "two.zip", {"A.xcframework/Info.plist": b"", "B.xcframework/Info.plist": b""})
    with pytest.raises(ToolError, match=r"found A\.xcframework, B\.xcframework"):
        folder.unpack(two, tmp_path / "out")
    none = write_zip(tmp_path / "none.zip", {"Info.plist": b""})
    with pytest.raises(ToolError, match="found none"):
        folder.unpack(none, tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(f"{NAME}/Info.plist", b"x")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(f"{NAME}/Info.plist", b"y")
    with pytest.raises(ToolError, match="twice"):
        folder.unpack(tmp_path / "a.zip", tmp_path / "out")
    packed = write_zip(tmp_path / "a.zip", {f"{NAME}/Info.plist": bytes(1000), f"{NAME}/b": b""})
    monkeypatch.setattr(folder, "MAX_BYTES", 999)
    with pytest.raises(ToolError, match="contains 2 files, 1000 bytes"):
        folder.unpack(packed, tmp_path / "out")
    monkeypatch.setattr(folder, "MAX_BYTES", 1000)
    monkeypatch.setattr(folder, "MAX_FILES", 1)
    with pytest.raises(ToolError, match="2 files"):
        folder.unpack(packed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("length", [0, 10, 500, 2000])
def test_a_zip_that_is_cut_short_is_refused(root: Path, tmp_path: Path, length: int) -> None:
    packed = cases.zipped(root, tmp_path / "a.zip")
    packed.write_bytes(packed.read_bytes()[:length])
    with pytest.raises(ToolError, match=r"not a \.zip, or truncated"), folder.opened(packed):
        pass


def test_a_folder_is_told_by_names_links_and_contents(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to("ios-arm64")
    first = folder.digest(root)
    packed = cases.zipped(root, tmp_path / "a.zip")
    with folder.opened(packed) as unpacked:
        assert folder.digest(unpacked) == first
    (root / "link").unlink()
    (root / "link").symlink_to("Info.plist")
    second = folder.digest(root)
    (root / "link").rename(root / "other")
    third = folder.digest(root)
    (root / "Info.plist").write_bytes(b"x")
    assert len({first, second, third, folder.digest(root)}) == 4
