"""Files that users name must be regular ones: nothing waits for a pipe, and no device is opened."""

import os
import socket
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy
import pytest

from packager.core import user_files
from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.zips import ARRAYS, ONE_SAMPLE, RUNTIME, UNSUSPICIOUS_BYTES, ZipLimits, opened_zip, read_entry
from packager.runtimes import library, shipping
from packager.samples.given import files
from packager.targets.xcframework import folder as xcframework_folder
from tests.cases.caches import empty_cache
from tests.cases.cli import in_process
from tests.cases.onnx_text import linear, saved

Special = Callable[[Path], None]


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # a path of a socket has 107 bytes at most


SPECIAL: dict[str, tuple[Special, str]] = {
    "pipe": (os.mkfifo, "a pipe, not a file"),
    "socket": (unix_socket, "a socket, not a file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "a device, not a file"),
    "folder": (Path.mkdir, "a folder, not a file"),
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    make, words = SPECIAL[kind]
    make(tmp_path / "x")
    with pytest.raises(OSError, match=words):
        user_files.opened(tmp_path / "x")
    with pytest.raises(OSError, match=words):
        sha256_of(tmp_path / "x")


def test_files_are_read_up_to_their_limit_and_usual_archives_whole(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(1024))
    assert user_files.read(tmp_path / "x", limit_bytes=1024) == bytes(1024)
    with pytest.raises(OSError, match="larger than 0 KiB"):
        user_files.read(tmp_path / "x", limit_bytes=1023)
    with pytest.raises(FileNotFoundError):
        user_files.read(tmp_path / "y", limit_bytes=1)
    for action in (user_files.opened, user_files.size_of):
        with pytest.raises(OSError, match="not a valid file path"):
            action(Path("a\0b"))
    numpy.savez_compressed(tmp_path / "0.npz", x=numpy.zeros(1 << 24, numpy.uint8))
    with user_files.opened(tmp_path / "0.npz") as file, opened_zip(file, ONE_SAMPLE) as archive:
        assert len(read_entry(archive, "x.npy")) == (1 << 24) + 128
    assert files(tmp_path) == (tmp_path / "0.npz",)


PROJECT = """
[package]
name = "p"
[model.m]
path = "m.onnx"
[parity]
random-samples = 1
[target.android]
providers = []
"""
CONTRACT = '[model.m.outputs.y]\nkind = "classes"\nactivation = "none"\n'
PLACES: dict[str, tuple[str, tuple[str, ...]]] = {
    "model": ("", ("inspect", "x")),
    "configuration": ("", ("build", "-c", "x")),
    "licence": ("", ("build", "--set", 'model.m.license="x"')),
    "labels": (CONTRACT + 'labels = "x"\n', ("check",)),
    "samples": ("", ("check", "--set", 'parity.samples="x"')),
    "one of the samples": ("", ("check", "--set", 'parity.samples="samples"')),
    "recorded outputs": ("", ("check", "--set", 'parity.samples="good"', "--set", 'parity.recorded="recorded"')),
    "runtime": ("", ("check", "--set", 'runtime.android="x"')),
    "calibration": ("", ("quantize", "m.onnx", "-q", "static-qdq", "--calibration", "samples")),
    "release": ("", ("build", "--out", "out")),
}


@pytest.mark.parametrize(
    ("place", "kind"), [*((place, "pipe") for place in PLACES), ("model", "socket"), ("one of the samples", "device")]
)
def test_no_command_waits_for_special_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "m.onnx", linear())
    more, arguments = PLACES[place]
    (tmp_path / "mobpack.toml").write_text(PROJECT + more)
    for name in ("samples", "recorded", "good", "out"):
        (tmp_path / name).mkdir()
    numpy.savez(tmp_path / "good" / "0.npz", x=numpy.ones((1, 64), numpy.float32))
    make, words = SPECIAL[kind]
    for path in ("x", "samples/1.npz", "recorded/0.npz", "out/mobpack.json"):
        make(Path(path))
    environment = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(tmp_path / "cache"))}
    done = in_process(*arguments, environment=environment)
    assert done.returncode in (2, 3, 4), done.stderr
    assert "mobpack: error:" in done.stderr
    assert words in done.stderr or place in ("runtime", "release"), done.stderr


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return content.getvalue()


def forged(size_bytes: int, name: str = "x.npy") -> bytes:
    """An archive of a few bytes whose directory declares `size_bytes` of content."""
    honest = zipped({name: bytes(1000)})
    return honest.replace((1000).to_bytes(4, "little"), size_bytes.to_bytes(4, "little"))


def overlapping() -> bytes:
    """Two entries, one body (David Fifield, A better zip bomb, 2019)."""
    content = zipped({"a.npy": numpy.random.default_rng(0).bytes(5000), "b.npy": b""})
    archive = zipfile.ZipFile(BytesIO(content))
    first = archive.infolist()[0]
    directory = bytearray(content)
    start = directory.index(b"PK\1\2", directory.index(b"PK\1\2") + 1)
    directory[start + 20 : start + 28] = first.compress_size.to_bytes(4, "little") + first.file_size.to_bytes(
        4, "little"
    )
    directory[start + 42 : start + 46] = (0).to_bytes(4, "little")
    return bytes(directory)


BOMBS = {
    "more than there may be": (
        forged(0xF0000000),
        ZipLimits(entries=10, total_bytes=1 << 30, ratio=10**9),
        "unpack to",
    ),
    "a thousand times its size": (forged(UNSUSPICIOUS_BYTES + 1), ARRAYS, "would unpack to 1,073,741,825 bytes"),
    "too many": (
        zipped({str(number): b"" for number in range(11)}),
        ZipLimits(entries=10, total_bytes=9, ratio=9),
        "lists",
    ),
    "too long a list": (
        zipped({"x" * 60000: b""}),
        ZipLimits(entries=10, total_bytes=9, ratio=9),
        "lists more than 10",
    ),
    "over each other": (overlapping(), ARRAYS, "overlap"),
    "packed by others": (zipped({"x.npy": bytes(1000)}, zipfile.ZIP_LZMA), ARRAYS, "uses compression method 14"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_by_its_directory(tmp_path: Path, bomb: str) -> None:
    content, limits, words = BOMBS[bomb]
    (tmp_path / "x").write_bytes(content)
    with (
        user_files.opened(tmp_path / "x") as file,
        pytest.raises(zipfile.BadZipFile, match=words),
        opened_zip(file, limits),
    ):
        raise AssertionError("it must not come to reading it")


def test_an_entry_never_gives_more_than_it_says(tmp_path: Path) -> None:
    """Its body is 64 MiB of zeros, its headers declare 1000 bytes: unpacking is bounded, and the damage is reported."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = body.compress(bytes(64 << 20)) + body.flush()
    honest = zipped({"x": bytes(64 << 20)})
    assert packed[:100] in honest
    (tmp_path / "x").write_bytes(honest.replace((64 << 20).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with (
        user_files.opened(tmp_path / "x") as file,
        opened_zip(file, RUNTIME) as archive,
        pytest.raises(zipfile.BadZipFile, match="Bad CRC-32"),
    ):
        read_entry(archive, "x")


def test_bombs_are_errors_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.aar").write_bytes(forged(0xF0000000, "classes.jar"))
    (tmp_path / "x.zip").write_bytes(forged(0xF0000000, "a.aar"))
    refused: list[tuple[type[MobpackError], Callable[[], object]]] = [
        (ToolError, lambda: library.load("x.aar", tmp_path)),
        (ToolError, lambda: shipping._located(tmp_path / "x.zip", Store(tmp_path / "store"))),
        (ToolError, lambda: xcframework_folder.unpack(tmp_path / "x.zip", tmp_path / "unpacked")),
    ]
    for kind, action in refused:
        with pytest.raises(kind, match="it would unpack to 4,026,531,840 bytes"):
            action()
    from packager.samples import given
    from tests.cases.onnx_text import loaded

    model = loaded(tmp_path, linear())
    (tmp_path / "0.npz").write_bytes(forged(0xF0000000))
    with pytest.raises(ConfigError, match="it would unpack to 4,026,531,840 bytes"):
        given(model, tmp_path / "0.npz", tmp_path)
