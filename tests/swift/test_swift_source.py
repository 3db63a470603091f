"""In Swift: models come from a server, a folder, a file, memory or an open file, and are what the package knows."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packager.distribution.release.extract import extract
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain.react_native.download import server as servers
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Address, Certificate, serving
from tests.toolchain.swift_app import App, trusting
from tests.toolchain.swift_nets import AUTO
from tests.toolchain.swift_sources import objects

MODEL = "(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }"


@pytest.fixture(scope="module")
def app() -> App:
    return AUTO.program("Sources")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def etc(pair: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trusting(pair.certificate, tmp_path_factory.mktemp("trusting") / "etc")


@pytest.fixture(scope="module")
def answer(app: App, tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """The answer of the model in the app."""
    [loaded, found] = run(app, tmp_path_factory.mktemp("bundled"), "load", "bundled", "")
    assert loaded["loaded"] == "bundled"
    assert (found["passed"], found["profiled"]) == (True, "json")
    assert np.ptp(found["answer"]) > 1
    answer: list[float] = found["answer"]
    return answer


@pytest.fixture
def server(app: App, pair: Certificate) -> Iterator[Address]:
    with serving(pair) as address:
        address.files.by_path |= {f"/models/{name}": content for name, content in by_sha256(app).items()}
        yield address


def run(
    app: App,
    scratch: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    mounts: tuple[Path, ...] = (),
    etc: Path | None = None,
) -> list[dict[str, Any]]:
    done = app.run(*words, scratch=scratch, environment=environment, mounts=mounts, etc=etc)
    assert done.returncode == 0, done.output
    return objects(done.output)


def models(app: App) -> Path:
    return app.folder / "small-nets_SmallNetsKit.resources/Models/linear"


def by_sha256(app: App) -> dict[str, bytes]:
    found = [path.read_bytes() for path in models(app).iterdir()]
    return {hashlib.sha256(content).hexdigest(): content for content in found}


def other(folder: Path, model: str = MODEL, columns: int = 64) -> Path:
    """A model of the app's own with other weights."""
    folder.mkdir(exist_ok=True)
    return saved(folder / "other.onnx", onnx_model(model, weights={"w": weight(64, columns, seed=5)}))


def test_a_model_is_downloaded_checked_and_kept(
    app: App, server: Address, etc: Path, answer: list[float], tmp_path: Path
) -> None:
    """Only files of the provider that starts; samples for the self-test; nothing the second time."""
    [loaded, found] = run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    asked = [request.path for request in server.files.requests]

    assert (loaded["loaded"], loaded["fallbacks"]) == ("url", 1)
    assert (found["answer"], found["passed"]) == (answer, True)
    assert sorted(asked) == sorted(set(asked))
    assert set(asked) <= set(server.files.by_path)
    sizes = [len(server.files.by_path[path]) for path in asked]
    assert found["progress"][0] == [0, sum(sizes[:-1])], "samples are no part of the load"
    assert found["progress"][-1] == [sum(sizes[:-1])] * 2
    [again, kept] = run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    assert (again["loaded"], kept["answer"]) == ("url", answer)
    assert [request.path for request in server.files.requests] == asked
    [folder] = (tmp_path / "run").rglob("downloads")
    assert folder.parent.name == "mobpack"
    assert {f"/models/{path.name}" for path in folder.rglob("*") if path.is_file()} == set(asked)


def test_a_download_that_was_damaged_later_is_fetched_again(
    app: App, server: Address, etc: Path, tmp_path: Path
) -> None:
    run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    [folder] = (tmp_path / "run").rglob("downloads")
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    largest = max(sizes, key=lambda path: sizes[path])
    largest.write_bytes(bytes(sizes[largest]))

    [_, failed] = run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    assert "corrupted" in failed["error"]
    [_, found] = run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    assert found["passed"]


def test_what_the_system_says_of_files_is_an_error_of_the_model(
    app: App, server: Address, etc: Path, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/file").write_bytes(b"")
    for place in ("file", "file/none"):
        home = {"XDG_DATA_HOME": str(tmp_path / "run" / place)}
        for scenario in ("load", "blocking"):
            found = run(app, tmp_path / "run", scenario, "url", f"{server.url}models/", etc=etc, environment=home)
            assert found[-1]["error"] == "missing", found


def test_a_part_that_cannot_be_written_is_an_error_of_the_model(
    app: App, server: Address, etc: Path, tmp_path: Path
) -> None:
    run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    [folder] = (tmp_path / "run").rglob("downloads")
    for path in [each for each in folder.rglob("*") if each.is_file()]:
        path.unlink()
        path.with_name(f"{path.name}.part").mkdir()
    found = run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    assert found[-1]["error"] == "missing", found


def test_a_download_keeps_to_the_networks_that_the_app_allows(app: App, tmp_path: Path) -> None:
    [found] = run(app, tmp_path / "run", "networks", "url", "https://localhost/")
    assert found == {"usual": [False, True], "other": [True, False], "updates": [True, True]}


def test_a_download_ends_whenever_it_is_cancelled(app: App, server: Address, etc: Path, tmp_path: Path) -> None:
    server.files.by_path |= {f"/{str(a) * 60}{1000 + b}": bytes(8000) for a in range(8) for b in range(25)}
    server.files.faults.extend([servers.stall] * 1000)
    [found] = run(app, tmp_path / "run", "cancels", server.url, str(tmp_path / "run/files"), etc=etc)
    assert found == {"cancelled": 200}


def test_cancelling_a_load_ends_the_download_and_keeps_what_has_come(
    app: App, server: Address, etc: Path, tmp_path: Path
) -> None:
    server.files.faults.extend([servers.held(2000)] * 9)
    seen = run(app, tmp_path / "run", "cancel", "url", f"{server.url}models/", etc=etc)

    assert seen[-1] == {"error": "cancelled"}
    assert servers.wait_until(lambda: bool(server.files.cut_off))
    [part] = (tmp_path / "run").rglob("*.part")
    size = part.stat().st_size
    assert size > 0
    server.files.faults.clear()
    server.files.requests.clear()
    run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    assert server.files.ranges[0].startswith(f"{size}-")


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/models/", "https://127.0.0.1:1/models", "https://127.0.0.1:1/models/?a=b/"]
)
def test_what_is_no_https_address_of_a_folder_is_refused(app: App, tmp_path: Path, address: str) -> None:
    [failed, thrown] = run(app, tmp_path / "run", "load", "url", address)

    assert thrown["words"] == f"{address} is not the https: address of a folder, with a / at its end"
    assert failed["failed"] == thrown["words"]


def test_downloads_are_removed_when_the_app_says_so(app: App, server: Address, etc: Path, tmp_path: Path) -> None:
    run(app, tmp_path / "run", "load", "url", f"{server.url}models/", etc=etc)
    [home] = (tmp_path / "run").rglob("downloads/SmallNetsKit")
    files = {path.name for path in home.iterdir()}
    (home / ("a" * 64)).write_bytes(b"of an older version")
    (home / ("b" * 64 + ".part")).write_bytes(b"of an older version")

    run(app, tmp_path / "run", "remove old")
    assert {path.name for path in home.iterdir()} == files
    run(app, tmp_path / "run", "remove")
    assert list(home.iterdir()) == []


def test_a_folder_has_files_under_their_sha256(app: App, answer: list[float], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in by_sha256(app).items():
        (folder / name).write_bytes(content)
    [loaded, found] = run(app, tmp_path / "run", "load", "folder", str(folder), mounts=(folder,))

    assert loaded["loaded"] == "folder"
    assert (found["answer"], found["passed"], found["progress"]) == (answer, True, [])


def test_a_folder_that_extract_makes_is_one(app: App, answer: list[float], tmp_path: Path) -> None:
    extract(AUTO.project() / "dist", tmp_path / "folder")
    [_, found] = run(app, tmp_path / "run", "load", "folder", str(tmp_path / "folder"), mounts=(tmp_path,))

    assert (found["answer"], found["passed"]) == (answer, True)


def test_a_file_that_a_folder_lacks_is_named(app: App, tmp_path: Path) -> None:
    [failed, _] = run(app, tmp_path / "run", "load", "folder", "/nowhere")
    assert failed["failed"].endswith("is missing, or cannot be read or written")


@pytest.mark.parametrize("kind", ["file", "bytes", "descriptor"])
@pytest.mark.parametrize("suffix", ["ort", "onnx"])
def test_a_file_of_the_apps_own_is_used(app: App, answer: list[float], tmp_path: Path, kind: str, suffix: str) -> None:
    """The package's own file of ORT format gives its answers, another one in ONNX format its own."""
    file = next(models(app).glob("*.ort")) if suffix == "ort" else other(tmp_path / "own")
    [loaded, found] = run(app, tmp_path / "run", "load", kind, str(file), mounts=(file.parent,))

    assert loaded["loaded"] == kind
    assert (found["size"], found["sha256"]) == (file.stat().st_size, "")
    assert (found["answer"] == answer) == (suffix == "ort")
    assert (found["samples"], found["passed"]) == (0, False)
    blocking = run(app, tmp_path / "run", "blocking", kind, str(file), mounts=(file.parent,))
    assert blocking[-1]["answer"] == found["answer"]


def test_a_part_of_an_open_file_need_not_be_aligned(app: App, answer: list[float], tmp_path: Path) -> None:
    content = next(models(app).glob("*.ort")).read_bytes()
    file = tmp_path / "own/archive"
    file.parent.mkdir()
    for ahead in (3, 4096, 4099):
        file.write_bytes(bytes(ahead) + content + b"tail")
        where = {"OFFSET": str(ahead), "SIZE": str(len(content))}
        [_, found] = run(app, tmp_path / "run", "load", "descriptor", str(file), environment=where, mounts=(file,))
        assert found["answer"] == answer


@pytest.mark.parametrize(("offset", "size"), [(-1, 10), (0, 10**9), (10**9, 10), (0, 0), (0, -5)])
def test_a_part_beyond_an_open_file_is_refused(app: App, tmp_path: Path, offset: int, size: int) -> None:
    file = other(tmp_path / "own")
    where = {"OFFSET": str(offset), "SIZE": str(size)}
    [_, found] = run(app, tmp_path / "run", "load", "descriptor", str(file), environment=where, mounts=(file,))
    assert "missing" in found["error"]


@pytest.mark.parametrize("kind", ["file", "bytes", "descriptor"])
def test_the_sha256_of_a_file_of_the_apps_own_is_checked(app: App, tmp_path: Path, kind: str) -> None:
    file = other(tmp_path / "own")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    for given, is_right in ((sha256, True), (sha256.upper(), True), ("0" * 64, False)):
        seen = run(app, tmp_path / "run", "load", kind, str(file), environment={"SHA256": given}, mounts=(file.parent,))
        assert ("answer" in seen[-1]) == is_right
        assert seen[-1].get("sha256", sha256) == sha256


@pytest.mark.parametrize(
    ("model", "columns", "words"),
    [
        (MODEL.replace(" x)", " z)").replace("(x,", "(z,"), 64, "the file has no input `x`"),
        (MODEL.replace("64] y", "32] y"), 32, "output `y` is of type 1 with shape [1, 32], not"),
        (MODEL.replace("(float[1, 64] x)", "(float[1, 64] x, float[1] more)"), 64, "has 2 inputs, the model 1"),
        ("(double[1, 64] x) => (float[1, 64] y) { y = Cast <to = 1> (x) }", 64, "input `x` is of type 11"),
        ("(float[1, 1, 64] x) => (float[1, 64] y) { y = Flatten (x) }", 64, "with shape [1, 1, 64], not"),
        (
            MODEL.replace("(float[1, 64] y)", "(float[1, 64] y, float[1, 64] more)").replace("}", "more = Neg (y) }"),
            64,
            "has 2 outputs, the model 1",
        ),
    ],
)
def test_a_model_with_other_inputs_or_outputs_is_refused(
    app: App, tmp_path: Path, model: str, columns: int, words: str
) -> None:
    file = other(tmp_path / "own", model, columns)
    [_, found] = run(app, tmp_path / "run", "load", "file", str(file), mounts=(file.parent,))

    assert "badModel" in found["error"]
    assert words in found["words"]


def test_a_size_that_a_file_leaves_open_fits(app: App, tmp_path: Path) -> None:
    file = other(tmp_path / "own", MODEL.replace("1, 64] x", "n, 64] x").replace("1, 64] y", "n, 64] y"))
    [_, found] = run(app, tmp_path / "run", "load", "file", str(file), mounts=(file.parent,))
    assert len(found["answer"]) == 64


def test_a_file_that_is_no_model_is_refused(app: App, tmp_path: Path) -> None:
    file = tmp_path / "own/text.ort"
    file.parent.mkdir()
    file.write_text("no model")
    for kind in ("file", "bytes"):
        [_, found] = run(app, tmp_path / "run", "load", kind, str(file), mounts=(file,))
        assert "did not start" in found["words"]
