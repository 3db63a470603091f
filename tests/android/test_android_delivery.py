"""Android: a ModelUpdater delivers, tries and opens newer models, and whatever happens a verified one is opened."""

import base64
import hashlib
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from packager.core.findings import Report
from packager.distribution.channel.document import TIME, DownloadConditions, ModelRelease, Rollout
from packager.distribution.deltas.layout import SPAN_BYTES
from packager.files.processes import commands
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.kotlin import kotlin
from tests.cases.delta_vectors import END_BYTE, PATH, add, packed
from tests.cases.onnx_text import onnx_model
from tests.cases.trust_vectors import NEXT, NUMBER
from tests.cases.tuf_repository import Keys
from tests.delivery_drivers.kotlin import KILLED, PASSWORD, Driver, driver, kept, program
from tests.toolchain import delivered_android as delivered
from tests.toolchain import ecj, jvm, trusted
from tests.toolchain.delivered_android import Shelf, sum_of
from tests.toolchain.device import Library, write_apk
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.trusted_android import with_list


@dataclass(kw_only=True)
class App:
    """An app on a device, and a channel for it."""

    shelf: Shelf
    url: str
    library: Library
    trusted: Path
    folder: Path
    running: Driver

    def ask(self, command: str) -> Mapping[str, Any]:
        return self.running.ask(command)

    def update(self, command: str = "update force") -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.ask(command)["states"][delivered.MODEL]
        return found

    def phase(self, command: str = "update force") -> str:
        return str(self.update(command)["phase"])

    def loaded(self) -> tuple[str, str, float]:
        found = self.ask("load")
        assert "error" not in found, found
        return found["version"], found["source"], round(found["sum"], 2)

    def again(self) -> AbstractContextManager[Driver]:
        """The same app in another process."""
        return driver(self.library.aar, self.url, self.folder, self.trusted, made=self.library)

    @property
    def kept(self) -> Path:
        return kept(self.folder)

    @property
    def files(self) -> set[str]:
        return {path.name for path in (self.kept / "files").iterdir() if path.name != "lock"}

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.kept / "state.json").read_text(encoding="utf-8"))
        return found

    @property
    def model(self) -> dict[str, Any]:
        found: dict[str, Any] = self.state["models"][delivered.MODEL]
        return found

    @staticmethod
    def downloads(asked: list[str]) -> list[str]:
        """The paths of files of releases among those that were asked for."""
        return [path for path in asked if path.startswith("/targets/") and not path.endswith("releases.json")]

    def edit(self, **changes: Any) -> None:
        """Changes what is kept of the model."""
        state = self.state
        state["models"][delivered.MODEL] |= changes
        (self.kept / "state.json").write_text(json.dumps(state, separators=(",", ":")), encoding="utf-8")


POLL = ["/stable/2.root.json", "/stable/timestamp.json"]
"""requests of an update for which there is nothing new"""
THIRTY_DAYS_MS = 30 * 24 * 60 * 60 * 1000
LOW_MEMORY, CRASH_NATIVE, SIGNALED = 3, 5, 2
"""Android's reasons for the end of a process"""
BUNDLED = ("1.2.3", "bundled", sum_of(0))


def updated(number: int) -> tuple[str, str, float]:
    return f"1.3.{number}", "updater", sum_of(number)


@pytest.fixture(scope="module")
def library(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    folder = tmp_path_factory.mktemp("library")
    return program(delivered.write_library(folder, delivered.plan_of(0, folder)), folder)


@pytest.fixture(scope="module")
def shelved(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Shelf, Path]]:
    """The address of a server, what it has, and the list of certificates with its own."""
    folder = tmp_path_factory.mktemp("server")
    pair, store = certificate(folder), folder / "trusted.p12"
    keytool = kotlin.find_compiler().java_home / "bin" / "keytool"
    command: list[str | Path] = [keytool, "-importcert", "-noprompt", "-alias", "server", "-file", pair.certificate]
    commands.run([*command, "-keystore", store, "-storepass", PASSWORD], what="keytool")
    with serving(pair) as server:
        shelf = Shelf(files=server.files, scratch=folder)
        shelf.plans[0] = delivered.plan_of(0, folder)
        yield server.url, shelf, store


@pytest.fixture(scope="module")
def process(
    shelved: tuple[str, Shelf, Path], library: Library, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """One process for all tests in which none ends."""
    url, _, trusted = shelved
    with driver(library.aar, url, tmp_path_factory.mktemp("first"), trusted, made=library) as running:
        yield running


@pytest.fixture
def app(shelved: tuple[str, Shelf, Path], library: Library, process: Driver, tmp_path: Path) -> App:
    """A device on which the app was installed now."""
    url, shelf, trusted = shelved
    shelf.restart()
    assert process.ask(f"device {tmp_path}") == {}
    for setting in ("metered no", "charging no"):
        process.ask(setting)
    return App(shelf=shelf, url=url, library=library, trusted=trusted, folder=tmp_path, running=process)


def test_deltas_are_applied_and_refused_as_everywhere(process: Driver) -> None:
    vectors = json.loads(PATH.read_text(encoding="utf-8"))
    for each in vectors["applied"]:
        assert process.ask(f"delta {vectors['source']} {each['delta']} 1000") == {"result": each["result"]}, each[
            "name"
        ]
    for each in vectors["refused"]:
        assert process.ask(f"delta {vectors['source']} {each['delta']} 1000")["error"] == "DeltaException", each[
            "reason"
        ]
    whole = next(each for each in vectors["applied"] if each["name"] == "all of it copied")
    assert "more than 511" in process.ask(f"delta {vectors['source']} {whole['delta']} 511")["message"]
    assert len(base64.b64decode(whole["result"])) == 512


def test_a_delta_to_a_large_file_takes_16_mib_at_most(library: Library, tmp_path: Path) -> None:
    """Of Java's memory, which Android limits: files are mapped."""
    source = hashlib.sha256(b"seed").digest() * (1 << 20)
    count = SPAN_BYTES // 4
    body = b"".join(add(4, 0, count, bytes(SPAN_BYTES)) for _ in range(len(source) // SPAN_BYTES)) + END_BYTE
    (tmp_path / "source").write_bytes(source)
    (tmp_path / "delta").write_bytes(packed(body, source, source))
    memory = {"JAVA_TOOL_OPTIONS": "-Xmx16m"}
    with driver(library.aar, "https://a.example/", tmp_path, environment=memory, made=library) as running:
        assert running.ask(f"patch {tmp_path}/source {tmp_path}/delta {tmp_path}/result") == {}
    assert (tmp_path / "result").read_bytes() == source
    assert "-Xmx16m" in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_a_model_is_updated_tried_opened_and_taken_back(app: App) -> None:
    assert app.loaded() == BUNDLED
    assert app.ask("state")["states"][delivered.MODEL] == {
        "phase": "unchecked", "version": "1.2.3", "reason": "", "loaded": 0, "total": 0,
    }  # fmt: skip
    first, second = app.shelf.release(1), app.shelf.release(2)
    app.shelf.publish(first)
    assert app.update() == {"phase": "ready", "version": "1.3.1", "reason": "", "loaded": 0, "total": 0}
    assert app.ask("run")["sum"] == pytest.approx(BUNDLED[2], abs=0.01), "a model that is open stays as it is"
    assert app.loaded() == updated(1)
    assert app.ask("test") == {"passed": True, "outputs": 2}, "on the samples of the release"

    app.shelf.publish(second, first)
    assert (app.phase(), app.loaded()) == ("ready", updated(2))
    assert app.model["previous"]["version"] == "1.3.1"
    asked = app.shelf.asked
    assert (app.phase(), app.shelf.asked) == ("up-to-date", POLL)

    app.shelf.publish(first)
    assert (app.phase(), app.loaded()) == ("ready", updated(1))
    assert not app.downloads(app.shelf.asked), "its files are still there"
    assert app.downloads(asked)

    app.shelf.publish(app.shelf.release(1, version="1.2.3", number=NUMBER))
    assert (app.phase(), app.loaded()) == ("up-to-date", BUNDLED)


def test_what_was_vouched_for_is_opened_as_long_as_the_root_trusts_the_key(app: App) -> None:
    first = app.shelf.release(1)
    app.shelf.publish(first)
    assert (app.phase(), app.loaded()) == ("ready", updated(1))
    app.shelf.publish()
    assert (app.phase(), app.loaded()) == ("up-to-date", updated(1)), "it is listed no more, and nobody has revoked it"
    app.shelf.repository.rotate(keys={"targets": Keys(keys=(NEXT,))})
    app.shelf.publish(first)
    app.shelf.files.faults_by_path["/stable/3.targets.json"] = deque([servers.status(503)])
    assert (app.phase(), app.loaded()) == ("failed", BUNDLED), "the root does not trust the key any more"
    assert (app.phase(), app.loaded()) == ("ready", updated(1))


def test_states_are_there_at_once_and_their_versions_soon(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.phase()
    app.ask(f"device {app.folder}")
    own = {"phase": "unchecked", "version": "1.2.3", "reason": "", "loaded": 0, "total": 0}
    assert app.ask("state-while-locked")["states"][delivered.MODEL] == own, "it waits for no file"
    assert app.ask("state-of 1.3.1")["states"][delivered.MODEL] == own | {"version": "1.3.1"}


ADDED = "constructor(\n    /** It came later. */\n    public val added: Int = 0,\n"


def test_java_that_was_compiled_before_there_were_more_options_runs(library: Library, tmp_path: Path) -> None:
    program = ecj.compile_java([ecj.APPS / "Choices.java"], classpath=[library.classes])
    view = delivered.TARGET.view(delivered.PACKAGE, (delivered.plan_of(0, tmp_path),), Report(parities=()))
    changed = []
    for path, text in delivered.TARGET.render(view).texts.items():
        if path.name in ("Options.kt", "UpdateOptions.kt"):
            changed.append(tmp_path / path.name)
            assert text.count("constructor(\n") == 1
            options = text.partition("internal class AndroidConditions")[0]  # which is Kotlin on this machine
            changed[-1].write_text(options.replace("constructor(\n", ADDED), encoding="utf-8")
    newer = jvm.compile_kotlin(changed, classpath=[library.classes, jvm.fakes()])
    for classpath, count in (([program, library.classes], 0), ([program, newer, library.classes], 2)):
        facts = jvm.run("apps.Choices", {}, classpath=classpath).facts
        assert (facts["options"], facts["updates"]) == ("3 true 64", "5 bundled")
        assert facts["all"].count("added=0") == count


def test_nothing_is_asked_for_some_time_after_a_failure(app: App) -> None:
    assert app.phase("update") == "failed"
    first = app.state
    waits = app.update("update")
    assert waits["phase"] == "waiting"
    assert "1 requests failed" in waits["reason"]
    assert app.shelf.asked == POLL
    before = time.time()
    app.phase()
    after = time.time()
    assert app.state["failures"] == 2 == first["failures"] + 1
    assert before * 1000 + 30_000 - 1 <= app.state["not-before"] <= after * 1000 + 60_000, "from half a pause to all"
    app.shelf.publish(app.shelf.release(1))
    assert app.phase() == "ready"
    assert (app.state["failures"], app.state["not-before"]) == (0, 0)
    assert app.phase("update") == "up-to-date"


def test_a_download_goes_on_where_it_ended(app: App) -> None:
    release = app.shelf.release(1)
    largest = max((file for each in release.files for file in each.files), key=lambda file: file.size_bytes)
    path = delivered.target(largest.sha256)
    app.shelf.publish(release)
    app.shelf.files.faults_by_path[path] = deque([servers.cut(6000), servers.status(404)])
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.2.3")
    assert "answers with status 404" in found["reason"]
    assert app.loaded() == BUNDLED
    assert app.phase() == "ready"
    asked = [each.range for each in app.shelf.files.requests if each.path == path]
    assert asked == [f"bytes={start}-{largest.size_bytes - 1}" for start in (0, 6000, 6000)]
    assert app.loaded() == updated(1)


def test_deltas_to_the_packaged_file_and_to_a_downloaded_one(app: App) -> None:
    first = app.shelf.release(1, delta_to=[0])
    app.shelf.publish(first)
    assert app.phase() == "ready"
    wholes = {delivered.target(file.sha256) for each in first.files for file in each.files if file.deltas}
    fetched = set(app.shelf.asked)
    assert len(wholes) >= 2
    assert not wholes & fetched
    assert app.loaded() == updated(1)

    second = app.shelf.release(2, delta_to=[1])
    app.shelf.publish(second, first)
    assert app.phase() == "ready"
    assert not {delivered.target(file.sha256) for each in second.files for file in each.files if file.deltas} & set(
        app.shelf.asked
    )
    assert app.loaded() == updated(2)
    third = app.shelf.release(3, delta_to=[2])
    for file in (file for each in third.files for file in each.files):
        for delta in file.deltas:
            app.shelf.files.by_path[delivered.target(delta.sha256)] = b"MPDELTA and nothing of use".ljust(
                delta.size_bytes
            )
    app.shelf.publish(third, second, first)
    assert (app.phase(), app.loaded()) == ("ready", updated(3)), (
        "the whole files come in place of deltas that are no use"
    )


def test_a_release_waits_for_the_device(app: App) -> None:
    def published(**conditions: Any) -> None:
        made = {"wifi": False, "charging": False, "free_bytes": 0} | conditions
        app.shelf.publish(app.shelf.release(1, conditions=DownloadConditions(**made)))

    published(wifi=True)
    for network in ("yes", "unknown"):
        app.ask(f"metered {network}")
        assert (app.update()["phase"], app.update()["reason"]) == (
            "waiting", "the release waits for a network that is not metered",
        )  # fmt: skip
    published(charging=True)
    assert "until the device is being charged" in app.update()["reason"]
    published(free_bytes=1 << 50)
    assert "free storage" in app.update()["reason"]
    assert not app.downloads(app.shelf.asked)
    published(wifi=True, charging=True, free_bytes=1)
    app.ask("metered no")
    app.ask("charging yes")
    assert app.phase() == "ready"


def test_more_than_the_app_allows_is_not_stored(app: App) -> None:
    first, second = app.shelf.release(1), app.shelf.release(2)
    size = sum({file.sha256: file.size_bytes for each in first.files for file in each.files}.values())
    app.shelf.publish(first)
    app.ask(f"limit {size - 1}")
    assert app.update()["reason"] == f"all downloads would take {size} bytes: the limit is {size - 1}"
    app.ask(f"limit {size}")
    assert app.phase() == "ready"
    before = app.files
    app.shelf.publish(second, first)
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.3.1")
    assert app.files == before
    assert app.loaded() == updated(1)


def test_an_app_pins_what_there_is_and_removes_what_is_not_open(app: App) -> None:
    first, second = app.shelf.release(1), app.shelf.release(2)
    app.shelf.publish(second, first)
    assert app.ask("pin other 1.3.1")["error"] == "IllegalArgumentException"
    app.ask("pin scorer 9.9.9")
    assert app.phase() == "up-to-date"
    app.ask("unpin scorer")
    assert (app.phase(), app.loaded()) == ("ready", updated(2))
    app.ask("remove")
    app.ask("pressure")
    assert round(app.ask("run")["sum"], 2) == updated(2)[-1], "a model that is open is opened again, with its weights"
    assert app.loaded() == BUNDLED
    app.ask("remove")
    assert app.files == set(), "nothing holds them any more"
    assert (app.kept / "metadata" / "timestamp.json").exists(), "nobody rolls it back"


def test_a_release_with_other_numbers_is_banned_at_once_for_30_days(app: App) -> None:
    first, bad = app.shelf.release(1), app.shelf.release(2, is_wrong=True)
    app.shelf.publish(first)
    app.phase()
    app.shelf.publish(bad, first)
    before = time.time() * 1000
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.3.1")
    assert found["reason"].startswith("1.3.2 is not tried for 30 days: ")
    [ban] = app.model["banned"]
    assert ban["version"] == "1.3.2"
    assert before <= ban["until"] - THIRTY_DAYS_MS <= time.time() * 1000
    assert app.ask("bans") == {"bans": 1}
    assert app.loaded() == updated(1)
    app.shelf.asked  # noqa: B018
    assert (app.phase(), app.shelf.asked) == ("up-to-date", POLL)

    app.edit(banned=[ban | {"until": int(time.time() * 1000) - 1}])
    assert app.phase() == "failed", "a ban ends"
    [again] = app.model["banned"]
    assert again["until"] > ban["until"]
    app.edit(banned=[again | {"until": again["until"] + THIRTY_DAYS_MS}])
    assert app.phase() == "failed", "no ban is longer, though the clock may have been wrong"
    app.edit(banned=[{"version": "1.3.2", "reason": "of an older version of the app"}])
    assert app.phase() == "failed", "bans without an end are over"


def test_a_ban_ends_by_the_time_of_documents_where_the_clock_is_behind(app: App) -> None:
    first, bad = app.shelf.release(1), app.shelf.release(2, is_wrong=True)
    later = datetime.now(UTC) + timedelta(hours=2)
    app.shelf.publish(bad, first, published=later.strftime(TIME), expires=(later + timedelta(days=90)).strftime(TIME))
    assert app.phase() == "failed"
    [ban] = app.model["banned"]
    assert ban["until"] == app.state["latest"] + THIRTY_DAYS_MS
    later += timedelta(days=30, hours=1)
    app.shelf.publish(bad, first, published=later.strftime(TIME), expires=(later + timedelta(days=90)).strftime(TIME))
    assert app.phase() == "failed", "it is tried again, by a clock that is 30 days behind"
    assert app.model["banned"][0]["until"] > ban["until"]


def test_a_release_that_onnx_runtime_refuses_is_banned_with_the_third_start_that_somebody_sees(app: App) -> None:
    first = app.shelf.release(1)
    bad = with_other_bytes(app, app.shelf.release(2, has_golden=False))
    app.shelf.publish(bad, first)
    app.ask("importance 400")
    assert (app.phase(), app.phase()) == ("failed", "failed"), "in the background, nothing is counted"
    assert not app.model.get("failing")
    app.ask("importance 100")
    for start in (1, 2):
        found = app.update()
        assert (found["phase"], found["version"]) == ("failed", "1.2.3")
        assert found["reason"].startswith("1.3.2 has failed, and is tried again: ")
        assert app.model["failing"] == {"version": "1.3.2", "starts": start}
        assert app.model["banned"] == []
        found = app.update()
        assert (found["phase"], found["reason"]) == (
            "waiting", "1.3.2 has failed: the app tries it again after its next start",
        )  # fmt: skip
        assert (app.model["failing"]["starts"], app.ask("bans")) == (start, {"bans": 0})
        app.ask(f"device {app.folder}")
    assert app.update()["reason"].startswith("1.3.2 is not tried for 30 days: ")
    assert not app.model.get("failing")
    assert [each["version"] for each in app.model["banned"]] == ["1.3.2"]
    assert app.ask("bans") == {"bans": 1}
    assert (app.phase(), app.loaded()) == ("ready", updated(1))


def test_a_release_that_onnx_runtime_does_not_open_gives_way_for_this_time_and_is_banned_with_the_third_start(
    app: App,
) -> None:
    first = app.shelf.release(1)
    bad = with_other_bytes(app, app.shelf.release(2, has_golden=False))
    app.shelf.publish(first)
    app.phase()
    app.shelf.publish(bad, first)
    app.phase()
    kept = app.model["active"]
    files = sorted({file.sha256 for each in bad.files for file in each.files})
    refused = {"vouchers": {}, "version": "1.3.2", "number": bad.number, "files": files}
    app.edit(active=refused, previous=kept, failing=None)
    for start in (1, 2):
        app.ask(f"device {app.folder}")
        assert [app.loaded(), app.loaded()] == [updated(1)] * 2
        assert app.model["failing"] == {"version": "1.3.2", "starts": start}
        assert app.model["active"] == refused, "another start may be luckier"
        assert "1.3.2 is not opened this time" in app.ask("state")["states"][delivered.MODEL]["reason"]
    app.ask(f"device {app.folder}")
    assert app.loaded() == updated(1)
    assert (app.model["active"], app.model["previous"]) == (kept, None)
    assert [each["version"] for each in app.model["banned"]] == ["1.3.2"]
    assert app.ask("bans") == {"bans": 1}, "the observer of the load hears of it"


def test_a_release_for_which_there_is_no_memory_counts_for_nothing(app: App, tmp_path: Path) -> None:
    graph = onnx_model(
        """(float[1, 64] x) => (float[1, 64] y) {
            least = ReduceMin <keepdims = 0> (x) whole = Cast <to = 7> (least)
            many = Constant <value = int64[1] {1099511627776}> () size = Add (many, whole)
            zero = Constant <value = float[1] {0}> () huge = Expand (zero, size)
            sum = ReduceSum <keepdims = 0> (huge) y = Add (x, sum)
        }"""
    )
    store = Store(cache_folder() / "store")
    app.shelf.plans[9] = trusted.plan(tmp_path, store, "android", "xnnpack", graph=graph)
    app.shelf.publish(app.shelf.release(9, has_golden=False))
    for _ in range(4):
        found = app.update()
        assert (found["phase"], found["version"]) == ("failed", "1.2.3")
        assert "not enough memory" in found["reason"]
    assert (app.model["banned"], app.model.get("failing")) == ([], None)
    assert app.ask("bans") == {"bans": 0}


def test_a_model_that_is_open_stays_usable_after_removal_and_opening_others(app: App) -> None:
    first, second = app.shelf.release(1), app.shelf.release(2)
    app.shelf.publish(first)
    app.phase()
    assert app.loaded() == updated(1)
    app.shelf.publish(second, first)
    assert app.phase() == "ready"
    for command in ("remove", "update force"):
        app.ask(command)
        app.ask("memory")
        assert app.ask("run")["sum"] == pytest.approx(sum_of(1), abs=0.01), command


def with_other_bytes(app: App, release: ModelRelease) -> ModelRelease:
    """The release, signed with files that are no model."""
    digest = app.shelf.put(b"no model at all")
    return replace(
        release,
        files=tuple(
            replace(each, file=replace(each.file, sha256=digest, size_bytes=15), data=()) for each in release.files
        ),
    )


def test_a_release_is_for_some_apps_and_devices(app: App) -> None:
    first, second = app.shelf.release(1), app.shelf.release(2)
    others = tuple(
        replace(each, runtime="com.microsoft.onnxruntime:onnxruntime-android:1.99.0") for each in second.files
    )
    ranged = tuple(replace(each, runtime_range="1.20") for each in others)
    app.shelf.publish(first)
    app.phase()
    (app.kept / "state.json").write_text(json.dumps({**app.state, "device": "device"}), encoding="utf-8")
    for release in (
        replace(second, contract="0" * 64),
        replace(second, min_app="1.2.4"),
        replace(second, rollout=Rollout(percent=59, salt="salt")),  # the device is the first of the next hundredth
        replace(second, files=others),
        replace(second, files=tuple(replace(each, target="ios") for each in second.files)),
        replace(second, files=tuple(replace(each, inside="react_native") for each in second.files)),
    ):
        app.shelf.publish(release, first)
        assert app.phase() == "up-to-date"
    app.shelf.publish(replace(second, contract="0" * 64))
    assert app.update()["reason"] == "the channel has nothing for this app and device"
    some = Rollout(percent=60, salt="salt")
    app.shelf.publish(replace(second, min_app="1.2.3", files=ranged, rollout=some), first)
    assert (app.phase(), app.loaded()) == ("ready", updated(2))


def test_the_channel_vouches_for_its_files_and_the_list_for_the_apps_own(app: App, tmp_path: Path) -> None:
    unsigned = with_list(app.library.aar, tmp_path / "unsigned.aar", None)
    apk = write_apk(unsigned, tmp_path / "unsigned.apk", is_stored=True)
    app.ask(f"device {tmp_path} {apk}")
    assert app.ask("load")["error"] == "ModelUntrustedException"
    app.shelf.publish(app.shelf.release(1))
    assert (app.phase(), app.loaded()) == ("ready", updated(1))


@pytest.mark.parametrize(
    ("command", "ends", "opened"),
    [
        ("die-opening", [], updated(1)),
        ("die-opening-left", [], updated(2)),
        ("die-opening", [(LOW_MEMORY, 0)] * 2, updated(2)),
        ("die-opening", [(SIGNALED, 9)] * 2, updated(2)),
        ("die-opening", [(LOW_MEMORY, 0), (SIGNALED, 11)], updated(2)),
        ("die-opening", [(SIGNALED, 11)] * 2, updated(1)),
        ("die-opening-left", [(CRASH_NATIVE, 11)] * 2, updated(1)),
    ],
    ids=[
        "without a reason",
        "left",
        "no memory",
        "killed",
        "one kill, one crash",
        "crashed",
        "crashed in the background",
    ],
)
def test_ends_of_the_process_that_are_the_systems_do_not_count(
    app: App, command: str, ends: list[tuple[int, int]], opened: tuple[str, str, float]
) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.phase()
    app.shelf.publish(app.shelf.release(2))
    app.phase()
    told: list[str] = []
    for each in [*ends, None, None][:2]:
        with app.again() as running:
            for line in told:
                running.ask(line)
            running.ask(command)
            assert running.send("load") is None
            assert running.process.wait() == KILLED
        attempt = app.model["opening"]
        assert attempt["left"] == (command == "die-opening-left"), "it is written down before the end"
        if each:
            told.append("ended {} {} {}".format(attempt["process"], *each))
    for line in told:
        app.ask(line)
    assert app.loaded() == opened
    assert [each["version"] for each in app.model["banned"]] == ([] if opened == updated(2) else ["1.3.2"])


def test_a_release_that_ends_the_process_twice_while_it_is_tried_is_left(app: App) -> None:
    app.shelf.publish(app.shelf.release(1))
    app.ask("limit 1")
    assert app.phase() == "failed"
    app.ask("limit 1000000")
    durable = 2 * len({file.sha256 for each in app.shelf.release(1).files for file in each.files}) + 2
    for count in (1, 2):
        with app.again() as running:
            running.ask(f"die {durable if count == 1 else 2}")
            assert running.send("update force") is None
        assert app.model["trying"] == app.model["trying"] | {"version": "1.3.1", "count": count}
        assert app.loaded() == BUNDLED
    found = app.update()
    assert (found["phase"], found["version"]) == ("failed", "1.2.3")
    assert "ended 2 times while it was tried" in found["reason"]
