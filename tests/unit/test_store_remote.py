"""Results of other machines: fetched once, verified before they are used, replaced where they are spoilt."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from packager.config import CacheTable
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.files.store import Step, listing, remote
from packager.files.store.listing import SMALL_BYTES, UnusableError, parsed
from packager.files.store.objects import FolderObjects, open_objects
from packager.files.store.remote import LAYOUT, Remote
from packager.signing.envelope import written
from packager.signing.keys import open_signer, signed
from packager.workflows import shared_store
from packager.workflows.shared_store import KEY, MODE, named, remote_of
from tests.cases.signing_cases import Key, make_key
from tests.cases.store_remote import FILES, STEP, Machine, _quick, machine, objects_of

__all__ = ["_quick"]

LOCAL_STEP = Step(name="own", caller="packager.core.errors", is_shared=False)


def counts(of: Machine) -> dict[str, float]:
    assert of.store.remote
    return {name: count for name, count in vars(of.store.remote.counts).items() if count and not name.endswith("_s")}


@pytest.mark.parametrize("inline", [listing.INLINE_BYTES, 10 << 20])
@pytest.mark.parametrize("chunk", [remote.CHUNK_BYTES, 1000])
def test_a_result_is_made_on_one_machine_and_used_on_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inline: int, chunk: int
) -> None:
    monkeypatch.setattr(listing, "INLINE_BYTES", inline)
    monkeypatch.setattr(remote, "CHUNK_BYTES", chunk)
    first, second = (machine(tmp_path / name, tmp_path / "shared") for name in ("first", "second"))
    made, fetched = first.get(), second.get()
    assert (first.made, second.made) == ([1], [])
    assert made.relative_to(tmp_path / "first") == fetched.relative_to(tmp_path / "second")
    again = machine(tmp_path / "second", tmp_path / "shared")
    again.get()
    assert (again.made, counts(again)) == ([], {})  # it is asked for once
    assert first.warnings == second.warnings == []


def test_what_belongs_to_one_machine_stays_there(tmp_path: Path) -> None:
    first, second = (machine(tmp_path / name, tmp_path / "shared") for name in ("first", "second"))
    for each in (first, second):
        each.get(step=LOCAL_STEP)
        assert (each.made, counts(each)) == ([1], {})


def test_results_with_links_stay_here(tmp_path: Path) -> None:
    first = machine(tmp_path / "first", tmp_path / "shared")
    first.store.results(STEP, 1, lambda folder: (folder / "link").symlink_to("/etc/passwd"))
    assert first.store.remote
    first.store.remote.flush()
    assert not (tmp_path / "shared").exists()


def test_other_kinds_of_machines_have_other_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path / "first", tmp_path / "shared").get()
    monkeypatch.setattr(shared_store, "machine", lambda: "darwin-aarch64")
    other = machine(tmp_path / "other", tmp_path / "shared")
    other.get()
    assert other.made == [1]


def test_find_and_has_ask_the_other_machines(tmp_path: Path) -> None:
    first, second = (machine(tmp_path / name, tmp_path / "shared") for name in ("first", "second"))
    first.get()
    assert second.store.has(STEP, 1)
    assert not second.store.has(STEP, 2)
    assert counts(second) == {}
    assert second.store.find(STEP, 2) is None
    found = second.store.find(STEP, 1)
    assert found
    assert (found / "one.json").read_bytes() == FILES["one.json"]


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def of_size(shared: Path, size_bytes: int) -> Path:
    (found,) = [path for path in objects_of(shared, "blobs") if path.stat().st_size == size_bytes]
    return found


def pack_of(shared: Path) -> Path:
    return of_size(shared, sum(len(each) for each in FILES.values() if len(each) <= SMALL_BYTES))


def weights_of(shared: Path) -> Path:
    return of_size(shared, len(FILES["weights"]))


def swap(shared: Path) -> None:
    """The list of one result lies under the name of the other."""
    one, other = objects_of(shared, "results")
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def rewritten(shared: Path, change: Callable[[dict[str, Any]], object]) -> None:
    for path in objects_of(shared, "results"):
        document = json.loads(path.read_bytes())
        change(document)
        path.write_text(json.dumps(document))


DAMAGE: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a byte of a large file": (lambda shared: flip(weights_of(shared)), "weights has another sha256"),
    "a large file cut short": (lambda shared: weights_of(shared).write_bytes(b"short"), "missing, or cut short"),
    "a large file gone": (lambda shared: weights_of(shared).unlink(), "missing, or cut short"),
    "a byte of a small file": (lambda shared: flip(pack_of(shared)), "another sha256 than is listed"),
    "small files cut short": (lambda shared: pack_of(shared).write_bytes(b"{}"), "missing, or cut short"),
    "small files gone": (lambda shared: pack_of(shared).unlink(), "missing, or cut short"),
    "all blobs gone": (lambda shared: shutil.rmtree(shared / LAYOUT / "blobs"), "missing, or cut short"),
    "lists of other results": (swap, "the result of something else"),
    "lists cut short": (
        lambda shared: [path.write_bytes(path.read_bytes()[:50]) for path in objects_of(shared, "results")],
        "its list of files is damaged",
    ),
    "empty lists": (
        lambda shared: [path.write_bytes(b"") for path in objects_of(shared, "results")],
        "its list of files is damaged",
    ),
    "paths that lead out": (
        lambda shared: rewritten(shared, lambda each: each["files"][0].__setitem__(0, "../../../out")),
        "'../../../out', which would lie outside",
    ),
    "too large": (
        lambda shared: rewritten(shared, lambda each: each["files"][0].__setitem__(1, 1 << 40)),
        "which is too large",
    ),
    "a list that is too large": (
        lambda shared: [path.write_bytes(b" " * ((16 << 20) + 1)) for path in objects_of(shared, "results")],
        "its list of files is too large",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_is_not_used_but_made_and_replaced(tmp_path: Path, damage: str) -> None:
    shared = tmp_path / "shared"
    first = machine(tmp_path / "first", shared)
    first.get(1)
    first.get(2)
    change, reason = DAMAGE[damage]
    change(shared)
    second = machine(tmp_path / "second", shared)
    second.get(1)
    second.get(2)
    assert second.made in ([1, 2], [1])  # both results have the same blobs, which the first one replaces
    assert len(second.warnings) == 1
    assert reason in second.warnings[0]
    assert not list(tmp_path.rglob("out*"))
    third = machine(tmp_path / "third", shared)
    third.get(1)
    third.get(2)
    assert (third.made, third.warnings) == ([], [])


SHA = "a" * 64

LISTS: Mapping[str, Any] = {
    "absolute": [["/etc/passwd", 1, SHA]],
    "upwards": [["a/../../b", 1, SHA]],
    "itself": [["./a", 1, SHA]],
    "nothing": [["", 1, SHA]],
    "the folder": [[".", 1, SHA]],
    "two slashes": [["a//b", 1, SHA]],
    "of Windows": [["a\\b", 1, SHA]],
    "a drive": [["c:a", 1, SHA]],
    "a zero byte": [["a\0", 1, SHA]],
    "a long name": [["a" * 241, 1, SHA]],
    "a long name in bytes": [["ä" * 121, 1, SHA]],
    "a long path": [["/".join(["a" * 200] * 6), 1, SHA]],
    "1,500 folders": [["a/" * 1500 + "b", 1, SHA]],
    "33 folders": [["a/" * 32 + "b", 1, SHA]],
    "half a letter": [["\ud800", 1, SHA]],
    "an escape": [["a\x1b[2J", 1, SHA]],
    "no name": [[1, 1, SHA]],
    "twice": [["a", 1, SHA], ["a", 1, SHA]],
    "twice on a Mac": [["a", 1, SHA], ["A", 1, SHA]],
    "a folder and a file": [["a", 1, SHA], ["a/b", 1, SHA]],
    "less than nothing": [["a", -1, SHA]],
    "a fraction": [["a", 1.5, SHA]],
    "a truth": [["a", True, SHA]],
    "no sha256": [["a", 1, "A" * 64]],
    "a short sha256": [["a", 1, "a"]],
    "another flag": [["a", 1, SHA, "s"]],
    "more": [["a", 1, SHA, "x", "x"]],
    "no list": [1],
    "too many": [[f"{number}", 0, SHA] for number in range(20_001)],
    "too large in all": [[f"{number}", 1 << 32, SHA] for number in range(3)],
    "too many small ones": [[f"{number}", 1 << 18, SHA] for number in range(257)],
}


def test_lists_name_plain_files_in_one_folder() -> None:
    for name in LISTS:
        document = {"format": listing.FORMAT, "step": "step", "key": "k", "files": [["good", 1, SHA]], "pack": SHA}
        assert parsed(json.dumps(document).encode(), "step", "k").files[0].name == "good"
        with pytest.raises(UnusableError):
            parsed(json.dumps({**document, "files": LISTS[name]}).encode(), "step", "k")
    for content in [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"format": 1}',
        b'{"format": "mobpack-cache-2"}',
    ]:
        with pytest.raises(UnusableError):
            parsed(content, "step", "k")


def test_a_result_that_this_disk_does_not_take_is_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one with names that it cannot have."""
    machine(tmp_path / "first", tmp_path / "shared").get()

    def refused(*_: object) -> None:
        raise OSError(36, "File name too long")

    monkeypatch.setattr(remote, "put", refused)
    second = machine(tmp_path / "second", tmp_path / "shared")
    second.get()
    assert second.made == [1]
    assert "cannot be written here: File name too long" in second.warnings[0]


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys", "cache")


def writing_with(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, str(private))


def test_signed_results_are_used_with_their_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Key) -> None:
    writing_with(key.private, monkeypatch)
    machine(tmp_path / "first", tmp_path / "shared").get()
    monkeypatch.delenv(KEY)
    for name, trust in (("trusting", (key.public,)), ("careless", ())):
        reader = machine(tmp_path / name, tmp_path / "shared", trust=trust)
        reader.get()
        assert (reader.made, reader.warnings) == ([], [])


def test_unsigned_results_are_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Key) -> None:
    """Unsigned, signed by another key, changed after it was signed, signed as something else, or for another result."""
    other = make_key(tmp_path / "keys", "other")
    shared = tmp_path / "shared"

    def put(sign: Path | None, kind: str) -> None:
        shutil.rmtree(shared, ignore_errors=True)
        if sign:
            monkeypatch.setenv(KEY, str(sign))
        writer = machine(tmp_path / f"writer {kind}", shared)
        writer.get(1)
        writer.get(2)
        monkeypatch.delenv(KEY, raising=False)

    for kind, sign, change, reason in (
        ("unsigned", None, lambda: None, "it is not signed"),
        ("other key", other.private, lambda: None, "signed by another key"),
        ("changed", key.private, lambda: [*map(changed, objects_of(shared, "results"))], "was changed"),
        ("swapped", key.private, lambda: swap(shared), "the result of something else"),
        ("blob", key.private, lambda: flip(weights_of(shared)), "another sha256"),
        ("of a release", key.private, lambda: resigned(shared, key.private), "of something else"),
    ):
        put(sign, kind)
        change()
        reader = machine(tmp_path / f"reader {kind}", shared, trust=(key.public,))
        reader.get(1)
        reader.get(2)
        assert reader.made == [1, 2], kind
        assert len(reader.warnings) == 1, reader.warnings
        assert reason in reader.warnings[0]


def changed(path: Path) -> None:
    """The signed content with another sha256 in it."""
    import base64

    document = json.loads(path.read_bytes())
    envelope = document["dsseEnvelope"]
    payload = json.loads(base64.b64decode(envelope["payload"]))
    payload["files"][0][2] = "0" * 64
    envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
    path.write_text(json.dumps(document))


def resigned(shared: Path, private: Path) -> None:
    """Each list, signed with the right key as a statement of a release."""
    import base64

    for path in objects_of(shared, "results"):
        payload = base64.b64decode(json.loads(path.read_bytes())["dsseEnvelope"]["payload"])
        path.write_bytes(written(signed(open_signer(str(private)), "application/vnd.in-toto+json", payload)))


def test_what_was_fetched_untrusted_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Key) -> None:
    """A poisoned result does not reach packages through the cache of this machine either."""
    machine(tmp_path / "writer", tmp_path / "shared").get()
    machine(tmp_path / "own", tmp_path / "shared").get()
    for url, trust in (("", ()), (tmp_path / "elsewhere", ()), (tmp_path / "shared", (key.public,))):
        shutil.copytree(tmp_path / "own", tmp_path / "copy", copy_function=shutil.copy2)
        reader = machine(tmp_path / "copy", url, trust=trust)
        reader.get()
        assert reader.made == [1], url
        anybody = machine(tmp_path / "copy", None)
        anybody.get()
        assert anybody.made == [], "what was made here is used by all"
        shutil.rmtree(tmp_path / "copy")


def test_whoever_trusts_keys_writes_only_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Key) -> None:
    reader = machine(tmp_path / "own", tmp_path / "shared", trust=(key.public,))
    assert reader.store.remote
    assert not reader.store.remote.is_written
    with pytest.raises(ConfigError, match="no key to sign with"):
        machine(tmp_path / "own", tmp_path / "shared", trust=(key.public,), mode="read-write")
    writing_with(key.private, monkeypatch)
    writer = machine(tmp_path / "own", tmp_path / "shared", trust=(key.public,))
    writer.get()
    assert objects_of(tmp_path / "shared", "results")


def test_a_reader_sends_nothing(tmp_path: Path) -> None:
    reader = machine(tmp_path / "own", tmp_path / "shared", mode="read")
    reader.get()
    assert not (tmp_path / "shared").exists()
    assert reader.warnings == []


@dataclass
class Failing:
    """A store that fails."""

    error: Exception | None
    is_read_only: bool = False
    wait_s: float = 0.0
    requests: int = 0

    def __getattr__(self, name: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            import time

            self.requests += 1
            time.sleep(self.wait_s)
            if self.error:
                raise self.error

        return fail


@pytest.mark.parametrize(
    ("error", "wait_s", "reason", "most"),
    [
        (OSError("connection refused"), 0.0, "connection refused", 2),
        (RuntimeError("a library's own"), 0.0, "RuntimeError: a library's own", 2),
        (PermissionError("Access Denied"), 0.0, "s3:ListBucket", 1),
        (FileNotFoundError("The specified bucket does not exist"), 0.0, "bucket does not exist", 1),
        (None, 30.0, "no answer in", 1),
    ],
)
def test_a_store_that_fails_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None, wait_s: float, reason: str, most: int
) -> None:
    if wait_s:
        monkeypatch.setattr(remote, "FIRST_DEADLINE_S", 0.2)
    objects = Failing(error, wait_s=wait_s)
    here = machine(tmp_path / "own", tmp_path / "shared")
    assert here.store.remote
    here.store.remote.objects = objects
    for inputs in range(3):
        here.get(inputs)
    assert here.made == [0, 1, 2]
    assert len(here.warnings) == 1
    assert reason in here.warnings[0]
    assert objects.requests <= most
    assert counts(here)["unsent"] == 3


def test_a_folder_that_is_not_mounted_is_one_warning(tmp_path: Path) -> None:
    here = machine(tmp_path / "own", tmp_path / "not" / "mounted")
    here.get(1)
    here.get(2)
    assert len(here.warnings) == 1
    assert "is the disk mounted?" in here.warnings[0]


def test_addresses_that_cannot_be_used_are_refused() -> None:
    for url, message in [
        ("s3://name:secret@bucket/prefix", "credentials"),
        ("https://example.com/cache?sig=secret", "credentials"),
        ("simplecache::s3://bucket", "chain"),
        ("s3:///prefix", "names no bucket"),
        ("nowhere://bucket", "nowhere"),
    ]:
        with pytest.raises(ConfigError, match=message) as refusal:
            open_objects(url)
        assert "secret" not in refusal.value.message
        assert refusal.value.hint


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def missing(*_: object, **__: object) -> None:
        raise ImportError("Please install gcsfs to access Google Storage")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    for url, command in (("gs://bucket", "pip install gcsfs"), ("s3://bucket", "pip install 'mobpack[cache]'")):
        with pytest.raises(ConfigError) as refusal:
            open_objects(url)
        assert command in refusal.value.hint


def test_the_option_goes_before_the_variable_and_that_before_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    table = CacheTable(remote="s3://project", mode="read")
    assert named(table).remote == "s3://project"
    monkeypatch.setenv(shared_store.REMOTE, "s3://variable")
    assert named(table).remote == "s3://variable"
    assert named(table, "off").remote == "off"
    assert remote_of(named(table, "off"), Console(quiet=True)) is None
    monkeypatch.setenv(MODE, "read-write")
    assert named(table).mode == "read-write"
    monkeypatch.setenv(MODE, "write")
    with pytest.raises(ConfigError, match="MOBPACK_CACHE_MODE is 'write'"):
        named(table)


def test_memory_and_file_addresses(tmp_path: Path) -> None:
    assert open_objects((tmp_path / "a b").as_uri()) == FolderObjects(root=tmp_path / "a b")
    objects = open_objects("memory://cache")
    assert objects.create("a/b", b"1")
    assert not objects.create("a/b", b"2")
    assert objects.read("a/b", start=0, limit_bytes=10) == b"1"
    assert [each.name for each in objects.listed("a")] == ["a/b"]
    objects.delete("a/b")
    objects.delete("a/b")
    assert objects.size_of("a/b") is None


def test_of_writers_at_the_same_moment_one_creates(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    objects = FolderObjects(root=tmp_path / "shared")
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda number: objects.create("a", b"%d" % number * 1000), range(8)))
    assert won.count(True) == 1
    assert objects.read("a", limit_bytes=9999) == b"%d" % won.index(True) * 1000
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["a"]


def test_the_words_of_a_command(tmp_path: Path) -> None:
    first, second = (machine(tmp_path / name, tmp_path / "shared") for name in ("first", "second"))
    first.get()
    second.get()
    for each, words in ((first, "0 of 1 results fetched, 1 sent (624.8 kB)"), (second, "1 of 1 results fetched (62")):
        assert isinstance(each.store.remote, Remote)
        assert shared_store.in_words(each.store.remote.counts).startswith(words)
