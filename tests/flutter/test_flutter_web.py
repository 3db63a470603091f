"""Flutter on the web: one app's Dart, compiled to JavaScript and to WebAssembly, runs the models of the package in a
browser and under Node, and gets what Python computes."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager.files.installed import templates_folder
from packager.files.zips import unpack
from packager.render.templates import write_sources
from tests.flutter.test_flutter_target import there
from tests.golden.cases import FLUTTER_CASES
from tests.toolchain import models, node, projects
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.dart import compile_program, configured_package
from tests.toolchain.web.page import page_of
from tests.toolchain.web.site import PAGE, files_of

PROGRAMS = Path(__file__).parents[1] / "toolchain" / "dart_programs"
APP = "/shop/"
"""where the site has the app: its page says so in `<base>`, as Flutter's does"""
POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:"
BASE = f'<base href="{APP}">'.encode()
START = {"js": b'<script src="page.js"></script>', "wasm": b'<script type="module" src="start.js"></script>'}
START_WASM = b"""
import { compile } from './page.mjs';
const bytes = await (await fetch('page.wasm')).arrayBuffer();
(await (await compile(new Uint8Array(bytes))).instantiate({})).invokeMain();
"""
COMPILED = {"js": ("page.js", "-O1"), "wasm": ("page.wasm", "-O0")}
"""the file that is made of `page.dart`, and options: Dart's compiler takes 1.8 s of a processor, an optimizer of
WebAssembly after it 4 more"""
UNBUILT = """
import 'dart:js_interop';
import 'dart:js_interop_unsafe';

import 'package:{name}/{name}.dart';

Future<void> main() async {{
  var said = 'loaded';
  try {{
    await {model}.load();
  }} on ModelException catch (error) {{
    said = '${{error.code.name}} ${{error.message}}';
  }}
  globalContext.setProperty('said'.toJS, said.toJS);
}}
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flutter") / "models"
    unpack(projects.FLUTTER.archive(), folder)
    shutil.copy(PROGRAMS / "page.dart", folder)
    configured_package(folder, "models")
    for kind in COMPILED:
        compile_page(folder, kind)
    return folder


def compile_page(folder: Path, kind: str) -> None:
    output, *options = COMPILED[kind]
    compile_program(folder, kind, "page.dart", output, *options)


def under_node(folder: Path, kind: str, library: str) -> str:
    command: list[str | Path] = [
        node.node().program,
        "--no-warnings",
        PROGRAMS / "start_page.mjs",
        folder,
        kind,
        library,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800) as opened:
        yield opened


@pytest.fixture(scope="module")
def said(package: Path, open_browser: Browser) -> Callable[[str, str], Mapping[str, Any]]:
    """Values of the program, of a kind, in a place; each is run once."""

    @cache
    def found(place: str, kind: str) -> Mapping[str, Any]:
        if place == "node":
            text = under_node(package, kind, f"{package.as_uri()}/")
        else:
            text = in_browser(open_browser, package, kind)
        values: Mapping[str, Any] = json.loads(text)
        assert "failure" not in values, values["failure"]
        return values

    return found


def in_browser(opened: Browser, package: Path, kind: str) -> str:
    """Assets are where `flutter build web` puts them, below the app's own address."""
    site = files_of(package / "web", f"{APP}assets/packages/models/web/")
    scripts = {f"{APP}{path.name}": path.read_bytes() for path in package.glob("page.*")}
    page = PAGE + BASE + START[kind]
    with page_of(opened, {**site, **scripts, f"{APP}start.js": START_WASM, "/page.html": page}) as visited:
        visited.server.files.headers["Content-Security-Policy"] = POLICY
        visited.visit()
        while not visited.value("globalThis.said !== undefined"):
            pass
        assert f"{APP}assets/packages/models/web/lib/web/worker.js" in visited.asked(), "models run in a worker"
        return str(visited.value("globalThis.said"))


EVERYWHERE = pytest.mark.parametrize(
    ("place", "kind"), [("browser", "js"), ("browser", "wasm"), ("node", "js"), ("node", "wasm")]
)
Said = Callable[[str, str], Mapping[str, Any]]


def run_model(file: Path, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[np.float32]]:
    session = onnxruntime.InferenceSession(file.read_bytes())
    return [np.asarray(each) for each in session.run(None, dict(inputs))]


def model_file(package: Path, name: str) -> Path:
    return package / "web" / "models" / f"{name}.ort"


@EVERYWHERE
def test_all_element_types_pass(said: Said, place: str, kind: str) -> None:
    found = said(place, kind)["every_type"]

    def turned(values: list[Any]) -> list[Any]:
        return [values[index] for index in (0, 3, 1, 4, 2, 5)]

    whole = [2**53 - 1, 1 - 2**53, -(2**32), 2**32 - 1, 5, -6]
    assert found["f32"] == turned([1, 2, 3, 4, 5, 6])
    assert found["f64"] == turned([1, 2, 3, 4, 5, 0.1])
    assert found["f16"] == turned([0x3C00, 2, 3, 4, 5, 6])
    assert found["i8"] == turned([-128, 2, 3, 4, 5, 127])
    assert found["i16"] == turned([-32768, 2, 3, 4, 5, 32767])
    assert found["i32"] == turned([-(2**31), 2, 3, 4, 5, 2**31 - 1])
    assert found["i64"] == turned(whole)
    assert found["u8"] == turned([255, 2, 3, 4, 5, 6])
    assert found["flag"] == turned([1, 0, 0, 1, 1, 0])
    assert found["word"] == turned(["a", "", "größe", "日本", "\U0001f600", "f"])
    assert found["u16"] == turned([each % 2**16 for each in whole])
    assert found["u32"] == turned([each % 2**32 for each in whole])
    assert (found["doubled"], found["shape"]) == ([3.0], [3, 2])
    assert (found["columns"], found["columns_shape"]) == ([1, 3, 5, 2, 4, 6], [2, 3])
    assert said(place, kind)["types"] == [True, True, True, True], "outputs are the lists that their types say"


@EVERYWHERE
def test_real_models_give_what_python_computes(package: Path, said: Said, place: str, kind: str) -> None:
    found = said(place, kind)
    ids = np.array([[101, 2023, 2003, 1037, 3231, 102], [101, 7592, 102, 0, 0, 0]])
    given = {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64), "token_type_ids": np.zeros_like(ids)}
    (expected,) = run_model(models.minilm(), given)
    assert found["minilm_shape"] == list(expected.shape)
    assert np.abs(np.array(found["minilm"]) - expected.ravel()).max() <= 1e-5 * np.abs(expected).max()

    at = np.arange(320 * 240 * 4)
    pixels = ((at * 37 + at // 1001) & 255).astype(np.uint8)
    luma = pixels[: 320 * 240].reshape(240, 320, 1)
    chroma = np.stack([pixels[: 320 * 120].reshape(120, 320)[:, ::2]] * 2, axis=-1)
    pictures = (
        (pixels.reshape(240, 320, 4), np.zeros((1, 1, 1), np.uint8), [0, 1, 2], [0, 0, 0]),
        (luma, np.ascontiguousarray(chroma), [0, 0, 0], [0, 1, 1]),
    )
    for classes, (data, half, channels, conversion) in zip(found["orientation"], pictures, strict=True):
        tensors = {"x.pixels": data, "x.channels": np.array(channels), "x.orientation": np.array(1)}
        tensors |= {"x.chroma": half, "x.conversion": np.array(conversion)}
        (scores,) = run_model(model_file(package, "orientation"), tensors)
        assert np.abs(np.array([classes[each] for each in ("0", "90", "180", "270")]) - scores.ravel()).max() <= 1e-5

    state, answers = np.zeros((2, 1, 128), np.float32), []
    sound = (np.sin(np.arange(576 * 3) ** 2 / 900) / 2).astype(np.float32)
    for part in sound.reshape(3, 576, 1):
        tensors = {"input.samples": part, "input.rate": np.array(16000), "state": state, "sr": np.array(16000)}
        output, state = run_model(model_file(package, "silero-vad"), tensors)
        answers.append(float(output.ravel()[0]))
    assert np.abs(np.array(found["silero"]) - [*answers, answers[0]]).max() <= 1e-5

    for text, tokens in zip(("The quick brown fox", "", "\U0001f600 the"), found["tokens"], strict=True):
        points = np.array([ord(each) for each in text] or [-1], np.int32)
        (expected,) = run_model(model_file(package, "tokens"), {"input_ids.text": points})
        assert tokens == expected.ravel().tolist()


@EVERYWHERE
def test_models_behave_as_on_other_systems(said: Said, place: str, kind: str) -> None:
    found = said(place, kind)
    assert found["errors"] == {
        "busy": "busy",
        "cancelled under way": "cancelled",
        "cancelled": "cancelled",
        "picture": "badInput",
        "unshaped": "badInput",
        "options": "badOptions",
        "folder": "unsupported",
        "no module": "missing",
        "no file": "missing" if place == "browser" else "network",
        "disposed": "disposed",
    }
    assert found["fallbacks"] == ["xnnpack", "webgpu"]
    ran = ["run orientation null"] * 2
    events = ["load orientation cpu", *ran, "release orientation", "failure orientation badOptions"]
    assert found["events"] == events
    assert found["waited"], "the second of two calls"
    assert found["proved"] == ["cpu", "[]"], "the package has no provider that could be proved"
    assert found["info"] == ["orientation", projects.VERSION, 64, "orientation.ort"]
    assert [found["first"], 1 <= found["frames"] <= 3] == [[3], True]
    assert sorted(found["self_tests"]) == ["minilm", "orientation", "silero-vad"]
    assert all(passed and count > 0 for passed, count, _ in found["self_tests"].values()), found["self_tests"]


def test_each_system_gets_the_assets_that_are_for_it(package: Path) -> None:
    listed = (package / "pubspec.yaml").read_text(encoding="utf-8")
    assets = dict(re.findall(r'- path: "([^"]+)"\n      platforms: \[([^]]+)\]', listed))
    files = {
        path.relative_to(package).as_posix() for folder in ("models", "web") for path in (package / folder).rglob("*")
    }
    assert set(assets) == {each for each in files if (package / each).is_file()}
    assert all((systems == "web") == path.startswith("web/") for path, systems in assets.items())
    assert not [path for path in assets if path.endswith(".d.ts")]


def test_a_package_without_files_for_the_web_says_so_there(tmp_path: Path) -> None:
    case = there(FLUTTER_CASES["cpu_alone"], tmp_path / "files")
    view = case.view()
    name, model = view.names.pub_name, view.names.models[0].class_name
    write_sources(case.sources(), tmp_path)
    text = UNBUILT.format(name=name, model=model)
    (tmp_path / "page.dart").write_text(text, encoding="utf-8", newline="\n")
    compile_page(configured_package(tmp_path, name), "js")
    assert under_node(tmp_path, "js", "").startswith("unsupported this package was built without files for the web")


@pytest.mark.parametrize(
    ("name", "native", "page"),
    [
        ("LoadedModel", "runtime/model.dart", "web/model.dart"),
        ("Updater", "runtime/updating/updater.dart", "web/updating/updater.dart"),
    ],
)
def test_both_halves_declare_the_same(name: str, native: str, page: str) -> None:
    """All else is one file for all systems."""
    sources = templates_folder() / "flutter" / "lib" / "src"
    found = declarations(sources / native, name)
    assert found == declarations(sources / page, name)
    assert len(found) >= 6


def declarations(file: Path, name: str) -> set[str]:
    """Members of a class that other files can use: names, types and parameters."""
    text = file.read_text(encoding="utf-8")
    (body,) = re.findall(rf"class {name} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    members = re.findall(r"^  (?![ )\]/_}])([^\n]*?)(?: async)?(?: \{| =>| =|;)", body, re.MULTILINE)
    private = re.compile(rf"(^| )_\w+([(<]|$)|^{name}\b")
    kept = [each for each in members if not private.search(each)]
    inner = ", [ModelFiles? files]"  # of this package's own sources of files, which pages do not have
    return {re.sub(r"^(late )?final |\bget ", "", each).replace(inner, "") for each in kept}
