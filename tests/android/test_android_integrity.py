"""Android: damage to a model's files is found at the right load, on ONNX Runtime's Android libraries."""

import contextlib
import os
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from packager.targets.ends import BLOCK_BYTES
from tests.cases.disks import tiny_disk
from tests.toolchain import jvm, weights_apart
from tests.toolchain.device import Device, Library, device, library, write_apk
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


Installer = Callable[..., Device]

MODEL = "orientation.ort.tflite"
"""what the CPU opens"""
GRAPH, WEIGHTS = "orientation-plain.onnx.tflite", "orientation-plain/model-1.weights.tflite"
"""what XNNPACK opens"""
CORRUPTED = "com.example.models.ModelCorruptedException"
KINDS = pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])


@pytest.fixture(scope="module")
def shipped(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    return library(weights_apart.LIBRARY.archive(), tmp_path_factory.mktemp("library"), apps="Load*")


@pytest.fixture
def install(shipped: Library, tmp_path: Path) -> Installer:
    """Puts an app with the library on a new device."""

    def install(*, is_stored: bool = True) -> Device:
        return device(shipped, tmp_path, is_stored=is_stored)

    return install


def thrown(phone: Device, *, verify: str = "ONCE", provider: str = "CPU") -> str:
    """The exception that loading throws, or `null`."""
    return phone.run_warm("LoadOnly", providers=provider, verify=verify).facts["load.thrown"]


def place(phone: Device, name: str) -> tuple[Path, int, int]:
    """The file in which a stored asset lies, where it begins there, and its size."""
    with zipfile.ZipFile(phone.library.aar) as library:
        content = library.read(f"assets/mobpack/models/{name}")
    return phone.apk, max(phone.apk.read_bytes().find(content), 0), len(content)


def record_of(phone: Device, name: str) -> Path:
    return phone.kept / f"{name}.ok"


def rot(file: Path, at: int, *records: Path) -> None:
    """Changes a byte as failing storage does: nothing that the system says of the file changes.

    The time of the change cannot be set, so `records` are told of it.
    """
    before = file.stat()
    with file.open("r+b") as opened:
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    for record in records:
        text = record.read_text()
        assert in_words(before.st_ctime_ns) in text
        times = f"{in_words(before.st_mtime_ns)} {in_words(before.st_ctime_ns)} "
        record.write_text(text.replace(times, f"{in_words(before.st_mtime_ns)} {in_words(file.stat().st_ctime_ns)} "))


def in_words(nanoseconds: int) -> str:
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9}"


@pytest.mark.parametrize(("provider", "name"), [("CPU", MODEL), ("XNNPACK", GRAPH), ("XNNPACK", WEIGHTS)])
def test_a_byte_in_the_middle_that_rots_is_found_by_always_alone(install: Installer, provider: str, name: str) -> None:
    phone = install()
    assert thrown(phone, provider=provider) == "null"
    file, start, size = place(phone, name)
    is_small = size <= 2 * BLOCK_BYTES
    assert is_small == (name == GRAPH)
    rot(file, start + size // 2, *phone.kept.rglob("*.ok"))

    once = thrown(phone, provider=provider)

    assert once == (CORRUPTED if is_small else "null"), "a later load reads the first and last blocks alone"
    assert thrown(phone, provider=provider, verify="ALWAYS") == CORRUPTED
    assert not record_of(phone, name).exists()
    assert thrown(phone, provider=provider) == CORRUPTED, "what was found once is not forgotten"


@pytest.mark.parametrize("name", [MODEL, WEIGHTS])
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
def test_a_byte_of_the_first_or_last_block_that_rots_is_always_found(
    install: Installer, name: str, is_first: bool
) -> None:
    phone, provider = install(), "CPU" if name == MODEL else "XNNPACK"
    assert thrown(phone, provider=provider) == "null"
    file, start, size = place(phone, name)
    rot(file, start + (BLOCK_BYTES - 1 if is_first else size - BLOCK_BYTES), *phone.kept.rglob("*.ok"))

    assert thrown(phone, provider=provider) == CORRUPTED


def test_a_package_that_was_replaced_is_found_though_size_and_time_are_the_same(install: Installer) -> None:
    phone = install()
    assert thrown(phone) == "null"
    record, before = record_of(phone, MODEL).read_text(), phone.apk.stat()
    shutil.copyfile(phone.apk, phone.apk.with_suffix(".new"))
    file, start, size = place(phone, MODEL)
    phone.apk.with_suffix(".new").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert thrown(phone) == "null"
    assert record_of(phone, MODEL).read_text() != record, "another file was read whole"

    rot(file, start + size // 2)
    assert thrown(phone) == CORRUPTED


@pytest.mark.parametrize("provider", ["CPU", "XNNPACK"])
def test_a_full_disk_does_not_stop_a_model_that_is_mapped(install: Installer, provider: str) -> None:
    phone = install()
    data = phone.folder / "data"
    data.mkdir()
    with tiny_disk(data):
        fill(data / "photo.jpg")
        run = phone.run("LoadOnly", providers=provider)
        assert run.facts["load.thrown"] == "null", run.facts["load.message"]
        assert "is read whole at every load" in run.log
        assert not list(data.rglob("*.ok"))


def test_a_compressed_model_that_cannot_be_copied_is_told_as_a_fault_of_the_storage(install: Installer) -> None:
    phone = install(is_stored=False)
    (phone.kept / f"{MODEL}.unfinished" / "inside").mkdir(parents=True)

    assert thrown(phone) == "com.example.models.ModelStorageException"


def fill(file: Path) -> None:
    """Writes to `file` until nothing more fits on its disk."""
    with file.open("wb", buffering=0) as opened, contextlib.suppress(OSError):
        while True:
            opened.write(bytes(1024))


@pytest.mark.parametrize("damage", ["middle", "first", "last", "cut", "empty"])
def test_a_copy_that_was_damaged_is_made_anew(install: Installer, damage: str) -> None:
    phone = install(is_stored=False)
    assert thrown(phone) == "null"
    copy = phone.kept / MODEL
    right = copy.read_bytes()
    places = {"middle": len(right) // 2, "first": 0, "last": len(right) - 1}
    if damage in places:
        rot(copy, places[damage], *([record_of(phone, MODEL)] if damage != "middle" else []))
    else:
        copy.write_bytes(right[: len(right) // 2 if damage == "cut" else 0])

    assert thrown(phone) == "null"
    assert copy.read_bytes() == right


def test_a_copy_whose_middle_rots_is_made_anew_by_always_alone(install: Installer) -> None:
    phone = install(is_stored=False)
    assert thrown(phone) == "null"
    copy = phone.kept / MODEL
    right = copy.read_bytes()
    rot(copy, len(right) // 2, record_of(phone, MODEL))

    assert thrown(phone) == "null"
    assert copy.read_bytes() != right
    assert thrown(phone, verify="ALWAYS") == "null"
    assert copy.read_bytes() == right


@KINDS
@pytest.mark.parametrize("damage", ["empty", "noise", "of another file", "folder", "cut"])
def test_a_damaged_record_has_the_file_read_whole(install: Installer, is_stored: bool, damage: str) -> None:
    phone = install(is_stored=is_stored)
    assert thrown(phone) == "null"
    record = record_of(phone, MODEL)
    right = record.read_bytes()
    contents = {"empty": b"", "noise": bytes(range(256)), "cut": right[:-1]}
    if damage == "folder":
        record.unlink()
        (record / "inside").mkdir(parents=True)
    elif damage == "of another file":
        assert thrown(phone, provider="XNNPACK") == "null"
        shutil.copyfile(record_of(phone, WEIGHTS), record)
    else:
        record.write_bytes(contents[damage])

    assert thrown(phone) == "null"

    if damage != "folder":
        assert record.read_bytes() == right
    file, start, size = place(phone, MODEL)
    rot(file if is_stored else phone.kept / MODEL, (start if is_stored else 0) + size // 2)
    assert thrown(phone) == (CORRUPTED if is_stored else "null"), "a copy is made anew"


def test_an_app_that_can_write_nothing_reads_the_file_whole_each_time(install: Installer) -> None:
    phone = install()
    phone.kept.parent.parent.mkdir(parents=True)
    phone.kept.parent.write_text("a file where a folder should be")

    run = phone.run_warm("LoadOnly", providers="CPU")

    assert run.facts["load.thrown"] == "null"
    assert f"mobpack/models/{MODEL} is read whole at every load" in run.log
    file, start, size = place(phone, MODEL)
    rot(file, start + size // 2)
    assert thrown(phone) == CORRUPTED


@KINDS
def test_threads_and_processes_may_load_for_the_first_time_at_once(install: Installer, is_stored: bool) -> None:
    phone = install(is_stored=is_stored)

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(phone.run, "LoadAtOnce", providers="CPU") for _ in range(2)]
        failures = [run.result().facts["failures"] for run in runs]

    assert failures == ["", ""]
    record = record_of(phone, MODEL).read_bytes()
    assert thrown(phone) == "null"
    assert record_of(phone, MODEL).read_bytes() == record
    assert {path.name for path in phone.kept.iterdir()} == {"lock", f"{MODEL}.ok", *([] if is_stored else [MODEL])}


def test_records_are_of_the_installation(install: Installer) -> None:
    phone = install()
    assert thrown(phone) == "null"
    record = record_of(phone, MODEL).read_text()
    later = phone.apk.stat().st_mtime + 10
    os.utime(phone.apk, (later, later))

    assert thrown(phone) == "null"

    assert record_of(phone, MODEL).read_text() != record
    write_apk(phone.library.aar, phone.apk, is_stored=True)
    assert thrown(phone) == "null"
