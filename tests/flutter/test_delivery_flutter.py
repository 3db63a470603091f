"""Dart: whatever servers, publishers and disks do, and wherever the app is killed, it opens a verified model."""

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cases.delivery_flutter import language
from tests.cases.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.cases.delivery_language import Language, fills_up, trickles, trickling, visits
from tests.cases.delivery_releases import FIRST, MODEL, SECOND
from tests.cases.delivery_scenarios import VISITS
from tests.cases.delivery_server import HONEST, releases, without_deltas
from tests.cases.delivery_stage import Visit
from tests.cases.tuf_attacks import ATTACKS
from tests.delivery_drivers.dart import kept
from tests.toolchain.react_native.download.server import Fault, gated, held, wait_until

__all__ = ["language"]


VECTORS = Path(__file__).parents[1] / "data" / "deltas" / "vectors.json"


@visits((*VISITS, *ATTACKS))
def test_a_verified_model_is_opened_after(language: Language, visit: Visit, tmp_path: Path) -> None:
    language.play(visit, tmp_path)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    print(f"{kill_everywhere(Victim.of(language, tmp_path), version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)


@trickling()
def test_a_server_that_sends_a_byte_now_and_then_holds_no_update(
    language: Language, fault: Fault, is_document: bool, tmp_path: Path
) -> None:
    trickles(language, tmp_path, fault, is_document=is_document)


def updated(language: Language, folder: Path) -> Path:
    """A device that has FIRST from the channel."""
    language.channel.reset()
    with language.process(folder / "device") as app:
        assert app.ask("update force")["states"][MODEL]["phase"] == "ready"
    return folder / "device"


def test_deltas_of_all_languages_are_applied_and_refused(language: Language, tmp_path: Path) -> None:
    assert language.dying
    with language.dying(tmp_path / "device", {"VECTORS": str(VECTORS)}) as app:
        found = app.ask(f"vectors {VECTORS}")
        assert (found["applied"], found["refused"], found["wrong"], found["taken"]) == (10, 26, [], []), found
        applied = json.loads(VECTORS.read_text(encoding="utf-8"))["applied"]
        whole = next(each for each in applied if each["name"] == "all of it copied")
        source, delta, result = (tmp_path / "device" / name for name in ("source", "delta", "result"))
        delta.write_bytes(base64.b64decode(whole["delta"]))
        assert "more than 511" in app.ask(f"patch {source} {delta} {result} 511").get("message", "")
        assert "error" not in app.ask(f"patch {source} {delta} {result} 512")


def no_model(language: Language) -> None:
    """The newest release is one that ONNX Runtime does not open."""

    def edit(document: dict[str, Any]) -> None:
        for each in releases(document)[0]["files"]:
            each["data"], each["golden"], each["allowed"] = [], [], []
            each["file"].update(language.channel.put(b"this is not a model" * 1000), deltas=[])

    language.channel.publish(edit)


def record(device: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((kept(device) / "state.json").read_text(encoding="utf-8"))["models"][MODEL]
    return found


def test_a_failure_of_the_runtime_counts_once_a_start_and_the_third_start_bans_for_some_time(
    language: Language, tmp_path: Path
) -> None:
    device = updated(language, tmp_path)
    no_model(language)
    for start in (1, 2):
        with language.process(device) as app:
            app.ask("left yes")
            assert "is tried again" in app.ask("update force")["states"][MODEL]["reason"]
            app.ask("left no")
            assert (record(device)["failing"] or {"count": 0})["count"] == start - 1, "nobody saw the app"
            assert "is tried again" in app.ask("update force")["states"][MODEL]["reason"]
            language.channel.forget()
            found = app.ask("update force")["states"][MODEL]
            assert (found["phase"], "after its next start" in found["reason"]) == ("waiting", True), found
            assert not any(map(language.channel.is_file, language.channel.asked)), "it is not tried again"
            assert app.ask("load")["version"] == FIRST
        failing = record(device)["failing"]
        assert (failing["version"], failing["count"], record(device)["banned"]) == (SECOND, start, [])
    with language.process(device) as app:
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], "is not tried for 30 days" in found["reason"]) == ("failed", True), found
        assert app.ask("bans")["bans"] == 1
        assert app.ask("update force")["states"][MODEL]["phase"] == "up-to-date"
    [ban] = record(device)["banned"]
    assert (ban["version"], record(device)["failing"]) == (SECOND, None)
    assert 29 < (ban["until"] / 1000 - time.time()) / 86400 < 31
    change(device, lambda model: model["banned"][0].update(until=1))
    language.channel.publish(number=HONEST)
    with language.process(device) as app:
        assert app.ask("update force")["states"][MODEL]["version"] == SECOND, "the ban has ended"


def change(device: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    state = kept(device) / "state.json"
    content = json.loads(state.read_text(encoding="utf-8"))
    edit(content["models"][MODEL])
    state.write_text(json.dumps(content), encoding="utf-8")


def test_a_release_that_the_runtime_does_not_open_is_kept_until_it_is_banned(
    language: Language, tmp_path: Path
) -> None:
    device = updated(language, tmp_path)
    no_model(language)
    with language.process(device) as app:
        assert "is tried again" in app.ask("update force")["states"][MODEL]["reason"]
    folder = kept(device)
    targets, text = (
        (folder / name).read_text(encoding="utf-8") for name in ("metadata/targets.json", f"releases/{MODEL}.json")
    )
    voucher = json.dumps({"metadata": {"targets": targets}, "releases": text}).encode()
    name = hashlib.sha256(voucher).hexdigest()
    (folder / "vouchers" / f"{name}.json").write_bytes(voucher)
    newest = json.loads(text)["releases"][0]
    files = [each["file"]["sha256"] for each in newest["files"] if each["target"] == "android"]
    active = {"voucher": name, "version": SECOND, "number": newest["number"], "files": files[:1]}
    change(device, lambda model: model.update(previous=model["active"], active=active))
    for start in (2, 3):
        with language.process(device) as app:
            reason = app.ask("load")["state"][MODEL]["reason"]
            assert ("not opened this time" if start == 2 else "not opened for 30 days") in reason
            assert app.ask("load")["failures"] == [], "it is not opened again by this start"
            assert app.ask("load")["version"] == FIRST
        found = record(device)
        if start == 2:
            assert (found["active"]["version"], found["failing"]["count"], found["banned"]) == (SECOND, 2, [])
        else:
            assert (found["active"]["version"], found["previous"]) == (FIRST, None)
            assert [each["version"] for each in found["banned"]] == [SECOND]


def test_an_open_model_keeps_working_after_its_files_were_removed(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    files = kept(device) / "files"
    with language.process(device) as app:
        computed = app.ask("load")["sum"]
        count = len(list(files.iterdir()))
        app.ask("remove")
        app.ask("release")
        assert app.ask("run")["sum"] == computed, "it is opened again"
        assert 0 < len(list(files.iterdir())) < count, "files that are not open are gone"
        app.ask("close")
        app.ask("remove")
    assert list(files.iterdir()) == []


def test_what_core_ml_has_compiled_of_open_models_stays(language: Language, tmp_path: Path) -> None:
    assert language.dying
    with language.dying(tmp_path / "device", {"HOME": str(tmp_path / "device")}) as app:
        found = app.ask("compiled")
    assert found == {"all": ["a", "b", "c"], "some": ["a", "b"], "next app": ["b", "d"]}


def test_an_attempt_counts_when_the_process_ends_and_somebody_sees_the_app(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    with language.process(device) as app:
        found = app.ask("attempt")
    assert found == {"counts": [1, None, 1, None], "begun": 1, "ended": 0}, found
    assert record(device)["trying"]["count"] == 1


def test_a_cancelled_update_goes_on_where_it_ended(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    language.channel.publish(without_deltas)
    language.channel.on_each_blob(held(2000))
    with language.process(device) as app:
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
    with language.process(device) as one, language.process(device) as other, ThreadPoolExecutor() as pool:
        first = pool.submit(one.ask, "update force")
        files = language.channel.address.files
        assert wait_until(lambda: any(language.channel.is_file(each.path) for each in files.requests))
        second = other.ask("update force")["states"][MODEL]
        assert (second["phase"], second["version"]) == ("waiting", FIRST), second
        assert other.ask("load")["version"] == FIRST
        gate.set()
        assert first.result()["states"][MODEL]["version"] == SECOND
        assert other.ask("load")["version"] == SECOND


def test_downloads_keep_below_the_limit_of_the_app(language: Language, tmp_path: Path) -> None:
    device = updated(language, tmp_path)
    language.channel.show(3)
    with language.process(device) as app:
        app.ask("limit 20000")
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("failed", FIRST), found
        said = re.search(r"all downloads would take (\d+) bytes: the limit is 20000", found["reason"])
        assert said, found
        size = int(said[1])
        app.ask(f"limit {size - 1}")
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("failed", FIRST), "files that the device has count, too"
        app.ask(f"limit {size}")
        assert app.ask("update force")["states"][MODEL]["phase"] == "ready"
    assert sum(each.stat().st_size for each in (kept(device) / "files").iterdir()) == size
