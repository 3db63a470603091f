"""Dart: whatever servers, publishers and disks do, and wherever the app is killed, it opens a verified model."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from packager import deltas
from tests.delivery_drivers.dart import kept, of_releases
from tests.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.delivery_releases import BUNDLED, FIRST, MODEL, SECOND
from tests.delivery_server import without_deltas
from tests.delivery_tales import Tale
from tests.delivery_telling import TRICKLES, Language, fills_up, told, trickles
from tests.toolchain.dart import dart
from tests.toolchain.delivery_packages import RELEASES
from tests.toolchain.react_native.download.server import Fault, gated, held, wait_until

pytestmark = [pytest.mark.by_content(of=[RELEASES["flutter"]]), pytest.mark.flutter]

VECTORS = Path(__file__).parent / "data" / "deltas" / "vectors.json"


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    dart()
    with of_releases(tmp_path_factory.mktemp("flutter")) as found:
        yield found


@told()
def test_a_verified_model_is_opened_after(language: Language, tale: Tale, tmp_path: Path) -> None:
    language.tell(tale, tmp_path)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    assert language.dying
    assert language.kept
    victim = Victim(
        channel=language.channel, start=language.start, dying=language.dying, kept=language.kept, scratch=tmp_path
    )
    print(f"{kill_everywhere(victim, version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)


@TRICKLES
def test_a_server_that_sends_a_byte_now_and_then_holds_no_update(
    language: Language, fault: Fault, is_document: bool, tmp_path: Path
) -> None:
    trickles(language, tmp_path, fault, is_document=is_document)


def updated(language: Language, folder: Path) -> Path:
    """A device that has FIRST from the channel."""
    language.channel.reset()
    with language.start(folder / "device") as app:
        assert app.ask("update force")["states"][MODEL]["phase"] == "ready"
    return folder / "device"


def test_deltas_of_all_languages_are_applied_and_refused(language: Language, tmp_path: Path) -> None:
    assert language.dying
    with language.dying(tmp_path / "device", {"VECTORS": str(VECTORS)}) as app:
        found = app.ask(f"vectors {VECTORS}")
    assert (found["applied"], found["refused"], found["wrong"], found["taken"]) == (10, 26, [], []), found


@pytest.mark.nightly("all deltas of the vectors, applied and refused")
def test_a_delta_is_applied_in_memory_that_does_not_grow_with_the_file(language: Language, tmp_path: Path) -> None:
    def used(megabytes: int) -> int:
        old, new, delta = (tmp_path / f"{name}-{megabytes}" for name in ("old", "new", "delta"))
        content = np.random.default_rng(3).standard_normal(megabytes << 18).astype(np.float32)
        old.write_bytes(content.tobytes())
        new.write_bytes((content * np.float32(1.0001)).tobytes())
        delta.write_bytes(deltas.make(old, new))
        with language.start(tmp_path / "device") as app:
            found = app.ask(f"patch {old} {delta} {tmp_path / 'made'} {1 << 30}")
        assert (tmp_path / "made").read_bytes() == new.read_bytes()
        print(f"{megabytes} MiB in {found['seconds']:.2f} s")
        return int(found["KiB"])

    # Dart's heap grows with the first megabytes that a program makes, and stays: 46 MiB for a file of 24, and of 48.
    assert used(40) - used(24) < 8 * 1024


@pytest.mark.parametrize("kind", ["trying", "opening"])
def test_a_release_that_has_ended_the_app_twice_is_not_opened_again(
    language: Language, kind: str, tmp_path: Path
) -> None:
    device = updated(language, tmp_path)
    state = kept(device) / "state.json"
    record = json.loads(state.read_text(encoding="utf-8"))
    version, before = (SECOND, FIRST) if kind == "trying" else (FIRST, BUNDLED)
    record["models"][MODEL][kind] = {"version": version, "count": 2}
    state.write_text(json.dumps(record), encoding="utf-8")
    language.channel.show(3 if kind == "trying" else 2)
    with language.start(device) as app:
        if kind == "trying":
            found = app.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) == ("failed", before), found
            assert "ended 2 times" in found["reason"], found
        found = app.ask("load")
        assert found["version"] == before, found
        again = app.ask("update force")["states"][MODEL]
        assert (again["phase"], again["version"]) == ("up-to-date", before), "it is banned"


def test_a_cancelled_update_goes_on_where_it_ended(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    language.channel.publish(without_deltas)
    language.channel.on_each_blob(held(2000))
    with language.start(device) as app:
        assert app.ask("cancel")["error"] == "cancelled"
        assert app.ask("load")["version"] == FIRST
        language.channel.forget()
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("ready", SECOND), found
    starts = [each.range.removeprefix("bytes=").partition("-")[0] for each in language.channel.address.files.requests]
    assert any(each not in ("", "0") for each in starts), starts


def test_two_programs_of_one_app_do_not_update_at_once(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    language.channel.publish(without_deltas)
    gate = Event()
    language.channel.on_each_blob(gated(gate))
    language.channel.forget()
    with language.start(device) as one, language.start(device) as other, ThreadPoolExecutor() as pool:
        first = pool.submit(one.ask, "update force")
        assert wait_until(lambda: any("/blobs/" in each.path for each in language.channel.address.files.requests))
        second = other.ask("update force")["states"][MODEL]
        assert (second["phase"], second["version"]) == ("waiting", FIRST), second
        assert other.ask("load")["version"] == FIRST
        gate.set()
        assert first.result()["states"][MODEL]["version"] == SECOND
        assert other.ask("load")["version"] == SECOND


def test_downloads_keep_below_the_limit_of_the_app(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    language.channel.show(3)
    with language.start(device) as app:
        app.ask("limit 20000")
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("failed", FIRST), found
        assert "the limit is 20000" in found["reason"], found
