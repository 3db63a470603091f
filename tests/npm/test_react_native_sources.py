"""Sources of the models of npm packages: the app, a server, the app's own files and memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import Process, Seen, certificate, running
from tests.toolchain.react_native.download.server import Address, Certificate, serving

FILES = {
    "net.onnx": bytes(range(256)) * 40,
    "net.weights": bytes(reversed(range(256))) * 200,
    "net golden#1.safetensors": b"golden" * 1000,
}
DIGESTS = {name: sha256(content).hexdigest() for name, content in FILES.items()}
TOTAL = len(FILES["net.onnx"]) + len(FILES["net.weights"])
START = """
    const backend = backendOf(platform, cache);
    const told = [];
    const onProgress = (found) => told.push(found);
    const [file] = model.platforms.android.files;
    const needed = [file, ...file.weights];
    const golden = [model.golden[0].file];
    const shown = (placed) => placed.map(({ part, bytes }) => ({ ...part, hasBytes: bytes !== null }));
    const place = async (source, files, options = {}) =>
        shown(await (await sourceOf(model, backend, { source, onProgress, ...options })).place(files));
"""


def packaged(name: str) -> dict[str, Any]:
    return {"path": name, "sha256": DIGESTS[name], "endsSha256": f"ends of {name}", "sizeBytes": len(FILES[name])}


def descriptor() -> dict[str, Any]:
    """The descriptor in the generated file of a model with separate weights."""
    weights = {**packaged("net.weights"), "name": "weights.bin"}
    own = {"providers": ["cpu"], "chips": [], "settings": {}, "weights": [weights], "isFloat16": False}
    platform = {"runtimeVersion": "", "providers": [], "files": [{**packaged("net.onnx"), **own}]}
    golden = {"file": packaged("net golden#1.safetensors"), "tested": [], "samples": []}
    return {"className": "Net", "golden": [golden], "platforms": {"android": platform, "ios": platform}}


@dataclass(frozen=True)
class Setting:
    """A server with a package's files, and code that requests them."""

    server: Address
    folder: Path
    process: Process

    def run(self, code: str, platform: str = "android", **names: object) -> Seen:
        cache = "" if platform == "web" else str(self.folder / "cache")
        given = {"platform": platform, "cache": cache, "model": descriptor(), "url": self.server.url}
        return self.process.run(START + code, **given, **names)

    @property
    def kept(self) -> dict[str, bytes]:
        folder = self.folder / "cache" / "downloads"
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def process(pair: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with running(tmp_path_factory.mktemp("node"), pair.certificate) as started:
        yield started


@pytest.fixture
def setting(pair: Certificate, process: Process, tmp_path: Path) -> Iterator[Setting]:
    with serving(pair) as server:
        server.files.by_path.update({f"/{DIGESTS[name]}": content for name, content in FILES.items()})
        yield Setting(server, tmp_path, process)


def test_bundled_files_are_where_the_platform_says(setting: Setting) -> None:
    found = setting.run("""
        const source = await sourceOf(model, backend, {});
        return { placed: shown(await source.place(needed)), isOwn: source.isOwn, notes: source.notes };
    """).value

    assert (found["isOwn"], found["notes"]) == (False, str(setting.folder / "cache" / "checked"))
    assert [(part["name"], part["path"], part["offset"]) for part in found["placed"]] == [
        ("", "/package/net.onnx", 4096),
        ("weights.bin", "/package/net.weights", 4096),
    ]
    assert [part["sha256"] for part in found["placed"]] == [DIGESTS["net.onnx"], DIGESTS["net.weights"]]
    assert [part["endsSha256"] for part in found["placed"]] == ["ends of net.onnx", "ends of net.weights"]
    assert setting.server.files.requests == []


def test_files_from_a_server_are_kept_by_their_content(setting: Setting) -> None:
    found = setting.run("return { placed: await place({ url }, needed), told };").value

    names = [f"{DIGESTS[name]}-{name}" for name in ("net.onnx", "net.weights")]
    assert setting.kept == dict(zip(names, [FILES["net.onnx"], FILES["net.weights"]], strict=True))
    assert [Path(part["path"]).name for part in found["placed"]] == names
    assert [part["name"] for part in found["placed"]] == ["", "weights.bin"]
    loaded = [each["loadedBytes"] for each in found["told"]]
    assert {each["totalBytes"] for each in found["told"]} == {TOTAL}
    assert (loaded, loaded[-1]) == (sorted(loaded), TOTAL)

    setting.server.files.requests.clear()
    assert setting.run("return place({ url }, needed);").value == found["placed"]
    assert setting.server.files.requests == []


OPEN = "return outcome(openModel(model, backend, { source }).then(({ file }) => file.path));"


def test_a_download_that_storage_has_changed_is_fetched_again(setting: Setting) -> None:
    setting.run("return place({ url }, needed);")
    names = {name: f"{DIGESTS[name]}-{name}" for name in ("net.onnx", "net.weights")}
    (setting.folder / "cache/downloads" / names["net.weights"]).write_bytes(bytes(len(FILES["net.weights"])))
    setting.server.files.requests.clear()

    assert setting.run(OPEN, source={"url": setting.server.url}).value == {"value": "net.onnx"}
    assert {request.path for request in setting.server.files.requests} == {f"/{DIGESTS['net.weights']}"}
    assert setting.kept == {path: FILES[name] for name, path in names.items()}


def test_a_file_of_the_apps_own_that_is_another_one_is_left_alone(setting: Setting) -> None:
    own = setting.folder / "own.onnx"
    own.write_bytes(b"another")
    found = setting.run(OPEN, source={"path": str(own), "sha256": DIGESTS["net.onnx"]}).value

    assert found["code"] == "corrupted"
    assert own.read_bytes() == b"another"


def test_samples_come_from_the_server_when_the_load_is_long_over(setting: Setting) -> None:
    found = setting.run("""
        const controller = new AbortController();
        const source = await sourceOf(model, backend, { source: { url }, onProgress, signal: controller.signal });
        controller.abort();
        const placed = shown(await source.place(golden));
        return { placed, told, needed: await outcome(source.place(needed)) };
    """).value

    assert [Path(part["path"]).read_bytes() for part in found["placed"]] == [FILES["net golden#1.safetensors"]]
    assert found["told"] == []
    assert found["needed"]["code"] == "cancelled"


def test_what_an_app_does_with_progress_does_not_end_a_download(setting: Setting) -> None:
    code = """
        const caught = new Promise((resolve) => process.once('uncaughtException', resolve));
        const options = { onProgress: () => { throw new Error('of the app'); } };
        const placed = await place({ url }, [file.weights[0]], options);
        return { count: placed.length, message: (await caught).message };
    """
    quiet = "process.on('uncaughtException', () => undefined);"
    assert setting.run(quiet + code).value == {"count": 1, "message": "of the app"}


@pytest.mark.parametrize("keep", ["[]", "[model]"])
def test_downloads_that_nobody_wants_are_removed(setting: Setting, keep: str) -> None:
    setting.run("return place({ url }, [...needed, ...golden]);")
    downloads = setting.folder / "cache" / "downloads"
    old = downloads / f"{'0' * 64}-old.ort"
    for path in (old, Path(f"{old}.part"), downloads / f"{DIGESTS['net.onnx']}-net.onnx.part"):
        path.write_bytes(b"x")

    setting.run(f"return removeDownloads(backend, {keep});")

    wanted = [f"{digest}-{name}" for name, digest in DIGESTS.items()]
    wanted.append(f"{DIGESTS['net.onnx']}-net.onnx.part")
    assert sorted(setting.kept) == (sorted(wanted) if keep == "[model]" else [])


def test_a_download_that_is_on_its_way_is_not_removed(setting: Setting) -> None:
    downloads = setting.folder / "cache" / "downloads"
    downloads.mkdir(parents=True)
    part = downloads / f"{DIGESTS['net.weights']}-net.weights.part"
    part.write_bytes(FILES["net.weights"][:10_000])
    setting.server.files.faults.append(servers.slow(0.01))
    found = setting.run("""
        let placing;
        await new Promise((resolve) => {
            const onProgress = ({ loadedBytes }) => loadedBytes > 10000 && resolve();
            placing = place({ url }, [file.weights[0]], { onProgress });
        });
        await removeDownloads(backend, []);
        return outcome(placing);
    """).value

    assert "value" in found
    assert list(setting.kept.values()) == [FILES["net.weights"]]
    assert setting.server.files.ranges == ["10000-51199"]


def test_an_own_file_is_opened_where_it_is(setting: Setting) -> None:
    code = """
        const source = await sourceOf(model, backend, { source: { path: 'file:///a%20b/net.onnx', sha256 } });
        const placed = shown(await source.place([...source.files, ...golden]));
        return { files: source.files, isOwn: source.isOwn, notes: source.notes, placed };
    """
    found = setting.run(code, sha256="AB" * 32).value

    assert (found["isOwn"], found["notes"]) == (True, "")
    own, golden = found["placed"]
    assert own == {
        "name": "",
        "path": "/a b/net.onnx",
        "offset": 0,
        "size": -1,
        "sha256": "ab" * 32,
        "endsSha256": "",
        "hasBytes": False,
    }
    assert golden["path"] == "/package/net golden#1.safetensors"
    assert found["files"][0]["path"] == "file:///a%20b/net.onnx"
    assert "cpu" in found["files"][0]["providers"]


def test_memory_may_be_a_part_of_it(setting: Setting) -> None:
    found = setting.run("""
        const buffer = new Uint8Array(100).subarray(30, 70);
        const source = await sourceOf(model, backend, { source: { buffer } });
        const [{ part, bytes }] = await source.place(source.files);
        return { ...part, isSame: bytes === buffer.buffer };
    """).value

    assert found == {"name": "", "path": "", "offset": 30, "size": 40, "sha256": "", "endsSha256": "", "isSame": True}


NO_SOURCES = (
    ("{ url: 'http://127.0.0.1/models/' }", "which is not the https: address of a folder"),
    ("{ url: 'https://127.0.0.1/models' }", "with a / at its end"),
    ("{ url: 'https://127.0.0.1/models/?key=/' }", "with a / at its end"),
    ("{ url: 7 }", "source.url is 7"),
    ("{ path: 'models/net.onnx' }", "not an absolute path"),
    ("{ path: '' }", "not an absolute path"),
    ("{ path: '/net.onnx', sha256: 'abc' }", "source.sha256 is 'abc'"),
    ("{ buffer: [1, 2] }", "neither an ArrayBuffer nor a view"),
    ("{ buffer: new ArrayBuffer(0) }", "is empty"),
    ("{ folder: 'models' }", "source.folder is 'models', which is not an absolute path"),
    ("{ folder: '/' }", "source.folder is '/'"),
    ("{ descriptor: -1 }", "source.descriptor is -1, which is not a whole number from 0 on"),
    ("{ descriptor: '3' }", "source.descriptor is '3'"),
    ("{ descriptor: 3, offset: 0.5 }", "source.offset is 0.5"),
    ("{ descriptor: 3, size: -1 }", "source.size is -1"),
    ("{ url: 'https://127.0.0.1/', path: '/net.onnx' }", "has one of url, folder, path, buffer, descriptor"),
    ("'downloaded'", "source is 'bundled'"),
    ("null", "source is 'bundled'"),
)


def test_what_is_no_source_is_refused_in_words(setting: Setting) -> None:
    for source, words in NO_SOURCES:
        found = setting.run(f"return outcome(sourceOf(model, backend, {{ source: {source} }}));").value
        assert (found["code"], words in found["message"]) == ("bad-options", True), found


def test_a_folder_has_files_under_their_sha256(setting: Setting) -> None:
    code = """
        const source = await sourceOf(model, backend, { source: { folder } });
        const placed = shown(await source.place([...needed, ...golden]));
        return { placed, isOwn: source.isOwn, notes: source.notes, opened: await OPENED };
    """.replace("OPENED", OPEN.removeprefix("return ").replace("{ source }", "{ source: { folder } }").rstrip(";"))
    folder = setting.folder / "a b"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / DIGESTS[name]).write_bytes(content)

    for address in (str(folder), f"{folder}/", f"file://{str(folder).replace(' ', '%20')}"):
        found = setting.run(code, folder=address).value
        assert [part["path"] for part in found["placed"]] == [str(folder / digest) for digest in DIGESTS.values()]
        assert [part["endsSha256"] for part in found["placed"]] == [f"ends of {name}" for name in FILES]
        assert (found["isOwn"], found["notes"]) == (False, str(setting.folder / "cache" / "checked"))
        assert found["opened"] == {"value": "net.onnx"}
    assert setting.server.files.requests == []

    weights = folder / DIGESTS["net.weights"]
    weights.write_bytes(b"another")
    assert setting.run(code, folder=str(folder)).value["opened"]["code"] == "corrupted"
    assert weights.read_bytes() == b"another", "the folder is the app's"
    weights.unlink()
    assert setting.run(code, folder=str(folder)).value["opened"]["code"] == "missing"


def test_a_descriptor_stands_for_a_path(setting: Setting) -> None:
    code = """
        const source = await sourceOf(model, backend, { source: given });
        const [{ part, descriptor, bytes }] = await source.place(source.files);
        return { part, descriptor, bytes, isOwn: source.isOwn, file: source.files[0].path };
    """
    part = {"name": "", "path": "descriptor 7", "offset": 0, "size": -1, "sha256": "", "endsSha256": ""}
    whole = {"part": part, "descriptor": 7, "bytes": None, "isOwn": True, "file": "descriptor 7"}
    assert setting.run(code, given={"descriptor": 7}).value == whole
    given = {"descriptor": 7, "offset": 8, "size": 5, "sha256": "AB" * 32}
    assert setting.run(code, given=given).value == {
        **whole,
        "part": {**part, "offset": 8, "size": 5, "sha256": "ab" * 32},
    }


def test_a_browser_has_no_files(setting: Setting) -> None:
    for kind, value in (("folder", "'/models'"), ("descriptor", "3")):
        code = f"return outcome(sourceOf(model, backend, {{ source: {{ {kind}: {value} }} }}));"
        assert setting.run(code, platform="web").value == {
            "code": "unsupported",
            "message": f"a browser has no files for source.{kind}: use url or buffer",
        }


def test_a_load_that_was_cancelled_before_asks_for_nothing(setting: Setting) -> None:
    found = setting.run("""
        const controller = new AbortController();
        controller.abort();
        return outcome(sourceOf(model, backend, { source: { url }, signal: controller.signal }));
    """).value
    assert found == {"code": "cancelled", "message": "loading Net was cancelled"}


def test_in_a_browser_files_are_in_memory_and_checked(setting: Setting) -> None:
    code = """
        const source = await sourceOf(model, backend, { source: { url }, onProgress });
        const placed = await source.place(needed);
        const last = told.at(-1);
        const kept = placed.map(({ part, bytes }) => [part.name, bytes.byteLength, bytesInMemory(part) === bytes]);
        return { notes: source.notes, kept, last };
    """
    assert setting.run(code, platform="web").value == {
        "notes": "",
        "kept": [["", len(FILES["net.onnx"]), True], ["weights.bin", len(FILES["net.weights"]), True]],
        "last": {"loadedBytes": TOTAL, "totalBytes": TOTAL},
    }


@pytest.mark.parametrize(
    ("content", "fault", "code"),
    [
        (FILES["net.onnx"][:-1], None, "corrupted"),
        (FILES["net.onnx"] + b"more", None, "corrupted"),
        (bytes(reversed(FILES["net.onnx"])), None, "corrupted"),
        (FILES["net.onnx"], servers.status(404), "missing"),
        (FILES["net.onnx"], servers.status(500), "network"),
    ],
)
def test_in_a_browser_a_wrong_file_is_refused(
    setting: Setting, content: bytes, fault: servers.Fault | None, code: str
) -> None:
    setting.server.files.by_path[f"/{DIGESTS['net.onnx']}"] = content
    setting.server.files.faults.append(fault)

    found = setting.run("return outcome(place({ url }, needed));", platform="web").value

    assert found["code"] == code
    assert f"{setting.server.url}{DIGESTS['net.onnx']}" in found["message"]


def test_in_a_browser_a_download_that_is_cut_goes_on(setting: Setting) -> None:
    setting.server.files.faults.append(servers.cut(100))

    found = setting.run("return outcome(place({ url }, needed));", platform="web").value

    assert "code" not in found
    asked = [each for each in setting.server.files.requests if each.path == f"/{DIGESTS['net.onnx']}"]
    assert [each.headers.get("range") for each in asked] == [None, f"bytes=100-{len(FILES['net.onnx']) - 1}"]


def test_in_a_browser_https_must_not_lead_to_http(setting: Setting) -> None:
    with serving() as plain:
        plain.files.by_path["/net.onnx"] = FILES["net.onnx"]
        setting.server.files.faults.append(servers.redirect(f"{plain.url}net.onnx"))

        found = setting.run("return outcome(place({ url }, needed));", platform="web").value

    assert found["code"] == "network"
    assert "is not an https: address" in found["message"]


def test_in_a_browser_a_load_can_be_cancelled(setting: Setting) -> None:
    setting.server.files.faults.append(servers.held(2000))
    code = """
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 100);
        return outcome(place({ url }, needed, { signal: controller.signal }));
    """
    assert setting.run(code, platform="web").value["code"] == "cancelled"
