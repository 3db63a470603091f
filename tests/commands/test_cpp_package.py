"""C++ packages: CMake builds and installs them, and programs get what every language gives."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Package, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.cpp import Cpp
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.npm.test_react_native_typed import made, planned
from tests.toolchain import command, cpp_packages, generation_models, typed_models, typed_texts
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED
from tests.toolchain.react_native import cmake_project

PROGRAMS = Path(cpp_packages.__file__).with_name("cpp_programs")
EDGE = Path(__file__).parents[2] / "sample_apps" / "edge"
PAGE = Path(__file__).parents[2] / "docs" / "cpp.md"
PROJECT = """\
[package]
name = "vision"
version = "1.2.0-rc.1"
license = "Apache-2.0"

[model.classifier]
path = "classifier.onnx"

[model.classifier.inputs.image]
kind = "image"
size = [8, 8]

[model.classifier.outputs.scores]
kind = "classes"
activation = "softmax"
labels = "labels.txt"

[target.cpp]
"""
SHADE = """(float[1, 3, 8, 8] image) => (float[1, 3] scores) {
    m = GlobalAveragePool (image) f = Flatten (m) scores = Gemm (f, w) }"""


def cmake(*arguments: str | Path, name: str = "cmake") -> None:
    cpp_packages.gcc()
    tools = cmake_project.programs()
    program = [tools / "cmake" / "data" / "bin" / name, *arguments]
    variables = {"CMAKE_GENERATOR": "Ninja", "PATH": os.pathsep.join((str(tools / "bin"), os.environ["PATH"]))}
    done = subprocess.run(program, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("vision"))


def built(folder: Path) -> Path:
    """The folder, with a project that is built."""
    saved(folder / "classifier.onnx", onnx_model(SHADE, weights={"w": weight(3, 3)}))
    (folder / "labels.txt").write_text('red\n"green" \\\nblau\n', encoding="utf-8")
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def unpacked(project: Path, folder: Path) -> Path:
    [tarball] = (project / "dist" / "cpp").glob("*.tgz")
    return cpp_packages.unpacked(tarball, folder)


def test_a_package_that_cmake_installs_judges_files_and_itself(project: Path, tmp_path: Path) -> None:
    """The page of C++ is followed. A provider that is not there is left out; a closed, moved or forked model and a
    damaged file are errors. The source that differs between systems compiles for Windows and macOS, too."""
    Image.fromarray(np.full((480, 640, 3), 200, np.uint8)).save(tmp_path / "photo.png")
    said = command.run("predict", "--json", tmp_path / "photo.png", folder=project).stdout
    best = json.loads(said)["predictions"][0]["answers"]["scores"][0]

    package, root = unpacked(project, tmp_path / "unpacked"), cpp_packages.root(tmp_path / "onnxruntime")
    assert (package.name, (package / "api.json").is_file()) == ("vision-1.2.0-rc.1", True)
    app, prefix = tmp_path / "app", tmp_path / "prefix"
    app.mkdir()
    page = PAGE.read_text(encoding="utf-8")
    main, lists = (re.findall(rf"```{each}\n(.*?)```", page, re.DOTALL)[0] for each in ("cpp", "cmake"))
    asked = "add_executable(asked asked.cpp)\ntarget_link_libraries(asked PRIVATE vision::vision)\n"
    head = "cmake_minimum_required(VERSION 3.14)\nproject(app LANGUAGES CXX)\n"
    (app / "CMakeLists.txt").write_text(head + lists + asked, encoding="utf-8")
    (app / "main.cpp").write_text(main, encoding="utf-8")
    shutil.copy(PROGRAMS / "asked.cpp", app)
    given = ("-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", f"-DONNXRUNTIME_ROOT={root}")
    cmake("-S", package, "-B", tmp_path / "lib", *given)
    cmake("--build", tmp_path / "lib")
    for system in ("x86_64-windows-gnu", "aarch64-macos"):
        cpp_packages.checked(package, root, "session", cpp_packages.clang(system))
    cmake("--install", tmp_path / "lib", "--prefix", prefix)
    cmake("-G", "DEB", "--config", tmp_path / "lib" / "CPackConfig.cmake", "-B", tmp_path / "packed", name="cpack")
    listed: list[str | Path] = ["dpkg-deb", "--contents", tmp_path / "packed" / "vision_1.2.0_amd64.deb"]
    packed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    cmake("-S", app, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *given)
    cmake("--build", tmp_path / "build")
    shutil.rmtree(package / "models")  # those of the installation are used
    shutil.copytree(prefix / "share" / "vision" / "models", tmp_path / "copied")

    (home := tmp_path / "home").mkdir()
    app_program = [tmp_path / "build" / "app"]
    shown = subprocess.run(app_program, env={"HOME": str(home)}, capture_output=True, text=True, check=False)
    done = subprocess.run(
        [tmp_path / "build" / "asked", tmp_path / "copied"], capture_output=True, text=True, check=False
    )
    assert not list(home.rglob("*")), "ONNX Runtime's telemetry has started"
    assert {"./usr/lib/libvision.a", "./usr/share/vision/models/classifier/classifier.onnx"} <= set(packed.split())
    assert shown.returncode == 0, shown.stderr
    label, score = shown.stdout.split()[:2]
    assert label == best["label"]
    assert float(score) == pytest.approx(best["score"], abs=1e-5)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "left CUDAExecutionProvider: this ONNX Runtime does not have it",
        "provider CPUExecutionProvider",
        "classes 3 1",
        "same 1",
        "tested 1 1",
        "runs 9 0",
        "bad bad_input",
        "child forked",
        "ended 0",
        "moved closed done",
        "closed closed",
        "options bad_options",
        "copied done",
        "damaged corrupted",
        "gone missing",
    ]


def test_the_sample_for_a_board_names_what_is_in_the_pictures_of_a_folder(project: Path, tmp_path: Path) -> None:
    """It takes the package as `add_subdirectory`, and refuses half a picture."""
    samples, seen = tmp_path / "sample_apps", tmp_path / "seen"
    shutil.copytree(EDGE, samples / EDGE.name)
    shutil.copytree(project / "dist" / "cpp", samples / "vision" / "dist" / "cpp")
    seen.mkdir()
    photo = Image.fromarray(np.full((48, 64, 3), 200, np.uint8))
    photo.save(seen / "a.ppm")
    photo.save(tmp_path / "a.png")
    (seen / "b.ppm").write_bytes((seen / "a.ppm").read_bytes()[:-1])
    said = command.run("predict", "--json", tmp_path / "a.png", folder=project).stdout
    best = json.loads(said)["predictions"][0]["answers"]["scores"][0]

    root = cpp_packages.root(tmp_path / "onnxruntime")
    cmake("-S", samples / EDGE.name, "-B", tmp_path / "build", f"-DONNXRUNTIME_ROOT={root}")
    cmake("--build", tmp_path / "build")
    done = subprocess.run([tmp_path / "build" / "edge", seen, "--once"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole, half = done.stdout.splitlines()
    name, label, score = whole.split(" ")
    assert (name, label) == ("a.ppm:", best["label"])
    assert float(score) == pytest.approx(best["score"], abs=1e-5)
    assert half == "b.ppm: no whole .ppm picture"


def test_texts_sounds_and_tensors_give_what_they_give_in_every_language(tmp_path: Path) -> None:
    """The program is compiled without exceptions, and watches its memory."""
    store = Store(cache_folder() / "store")
    for each in ("tales", "heard"):
        (tmp_path / each).mkdir()
    told = {each.plan.model.name: each for each in generation_models.made(tmp_path / "tales", store)}
    heard = generation_models.heard(tmp_path / "heard", store)
    names = ("tagger", "noter", "ranker", "everything", "finder", "listener")
    lists = [each for each in typed_texts.lists(tmp_path) if each.name != "rows"]
    plans = (
        *(made(name, tmp_path) for name in names),
        *(planned(compile_variant(baseline(each), store)) for each in lists),
        *(told[each].plan for each in ("teller", "sampler")),
        heard.plan,
    )
    target = Cpp()
    view = target.view(Package(name="typed", version="1.0.0", license=""), plans, Report(parities=()))
    [tarball] = target.assemble(view, target.render(view), store)
    package, root = cpp_packages.unpacked(tarball.path, tmp_path / "unpacked"), cpp_packages.root(tmp_path / "ort")
    options = ("-O0", "-fno-exceptions", "-fsanitize=address,undefined")
    program = cpp_packages.compiled(package, root, PROGRAMS / "typed.cpp", cpp_packages.gcc(), *options)
    given = [PROMPT, typed_texts.TAGGED, typed_texts.SOUGHT, *typed_texts.DOCUMENTS]
    given += [re.sub("[\ud800-\udfff]", "\ufffd", each) for each in typed_texts.LISTED]
    (tmp_path / "texts").write_text("".join(f"{each}\0" for each in given), encoding="utf-8")
    done = cpp_packages.ran(program, package, root, tmp_path / "texts")
    assert (done.returncode, done.stderr) == (0, "")
    found, wanted = json.loads(done.stdout, strict=False), typed_texts.listed()  # texts have control characters

    def place(characters: int) -> int:
        return len(typed_texts.TAGGED[:characters].encode())

    ends = [(typed_texts.TAGGED.index(text), len(text)) for _, text, _, _, _ in typed_texts.spans()]
    assert found["spans"] == found["noted"]
    assert found["spans"] == [
        [label, text, place(start), place(start + size), score]
        for (label, text, _, _, score), (start, size) in zip(typed_texts.spans(), ends, strict=True)
    ]
    assert found["copied"] == [ord(each) for each in "before"]
    assert found["ranked"] == [list(each) for each in typed_texts.RANKED]
    typed_texts.same(found["together"], wanted["embedder"])
    typed_texts.same([found["alone"]], wanted["embedder"][:1])
    assert found["none"] == []
    assert [f"[{', '.join(each)}]" for each in (*found["topics"], found["topic"])] == [
        *typed_texts.topics(),
        typed_texts.topics()[0],
    ]
    assert found["one topic"] == 1
    typed_texts.same([[each] for each in found["judge"]], wanted["judge"])
    typed_texts.same(found["judged"], typed_texts.ranked(3))
    teller = told["teller"].steps
    assert found["told"] == [teller.text(prompt) for prompt in (PROMPT, "", "a dog")]
    assert found["whole"] == found["parts"] == found["told"][0]
    sampler = told["sampler"].steps
    assert found["seeds"] == [sampler.text("a dog", seed) for seed in (0, 2**40)]
    assert found["chat"] == sampler.text(CONVERSATION, 7)
    assert found["no chat"] == [f"[bad_input] {each}" for each in REFUSED]
    assert (found["stopped"], found["heard"]) == (1, heard.text)
    assert (found["where"], found["shades"], found["labels"]) == ([1, 1, 5, 5], [1, 1, 5, 5], ["no", "yes"])
    assert (found["vector"], found["words"], found["raw"], found["made"]) == ([3, 4, 5], "語a'", [1], [5, 6, 7, 5])
    assert found["sureness"] == pytest.approx(0.1)
    assert found["boxes"] == [["dog", 1, 0.5, 1, 4], ["", 7, 0.25, 5, 8]]
    assert found["first"] == found["again"] == [0.75, 2, 2, 8000, 0, 0]
    assert found["second"] == [0.75, 2, 1, 44100, 0.75, 1]
    assert [found[each] for each in ("wrong", "unknown", "no pairs")] == ["bad_input"] * 3
    assert found["sounds"] == ["bad_input"] * 3


def test_a_pipeline_gives_each_model_the_pixels_in_each_box(tmp_path: Path) -> None:
    store = Store(cache_folder() / "store")
    names = {each.model for each in typed_models.SCANNER.stages}
    plans = tuple(each for each in typed_models.plans(tmp_path / "nets", store) if each.model.name in names)
    package = Package(name="models", version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    target = Cpp()
    view = target.view(package, plans, Report(parities=()))
    [tarball] = target.assemble(view, target.render(view), store)
    unpacked, root = cpp_packages.unpacked(tarball.path, tmp_path / "unpacked"), cpp_packages.root(tmp_path / "ort")
    options = ("-O0", "-fsanitize=address,undefined")
    program = cpp_packages.compiled(unpacked, root, PROGRAMS / "scanned.cpp", cpp_packages.gcc(), *options)
    small = np.random.default_rng(3).integers(0, 256, 200, np.uint8)
    small.tofile(tmp_path / "bytes")
    done = cpp_packages.ran(program, unpacked, root, tmp_path / "bytes")
    assert (done.returncode, done.stderr) == (0, "")
    found = re.split(r"^(colours|camera|many|closed) (\d)\n", done.stdout, flags=re.MULTILINE)[1:]
    said = {(name, int(turn)): lines.splitlines() for name, turn, lines in zip(*[iter(found)] * 3, strict=True)}
    pixels, luma = small[:168].reshape(6, 28)[:, 4:24].reshape(6, 5, 4), small[:48].reshape(6, 8, 1)
    for turn in range(1, 9):
        assert said["colours", turn] == typed_models.scanned(plans, pixels, turn)
        assert said["camera", turn] == typed_models.scanned(plans, luma, turn, small[48:72].reshape(3, 4, 2))
    assert said["many", 1] == ["[bad_input] pipeline `scan`: 9 boxes, and it takes 8 at most"]
    assert said["closed", 1][0].startswith("[closed] ")
