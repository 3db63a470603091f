"""Models of the Android library that come from servers, folders and the app's own files, with ONNX Runtime's libraries.

The server is a real one for https, which simulates the faults of networks.
"""

import json
import shutil
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from packager.distribution.release.extract import extract
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from packager.targets.kotlin import kotlin
from tests.cases.disks import tiny_disk
from tests.cases.onnx_text import onnx_model
from tests.toolchain import ecj, jvm, models
from tests.toolchain.device import Device, Library, device
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Address, Certificate, serving
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


ORT = "mobpack/models/orientation.ort.tflite"
PASSWORD = "changeit"


@dataclass(frozen=True)
class Setting:
    """A device, and a server with the model files of its app."""

    phone: Device
    server: Address
    trusted: Path

    def run(
        self, do: str = "load", *, source: str = "url", at: object = None, is_alone: bool = False, **values: Any
    ) -> Mapping[str, str]:
        """Runs a part of the app; it loads from the server unless a `source` and its place are named."""
        trust = {"javax.net.ssl.trustStore": self.trusted, "javax.net.ssl.trustStorePassword": PASSWORD}
        given: dict[str, Any] = {"providers": "CPU", "do": do, "source": source, "at": at or self.server.url}
        run = self.phone.run if is_alone else self.phone.run_warm
        return run("Sources", properties=trust, **(given | values)).facts

    @property
    def kept(self) -> Path:
        return self.phone.kept / "downloads" / "orientation" / "files"

    @property
    def names(self) -> list[str]:
        """Files that were downloaded, or begun."""
        return sorted(path.name for path in self.kept.glob("*") if path.suffix != ".lock")

    @property
    def records(self) -> list[str]:
        """Of files that were checked."""
        return sorted(path.name for path in (self.kept.parent / "checked").glob("*.ok"))

    @property
    def ranges(self) -> list[str]:
        """The parts of the model's file that were asked for."""
        asked = self.server.files.requests
        return [request.range.removeprefix("bytes=") for request in asked if request.path == f"/{self.digest}"]

    @property
    def content(self) -> bytes:
        with zipfile.ZipFile(self.phone.library.aar) as archive:
            return archive.read(f"assets/{ORT}")

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def last(self) -> int:
        return len(self.content) - 1


@pytest.fixture(scope="session")
def served(built_aar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `mobpack extract` makes of the release."""
    release, folder = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("served")
    shutil.copyfile(built_aar, release / "models.aar")
    archive = {"path": "models.aar", "target": "android", "kind": "aar", "sha256": sha256_of(built_aar)}
    manifest = {"package": {"name": "models", "version": "1.0.0"}, "artifacts": [archive]}
    (release / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    extract(release, folder)
    return folder


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session")
def trusted(pair: Certificate, kotlin_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Java's list of certificates, with that of the server."""
    store = tmp_path_factory.mktemp("trusted") / "trusted.p12"
    keytool = kotlin.find_compiler().java_home / "bin" / "keytool"
    command: list[str | Path] = [keytool, "-importcert", "-noprompt", "-alias", "server", "-file", pair.certificate]
    commands.run([*command, "-keystore", store, "-storepass", PASSWORD], what="keytool")
    return store


@pytest.fixture(scope="module")
def files(served: Path) -> Mapping[str, bytes]:
    """By the paths at which a server has them."""
    return {f"/{path.name}": path.read_bytes() for path in served.iterdir()}


@pytest.fixture
def setting(
    models_library: Library, files: Mapping[str, bytes], pair: Certificate, trusted: Path, tmp_path: Path
) -> Iterator[Setting]:
    with serving(pair) as server:
        server.files.by_path.update(files)
        yield Setting(device(models_library, tmp_path), server, trusted)


@pytest.fixture(scope="module")
def bundled(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    phone = device(models_library, tmp_path_factory.mktemp("bundled"))
    return phone.run("Sources", do="load", providers="CPU", source="bundled", at="").facts


def test_what_is_needed_is_downloaded_once_and_computes_the_same(setting: Setting, bundled: Mapping[str, str]) -> None:
    first = setting.run()
    asked = len(setting.server.files.requests)
    second = setting.run()

    assert (first["load.thrown"], first["provider"], first["asset"]) == ("null", "CPU", ORT)
    assert first["answer"] == bundled["answer"] == second["answer"]
    assert first["self-test"].startswith("true ")
    assert setting.ranges == [f"0-{setting.last}"]
    assert len(setting.server.files.requests) == asked == 2, "the model, and the samples of the self-test"
    assert (setting.kept / setting.digest).read_bytes() == setting.content
    whole = f"{len(setting.content)}/{len(setting.content)}"
    progress = first["progress"].split(",")
    assert (progress[0], progress[-1]) == (f"0/{len(setting.content)}", whole)
    assert len(progress) > 10
    assert second["progress"] == whole


def test_a_graph_and_its_weights_come_from_a_server(setting: Setting) -> None:
    seen = setting.run(providers="XNNPACK")

    assert (seen["load.thrown"], seen["provider"]) == ("null", "XNNPACK")
    assert seen["self-test"].startswith("true ")
    assert len(setting.names) >= 2


def test_a_connection_that_ends_goes_on_where_it_did(setting: Setting) -> None:
    setting.server.files.faults.extend([servers.cut(2_000_000), servers.status(503)])

    assert setting.run()["load.thrown"] == "null"
    assert setting.ranges == [f"0-{setting.last}", f"2000000-{setting.last}", f"2000000-{setting.last}"]
    tags = [request.headers.get("if-range") for request in setting.server.files.requests[:3]]
    assert tags[0] is None
    assert tags[1] == tags[2] == f'"{sha256(setting.content).hexdigest()[:12]}"'


def test_a_cancelled_load_ends_and_the_next_goes_on(setting: Setting) -> None:
    setting.server.files.faults.append(servers.slow(0.01))

    seen = setting.run("cancel")
    part = setting.kept / f"{setting.digest}.part"
    size = part.stat().st_size

    assert seen["ended"] == "cancelled"
    assert 0 < size < len(setting.content)
    assert setting.run()["load.thrown"] == "null"
    assert setting.ranges[1] == f"{size}-{setting.last}"


def test_a_part_of_another_file_is_fetched_anew(setting: Setting) -> None:
    setting.kept.mkdir(parents=True)
    (setting.kept / f"{setting.digest}.part").write_bytes(b"\0" * 1000)

    assert setting.run()["load.thrown"] == "null"
    assert setting.ranges == [f"1000-{setting.last}", f"0-{setting.last}"]


def test_servers_without_ranges_send_all_of_it(setting: Setting) -> None:
    setting.server.files.faults.extend([servers.cut(1_000_000), servers.whole])

    assert setting.run()["load.thrown"] == "null"
    assert len(setting.ranges) == 2


def test_a_server_with_another_file_is_refused(setting: Setting) -> None:
    setting.server.files.by_path[f"/{setting.digest}"] = bytes(reversed(setting.content))

    seen = setting.run()

    assert seen["load.thrown"] == "com.example.models.ModelCorruptedException"
    assert setting.digest in seen["load.message"]
    assert setting.names == []


def test_more_bytes_than_the_file_has_are_refused(setting: Setting) -> None:
    setting.server.files.by_path[f"/{setting.digest}"] = setting.content + bytes(5000)
    setting.server.files.faults.append(servers.whole)

    seen = setting.run()

    assert seen["load.thrown"] == "com.example.models.ModelCorruptedException"
    assert setting.names == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (servers.status(404), "answers with status 404"),
        (servers.other_bytes, "sends bytes from 0 on, not 1000"),
        (servers.redirect("http://127.0.0.1:1/x"), "redirects to http://127.0.0.1:1/x"),
        (servers.redirect("https://a b/"), "redirects to https://a b/"),
        (servers.redirect("gopher://a/"), "redirects to gopher://a/"),
    ],
    ids=["missing", "other bytes", "redirected", "to no address", "by another protocol"],
)
def test_an_answer_that_is_no_use_ends_the_load(setting: Setting, fault: servers.Fault, message: str) -> None:
    setting.kept.mkdir(parents=True)
    (setting.kept / f"{setting.digest}.part").write_bytes(setting.content[:1000])
    setting.server.files.faults.append(fault)

    seen = setting.run()

    assert seen["load.thrown"] == "com.example.models.ModelDownloadException"
    assert message in seen["load.message"]
    assert setting.server.url in seen["load.message"]
    assert len(setting.ranges) == 1
    assert setting.names == [f"{setting.digest}.part"], "what has come is kept"


def test_redirections_to_other_places_are_followed(setting: Setting) -> None:
    setting.server.files.by_path["/elsewhere"] = setting.content
    setting.server.files.faults.append(servers.redirect("/elsewhere"))

    assert setting.run()["load.thrown"] == "null"
    assert setting.server.files.requests[1].range == f"bytes=0-{setting.last}"


def test_redirections_without_end_are_given_up(setting: Setting) -> None:
    setting.server.files.faults.extend([servers.redirect(f"/{setting.digest}")] * 9)

    seen = setting.run()

    assert seen["load.thrown"] == "com.example.models.ModelDownloadException"
    assert len(setting.ranges) == 6


def test_a_server_that_is_not_there_is_a_download_exception(setting: Setting) -> None:
    seen = setting.run(at="https://127.0.0.1:1/")

    assert seen["load.thrown"] == "com.example.models.ModelDownloadException"
    assert "cannot download https://127.0.0.1:1/" in seen["load.message"]


def test_an_app_without_the_permission_hears_of_it(setting: Setting) -> None:
    seen = setting.run("forbidden", is_alone=True)

    assert seen["load.thrown"] == "com.example.models.ModelDownloadException"
    assert seen["load.message"].endswith("the app's manifest needs android.permission.INTERNET")


def test_a_certificate_that_nobody_vouches_for_is_refused(setting: Setting, tmp_path: Path) -> None:
    strangers = Setting(setting.phone, setting.server, tmp_path / "nothing.p12")

    assert strangers.run(is_alone=True)["load.thrown"] == "com.example.models.ModelDownloadException"
    assert setting.server.files.requests == []


def test_loads_at_the_same_time_download_a_file_once(setting: Setting) -> None:
    assert setting.run("together")["loaded"] == "3"
    assert setting.ranges == [f"0-{setting.last}"]


def test_a_kept_file_that_was_damaged_is_fetched_anew(setting: Setting, bundled: Mapping[str, str]) -> None:
    setting.run()
    damaged = setting.kept / setting.digest
    damaged.write_bytes(bytes(len(setting.content)))

    assert setting.run()["answer"] == bundled["answer"]
    assert setting.ranges == [f"0-{setting.last}"] * 2


def test_a_disk_without_room_is_told_before_anything_is_asked(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with tiny_disk(tmp_path / "data"):
        seen = setting.run(is_alone=True)

    assert seen["load.thrown"] == "com.example.models.ModelStorageException"
    assert f"needs {len(setting.content)} bytes of storage" in seen["load.message"]
    assert setting.ranges == []


def test_room_that_android_can_make_is_used(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with tiny_disk(tmp_path / "data", kilobytes=len(setting.content) * 3 // 2048):
        (tmp_path / "data" / "cached").write_bytes(bytes(len(setting.content)))
        seen = setting.run(is_alone=True, cached=tmp_path / "data" / "cached")

    assert seen["load.thrown"] == "null", seen["load.message"]


def folder_at(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def file_at(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_bytes(b"")


def not_synced_at(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(
    ("suffix", "obstacle"),
    [(".part", folder_at), (".part", not_synced_at), (".lock", folder_at), ("", folder_at), ("", file_at)],
    ids=["part", "sync", "lock", "target", "folder"],
)
def test_a_file_that_cannot_be_written_is_no_fault_of_the_network(
    setting: Setting, suffix: str, obstacle: Callable[[Path], None]
) -> None:
    setting.kept.mkdir(parents=True)
    obstacle(setting.kept / f"{setting.digest}{suffix}")

    seen = setting.run()

    assert seen["load.thrown"] == "com.example.models.ModelStorageException"
    assert str(setting.kept) in seen["load.message"]
    assert len(setting.ranges) <= 1


def test_downloads_are_removed_all_or_those_of_other_versions(setting: Setting) -> None:
    setting.run()
    files, records = setting.names, setting.records
    (setting.kept / ("0" * 64)).write_bytes(b"of an earlier version")
    (setting.kept.parent / "checked" / f"{'0' * 64}.ok").write_text("of an earlier version")

    setting.run("remove old")
    assert (setting.names, setting.records) == (files, records)
    assert (len(files), records) == (2, [f"{name}.ok" for name in files])
    setting.run("remove")
    assert (setting.names, setting.records) == ([], [])


def test_a_model_that_is_opened_again_needs_no_downloads_that_were_removed(
    setting: Setting, bundled: Mapping[str, str]
) -> None:
    seen = setting.run("reopen")

    assert (seen["answer"], seen["profile"]) == (bundled["answer"], "true")
    assert setting.ranges == [f"0-{setting.last}"]
    assert setting.names == []


def test_weights_stay_while_a_model_is_open_that_may_open_them_again(setting: Setting) -> None:
    """ONNX Runtime opens them by their path, whenever it opens the graph."""
    seen = setting.run("reopen", providers="XNNPACK")

    assert (len(numbers(seen["answer"])), seen["profile"]) == (4, "true")
    assert setting.ranges == [f"0-{setting.last}"]
    assert setting.names == [setting.digest]
    setting.run("remove")
    assert setting.names == []


@pytest.mark.parametrize("end", ["close", "cancel"])
def test_neither_close_nor_a_cancelled_call_waits_for_a_download(setting: Setting, end: str) -> None:
    """Java's own connections are closed when their reader comes back, Android's at once: this server lets go soon."""
    setting.server.files.faults_by_path[f"/{setting.digest}"] = deque([None, servers.held(4001, most_s=6.0)])

    seen = setting.run("held", providers="XNNPACK", end=end, kept=setting.kept)

    assert seen["came"] == "[]", "the server had sent 4001 bytes"
    assert setting.ranges[:2] == [f"0-{setting.last}"] * 2
    if end == "close":
        assert seen["call.thrown"] == "java.lang.IllegalStateException"
        assert seen["call.message"] == "OrientationModel is closed"
    else:
        assert len(numbers(seen["answer"])) == 4
        assert setting.ranges[2:] == [f"4001-{setting.last}"], "the next call goes on"


def test_downloads_that_are_removed_during_a_load_do_not_end_it(setting: Setting, bundled: Mapping[str, str]) -> None:
    seen = setting.run("interfere")

    assert (seen["removed"], seen["answer"]) == ("true", bundled["answer"])
    assert setting.ranges == [f"0-{setting.last}"]
    assert setting.digest in setting.names


def test_a_model_keeps_nobody_who_heard_of_its_load(setting: Setting) -> None:
    assert setting.run("screen", is_alone=True)["screen"] == "null"


def test_a_request_that_was_cancelled_before_its_connection_was_open_ends(setting: Setting) -> None:
    assert setting.run("connections")["ended"] == "true"


def test_a_copied_model_lies_outside_of_javas_heap_and_is_freed_when_memory_is_short(
    setting: Setting, tmp_path: Path
) -> None:
    (tmp_path / "own.ort").write_bytes(setting.content)

    seen = setting.run("freed", source="heap", at=tmp_path / "own.ort", is_alone=True)

    size = str(len(setting.content))
    assert [seen[when] for when in ("open", "freed", "open again", "closed")] == [size, "0", size, "0"]
    assert seen["again"] == seen["answer"]


def test_a_model_is_loaded_before_the_device_was_unlocked(setting: Setting, tmp_path: Path) -> None:
    seen = setting.run("before unlock", early=tmp_path / "early")

    assert seen["load.thrown"] == "null", seen["load.message"]
    assert list((tmp_path / "early" / "no_backup").rglob(setting.digest))


def test_a_run_that_gets_no_memory_is_an_exception_of_its_own(setting: Setting, tmp_path: Path) -> None:
    greedy = onnx_model(
        """(float[N,3,224,224] x) => (float[N,4] fetch_name_0) {
            first = ReduceMean <axes = [2, 3], keepdims = 0> (x)
            size = Constant <value = int64[4] {4000000, 1000000, 1, 3}> ()
            many = Expand (first, size)
            few = ReduceMean <axes = [0, 1], keepdims = 0> (many)
            one = ReduceMean <axes = [1], keepdims = 1> (few)
            fetch_name_0 = Concat <axis = 1> (few, one)
        }""",
        opsets={"": 15},
    )
    (tmp_path / "own.onnx").write_bytes(greedy.SerializeToString())

    seen = setting.run(source="file", at=tmp_path / "own.onnx")

    assert seen["load.thrown"] == "com.example.models.ModelOutOfMemoryException", seen["load.message"]


def test_addresses_that_are_no_folder_of_a_safe_server_are_refused(setting: Setting) -> None:
    seen = setting.run("addresses")

    for address in ("http://a.example/", "https://a.example/models", "models/"):
        assert seen[f"{address}.thrown"] == "java.lang.IllegalArgumentException"
        assert seen[f"{address}.message"] == f"{address} is not the https address of a folder, with / at its end"


def test_a_folder_has_files_by_their_sha256(setting: Setting, served: Path, tmp_path: Path) -> None:
    seen = setting.run(source="folder", at=served)
    assert (seen["load.thrown"], seen["asset"]) == ("null", ORT)

    (tmp_path / "empty").mkdir()
    lacking = setting.run(source="folder", at=tmp_path / "empty")
    assert lacking["load.thrown"] == "com.example.models.ModelException"
    assert lacking["load.message"].endswith(f"where it is called {setting.digest}")

    (tmp_path / "empty" / setting.digest).write_bytes(bytes(len(setting.content)))
    assert setting.run(source="folder", at=tmp_path / "empty")["load.thrown"].endswith("ModelCorruptedException")


@pytest.mark.parametrize(
    ("source", "offset"),
    [("file", 0), ("bytes", 0), ("heap", 0), ("window", 5), ("window", 8), ("descriptor", 5)],
    ids=["file", "bytes", "heap", "window", "aligned window", "descriptor"],
)
@pytest.mark.parametrize("form", ["ort", "onnx"])
def test_a_file_of_the_apps_own_stands_in_for_the_model(
    setting: Setting, bundled: Mapping[str, str], tmp_path: Path, source: str, offset: int, form: str
) -> None:
    content = setting.content if form == "ort" else models.orientation().read_bytes()
    own = tmp_path / f"own.{form}"
    own.write_bytes(bytes(offset if source == "descriptor" else 0) + content)

    seen = setting.run(source=source, at=own, offset=offset)

    assert seen["load.thrown"] == "null", seen["load.message"]
    assert [round(each, 4) for each in numbers(seen["answer"])] == [
        round(each, 4) for each in numbers(bundled["answer"])
    ]
    assert seen["info.sha256"] == sha256(content).hexdigest()
    assert seen["self-test"] == "false 0", "there are no samples of it: nothing is tested"


def test_a_file_with_other_tensors_is_refused(setting: Setting) -> None:
    seen = setting.run(source="file", at=models.silero_vad())

    assert seen["load.thrown"] == "com.example.models.BadModelException"
    assert seen["load.message"] == "input `x` is float [-1, 3, 224, 224]: the file has none of that name"


def test_a_file_of_the_apps_own_is_compared_with_the_hash_that_it_gives(setting: Setting, tmp_path: Path) -> None:
    own = tmp_path / "own.ort"
    own.write_bytes(setting.content)

    assert setting.run(source="file", at=own, sha256=setting.digest.upper())["load.thrown"] == "null"
    wrong = setting.run(source="file", at=own, sha256="0" * 64)
    assert wrong["load.thrown"] == "com.example.models.ModelCorruptedException"
    assert wrong["load.message"] == f"{own} has sha256 {setting.digest}, not {'0' * 64}"


def numbers(text: str) -> list[float]:
    return [float(each) for each in text.strip("[]").split(",")]


@pytest.fixture(scope="module")
def java_apps(models_library: Library) -> Path:
    return ecj.compile_java([ecj.APPS / "Loads.java"], classpath=[models_library.classes])


def in_java(setting: Setting, java_apps: Path, do: str) -> Mapping[str, str]:
    phone = setting.phone
    return jvm.run(
        "apps.Loads",
        {"apk": phone.apk, "data": phone.folder / "data", "at": setting.server.url, "do": do},
        classpath=[java_apps, phone.library.classes],
        properties={
            "java.library.path": phone.library.native,
            "javax.net.ssl.trustStore": setting.trusted,
            "javax.net.ssl.trustStorePassword": PASSWORD,
        },
    ).facts


def test_java_has_options_hears_of_progress_and_runs_and_removes_the_model(setting: Setting, java_apps: Path) -> None:
    facts = in_java(setting, java_apps, "load")
    size = len(setting.content)
    assert (facts["provider"], facts["last"], facts["scores"]) == ("CPU", f"{size}/{size}", "4")
    assert facts["bundled"] == "CPU"
    assert setting.names == []
    for part in ("providers=[CPU]", "threads=1", "verify=ALWAYS", "queue=2", "retryOnCpu=false"):
        assert part in facts["options"]


def test_java_ends_a_load_by_an_interrupt_of_its_thread(setting: Setting, java_apps: Path) -> None:
    setting.server.files.faults_by_path[f"/{setting.digest}"] = deque([servers.held(70_000)])
    assert in_java(setting, java_apps, "cancel") == {"ended": "interrupted"}
    assert setting.names == [f"{setting.digest}.part"], "another load goes on from there"
