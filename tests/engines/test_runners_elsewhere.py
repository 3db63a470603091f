"""Providers for machines that are not here say what they lack, and use names that the real packages know."""

import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments.environment import make_once
from packager.engines.environments.web import runtime_file
from packager.engines.runners import RUNNERS, Runnable, directml, elsewhere, migraphx, rocm, webnn
from packager.files.hashes import sha256_of
from packager.files.user_cache import cache_folder
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain.environments import have
from tests.toolchain.require import require

NAMES = ("directml", "migraphx", "rocm", "webnn")
WHEELS = {
    "directml": (
        "onnxruntime-directml==1.24.4",
        "win_amd64",
        "96642a787e5a6f33bf043521c0f06eb1eb663f6b830e5862a2026d03f9c90543",
    ),
    "rocm": (
        "onnxruntime-rocm==1.22.2.post3",
        "manylinux_2_34_x86_64",
        "705596b48933446ae6766921c5c8a46ef42f0c735bf158b6eb44a60bf7f95230",
    ),
    "migraphx": (
        "onnxruntime-migraphx==1.27.1",
        "manylinux_2_34_x86_64",
        "4a178713a67dbcd1a952edb89d60e856ec70538f8f9848c89745ae2328305b6d",
    ),
}
"""Package, platform, and the hash of its wheel for Python 3.11: read here, never run."""


def wheel(name: str) -> zipfile.ZipFile:
    """The wheel of a provider's package, kept in the cache."""
    package, tag, sha256 = WHEELS[name]
    folder = cache_folder() / "environments" / "gpu-bindings" / sha256[:16]

    def download(made: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", "3.11", "--platform", tag, "--dest", str(made), package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        require(done.returncode == 0, done.stderr)
        (found,) = made.iterdir()
        assert sha256_of(found) == sha256

    make_once(folder, download)
    (file,) = folder.iterdir()
    return zipfile.ZipFile(file)


def content(name: str, ending: str) -> bytes:
    """Bytes of the file in the wheel of a provider whose path ends so."""
    with wheel(name) as files:
        (path,) = (each for each in files.namelist() if each.endswith(ending))
        return files.read(path)


@pytest.mark.parametrize("name", WHEELS)
def test_the_package_knows_the_provider_and_its_options(name: str) -> None:
    module = {"directml": directml, "migraphx": migraphx, "rocm": rocm}[name]
    assert WHEELS[name][0].startswith(f"{module.PACKAGE}==")
    bindings = content(name, f"onnxruntime_pybind11_state.{'pyd' if name == 'directml' else 'so'}")
    assert module.PROVIDER.encode() in bindings
    library = content(name, "libonnxruntime_providers_migraphx.so") if name == "migraphx" else bindings
    assert [each for each in module.OPTIONS if each.encode() + b"\0" not in library] == []


def test_migraphx_is_linked_with_the_libraries_that_the_runner_looks_for() -> None:
    library = content("migraphx", "libonnxruntime_providers_migraphx.so")
    for name in ("migraphx_c", "amdhip64"):
        assert f"lib{name}.so".encode() in library


def test_onnxruntime_web_has_the_provider_webnn() -> None:
    have("web")
    bundles = list(runtime_file("script").parent.glob("ort*.mjs"))
    assert any(f'"{webnn.PROVIDER}"'.encode() in each.read_bytes() for each in bundles)


@pytest.mark.skipif(sys.platform != "linux" or elsewhere.KFD.exists(), reason="a machine with another system or GPU")
@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_is_said_and_nothing_runs(name: str, tmp_path: Path) -> None:
    (runner,) = RUNNERS[name]("")
    words = {
        "directml": f"DirectML is a part of Windows, and this is {platform.system()}",
        "migraphx": "no AMD GPU: /dev/kfd does not exist",
        "rocm": "no AMD GPU: /dev/kfd does not exist",
        "webnn": "WebNN is an interface of browsers (navigator.ml)",
    }
    assert runner.missing().startswith(words[name])
    assert runner.identity() == "", "nothing of it may be stored"
    model = saved(tmp_path / "m.onnx", onnx_model("(float[4] x) => (float[4] y) { y = Relu (x) }"))
    with pytest.raises(ToolError):
        runner.open(Runnable(path=model), tmp_path)


def test_an_interpreter_without_the_provider_is_named() -> None:
    """This Python has onnxruntime, for CPUs."""
    found = elsewhere.lacks_provider(sys.executable, directml.PROVIDER, directml.PACKAGE)
    assert found.startswith("onnxruntime 1.")
    assert f"in {sys.executable} has no DmlExecutionProvider: install onnxruntime-directml in a Python of its" in found
    assert elsewhere.lacks_provider("", "CPUExecutionProvider", "onnxruntime") == ""


def test_an_interpreter_without_onnxruntime_is_named(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named onnxruntime' >&2\nexit 1\n")
    program.chmod(0o755)
    found = elsewhere.lacks_provider(str(program), directml.PROVIDER, directml.PACKAGE)
    assert found.startswith(f"{program} cannot import onnxruntime (ModuleNotFoundError: No module named onnxruntime)")
