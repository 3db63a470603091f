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

from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, cpp_packages
from tests.toolchain.react_native import cmake_project

PROGRAMS = Path(cpp_packages.__file__).with_name("cpp_programs")
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


def cmake(*arguments: str | Path) -> None:
    cpp_packages.gcc()
    tools = cmake_project.programs()
    program = [tools / "cmake" / "data" / "bin" / "cmake", *arguments]
    variables = {"CMAKE_GENERATOR": "Ninja", "PATH": os.pathsep.join((str(tools / "bin"), os.environ["PATH"]))}
    done = subprocess.run(program, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_a_package_that_cmake_installs_judges_files_and_itself(tmp_path: Path) -> None:
    """What docs/cpp.md shows works. A provider that is not there is left out; a closed, moved or forked model and a
    damaged file are errors."""
    saved(tmp_path / "classifier.onnx", onnx_model(SHADE, weights={"w": weight(3, 3)}))
    (tmp_path / "labels.txt").write_text('red\n"green" \\\nblau\n', encoding="utf-8")
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    built = command.run("build", folder=tmp_path)
    assert built.returncode == 0, built.stderr
    assert command.run("verify", folder=tmp_path).returncode == 0
    Image.fromarray(np.full((480, 640, 3), 200, np.uint8)).save(tmp_path / "photo.png")
    predicted = json.loads(command.run("predict", "--json", "photo.png", folder=tmp_path).stdout)["predictions"][0]

    [tarball] = (tmp_path / "dist" / "cpp").glob("*.tgz")
    package, root = cpp_packages.unpacked(tarball, tmp_path / "unpacked"), cpp_packages.root(tmp_path / "onnxruntime")
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
    cmake("--install", tmp_path / "lib", "--prefix", prefix)
    cmake("-S", app, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *given)
    cmake("--build", tmp_path / "build")
    shutil.rmtree(package / "models")  # those of the installation are used
    shutil.copytree(prefix / "share" / "vision" / "models", tmp_path / "copied")

    shown = subprocess.run([tmp_path / "build" / "app"], capture_output=True, text=True, check=False)
    done = subprocess.run(
        [tmp_path / "build" / "asked", tmp_path / "copied"], capture_output=True, text=True, check=False
    )
    best = predicted["answers"]["scores"][0]
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
        "moved closed done",
        "closed closed",
        "options bad_options",
        "copied done",
        "damaged corrupted",
        "gone missing",
    ]
