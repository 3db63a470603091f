"""Builds that end at once: when they may, and every change of an input is noticed."""

import dataclasses
import errno
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import packager
from packager import config
from packager.files import hashes, host, installed
from packager.files.hashes import sha256_of
from packager.workflows import unchanged
from packager.workflows.unchanged import RACY_NS, BuildStart, Ended, Summary
from tests.cases.onnx_text import linear, saved
from tests.cases.unchanged import flip

PROJECT = """[package]
name = "pages"
[model.pages]
path = "pages.onnx"
[parity]
samples = "samples"
[target.ios]
"""

SUMMARY = Summary(rows=(("dist/pages.zip", "1 kB"),), lines=("equals the original",), warnings=("mind the gap",))

COMMAND: dict[str, object] = {"model": None, "out": Path("dist"), "targets": ("ios",), "strict": False}

OUT, EVIDENCE = Path("dist"), Path("mobpack-evidence")

LONG_AGO_S = 1_700_000_000


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that was built long ago and has not changed since."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    # A build is a process of its own. In this one, files of earlier tests had the same times, and inodes come again.
    monkeypatch.setattr(hashes, "_known", {})
    small = small_folder(tmp_path / ".cache" / "small")
    monkeypatch.setattr(unchanged, "PACKAGE", small)
    monkeypatch.setattr(unchanged, "templates_folder", lambda: small)
    saved(tmp_path / "pages.onnx", linear())
    for name in ("samples/a.npz", "samples/more/b.npz", "dist/manifest.json", "dist/swift/pages.zip"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}")
    (tmp_path / "mobpack.toml").write_text(PROJECT)
    age(tmp_path)
    keep()
    assert unchanged.known_result(unchanged.start(COMMAND), OUT, EVIDENCE) == SUMMARY
    return tmp_path


def small_folder(folder: Path) -> Path:
    """In place of all modules and templates of mobpack, which a test would look at a dozen times."""
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("one")
    return folder


def age(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))


def ended() -> Ended:
    path = Path("mobpack.toml")
    return Ended(config=config.load(path), project=path, targets=("ios",), out=OUT.resolve(), summary=SUMMARY)


def keep(begun: BuildStart | None = None) -> None:
    unchanged.keep(begun or unchanged.start(COMMAND), ended())


def is_known(command: dict[str, object] = COMMAND) -> bool:
    return unchanged.known_result(unchanged.start(command), OUT, EVIDENCE) is not None


def cut(path: Path) -> int:
    return path.write_bytes(path.read_bytes()[:3])


CHANGES: dict[str, Callable[[Path], object]] = {
    "model": lambda folder: flip(folder / "pages.onnx"),
    "longer model": lambda folder: (folder / "pages.onnx").write_bytes((folder / "pages.onnx").read_bytes() + b"\n"),
    "project": lambda folder: (folder / "mobpack.toml").write_text(PROJECT.replace("pages.onnx", "other.onnx")),
    "sample": lambda folder: flip(folder / "samples/more/b.npz"),
    "another sample": lambda folder: (folder / "samples/more/c.npz").touch(),
    "a sample less": lambda folder: (folder / "samples/a.npz").unlink(),
    "a sample renamed": lambda folder: (folder / "samples/a.npz").rename(folder / "samples/c.npz"),
    "artifact": lambda folder: flip(folder / "dist/swift/pages.zip"),
    "artifact cut": lambda folder: cut(folder / "dist/swift/pages.zip"),
    "an artifact less": lambda folder: (folder / "dist/swift/pages.zip").unlink(),
    "something in the release": lambda folder: (folder / "dist/swift/notes.txt").touch(),
    "no release": lambda folder: shutil.rmtree(folder / "dist"),
    "evidence of a failure": lambda folder: (folder / EVIDENCE).mkdir(),
    "another environment": lambda folder: (folder / ".cache/mobpack/environments/arm64/1").mkdir(parents=True),
    "a damaged record": lambda folder: [cut(path) for path in folder.glob(".cache/mobpack/builds/*")],
    "a record of another version": lambda folder: [
        path.write_text('{"summary": {}}') for path in folder.glob(".cache/mobpack/builds/*")
    ],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_build_is_made_anew_after_a_change(change: str, project: Path) -> None:
    CHANGES[change](project)
    assert not is_known()


def test_the_same_bytes_have_not_changed_and_the_words_say_what_was_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("pages.onnx", "dist/manifest.json", "samples/a.npz"):
        path = project / name
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    assert is_known()
    assert unchanged.in_words(OUT) == "dist is as it was made"
    monkeypatch.setattr(unchanged, "HASHED_BYTES", 50)
    assert unchanged.in_words(OUT).startswith("dist looks as it was made; its 60 B were not all read again")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert not is_known()


def touched(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Touches a file, and stops the clock then."""
    path.touch()
    now = path.stat().st_mtime_ns
    monkeypatch.setattr(time, "time_ns", lambda: now)
    return now


def test_a_change_that_leaves_the_time_is_seen_where_it_came_close_to_the_record(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep()
    path = project / "dist/swift/pages.zip"
    touched(path, monkeypatch)
    keep()
    status = path.stat()
    flip(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_known()


def test_nothing_is_hashed_the_second_time(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for a small release. Files are too new when they are recorded: they are hashed once more, then their looks
    suffice."""
    hashed: list[str] = []

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return sha256_of(path)

    monkeypatch.setattr(unchanged, "sha256_of", counted)
    later = touched(project / "dist/swift/pages.zip", monkeypatch) + 2 * RACY_NS
    keep()
    monkeypatch.setattr(time, "time_ns", lambda: later)
    monkeypatch.setattr(unchanged, "HASHED_BYTES", 0)
    assert is_known()
    assert "pages.zip" in hashed
    hashed.clear()
    assert is_known()
    assert hashed == []
    monkeypatch.setattr(unchanged, "HASHED_BYTES", 1000)
    assert is_known()
    assert hashed == ["manifest.json", "pages.zip"]


@pytest.mark.parametrize("hashed_bytes", [unchanged.HASHED_BYTES, 0], ids=["small", "large"])
@pytest.mark.parametrize("name", ["dist/swift/pages.zip", "dist/manifest.json", "pages.onnx", "samples/a.npz"])
def test_a_flipped_byte_is_noticed_though_size_and_time_were_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, hashed_bytes: int
) -> None:
    """In a small release as it is read, elsewhere by the time of the last change of any kind."""
    monkeypatch.setattr(unchanged, "HASHED_BYTES", hashed_bytes)
    later = time.time_ns() + 2 * RACY_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert is_known()
    status = (project / name).stat()
    flip(project / name)
    os.utime(project / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (project / name).stat().st_mtime_ns == status.st_mtime_ns
    assert not is_known()


def test_a_small_release_is_read_whatever_its_files_look_like(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as on Windows, after a disk has failed, or with a clock that was put back."""
    flip(project / "dist/swift/pages.zip")
    monkeypatch.setattr(unchanged.Stamp, "is_racy", lambda *_: False)
    places = list(project.glob(".cache/mobpack/builds/*"))
    for place in places:
        document = json.loads(place.read_text())
        status = (project / "dist/swift/pages.zip").stat()
        looks = {"modified_ns": status.st_mtime_ns, "changed_ns": status.st_ctime_ns}
        document["release"]["swift/pages.zip"].update(looks)
        place.write_text(json.dumps(document))
    assert not is_known()
    monkeypatch.setattr(unchanged, "HASHED_BYTES", 0)
    assert is_known()


@pytest.mark.parametrize(
    "other",
    [{"strict": True}, {"out": Path("other")}, {"targets": ("ios", "android")}, {"model": Path("pages.onnx")}],
    ids=str,
)
def test_another_command_is_another_build(project: Path, other: dict[str, object]) -> None:
    assert not is_known({**COMMAND, **other})
    assert is_known()


@pytest.mark.parametrize("name", ["PATH", "ORT_ANYTHING", "MOBPACK_ANYTHING"])
def test_variables_of_the_environment_count(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/elsewhere")
    assert not is_known()


def test_the_code_of_a_build_is_that_of_mobpack() -> None:
    assert vars(unchanged)["PACKAGE"] == Path(packager.__file__).parent
    assert vars(unchanged)["templates_folder"] is installed.templates_folder


@pytest.mark.parametrize("where", ["PACKAGE", "templates"])
def test_code_and_templates_count(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    copy = tmp_path / ".cache" / "code"
    (copy / "below").mkdir(parents=True)
    (copy / "below" / "a.py").write_text("one")
    if where == "PACKAGE":
        monkeypatch.setattr(unchanged, "PACKAGE", copy)
    else:
        monkeypatch.setattr(unchanged, "templates_folder", lambda: copy)
    keep()
    assert is_known()
    (copy / "below" / "__pycache__").mkdir()
    assert is_known()
    (copy / "below" / "a.py").write_text("two!")
    assert not is_known()


def test_installed_packages_count(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / ".cache" / "packages"
    (packages / "onnx-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(packages)
    keep()
    assert is_known()
    (packages / "onnx-1.0.dist-info").rename(packages / "onnx-1.1.dist-info")
    assert not is_known()


def test_an_input_that_changed_during_the_build_leaves_no_record(project: Path) -> None:
    begun = unchanged.start(COMMAND)
    (project / "samples/a.npz").touch()
    keep(dataclasses.replace(begun, time_ns=begun.time_ns - 1_000_000_000))
    assert not is_known()


def test_a_release_that_is_removed_meanwhile_leaves_no_record(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = unchanged._files_below(OUT)
    shutil.rmtree(project / "dist")
    monkeypatch.setattr(unchanged, "_files_below", lambda folder: listed if folder.name == "dist" else ())
    keep()
    assert list(project.glob(".cache/mobpack/builds/*")) == []


def test_gradle_leaves_no_record(project: Path) -> None:
    text = PROJECT + '[target.android]\ngroup = "com.example"\nassembler = "gradle"\n'
    (project / "mobpack.toml").write_text(text)
    age(project)
    begun = unchanged.start(COMMAND)
    unchanged.keep(begun, dataclasses.replace(ended(), targets=("android",)))
    assert not is_known()
    unchanged.keep(begun, ended())
    assert is_known()


@pytest.mark.parametrize(
    "table",
    [
        '[variant.v]\nquantizer = "static-qdq"\ncalibration = "code:samples"\n',
        '[parity.interpreters]\ncuda = "python3"\n',
        '[runtime]\nios = "onnxruntime.xcframework"\n',
    ],
    ids=["function", "interpreter", "runtime"],
)
def test_a_build_of_what_nobody_can_list_leaves_no_record(project: Path, table: str) -> None:
    text = PROJECT.replace('[parity]\nsamples = "samples"\n', "") + table
    (project / "mobpack.toml").write_text(text.replace("[target.ios]\n", "") + "[target.ios]\n")
    age(project)
    keep()
    assert not is_known()
    (project / "mobpack.toml").write_text(PROJECT)
    age(project)
    keep()
    assert is_known()


def test_records_of_old_commands_are_removed(project: Path) -> None:
    (old,) = project.glob(".cache/mobpack/builds/*.json")
    unchanged.keep(unchanged.start({"model": None}), ended())
    assert old.exists()
    os.utime(old, (LONG_AGO_S, LONG_AGO_S))
    unchanged.keep(unchanged.start({"model": None}), ended())
    assert not old.exists()


@pytest.mark.parametrize("in_its_place", ["a file as folder", "a folder as record"])
def test_a_build_whose_record_cannot_be_written_ends_well(project: Path, in_its_place: str) -> None:
    (record,) = project.glob(".cache/mobpack/builds/*.json")
    record.unlink()
    if in_its_place == "a file as folder":
        record.parent.rmdir()
        record.parent.write_text("")
    else:
        record.mkdir()
    keep()
    assert not is_known()


def test_a_build_that_cannot_renew_its_record_is_still_known(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (record,) = project.glob(".cache/mobpack/builds/*.json")
    flat = json.loads(record.read_text())
    record.write_text(json.dumps({**flat, "recorded_ns": 1}))  # so long ago that the files look younger
    monkeypatch.setattr(host, "replace", no_space)
    assert is_known()


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
