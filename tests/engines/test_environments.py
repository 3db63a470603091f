"""Isolated environments: whole or absent, from locked bytes, and separate from the user's packages."""

import json
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import ENVIRONMENTS, ensure, runtime, webgpu
from packager.engines.environments.debian import unpack_deb
from packager.engines.environments.environment import isolated_command
from packager.engines.runners.webgpu import Webgpu
from packager.files.processes import commands
from tests.cases.environments import cache
from tests.toolchain.environments import have
from tests.toolchain.require import require

__all__ = ["cache"]


def test_a_debian_package_is_unpacked_as_far_as_is_wanted(tmp_path: Path) -> None:
    require(shutil.which("dpkg-deb") is not None, "packages of Debian are unpacked by its dpkg-deb")
    content = tmp_path / "content"
    (content / "DEBIAN").mkdir(parents=True)
    (content / "DEBIAN" / "control").write_text(
        "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: none\n"
    )
    for name in ("a.txt", "b.so", "c.so"):
        (content / name).write_text(name)
    commands.run(["dpkg-deb", "--build", content, tmp_path / "thing.deb"], what="making a package")

    for name, files in {"all": None, "first": 1}.items():
        unpack_deb(tmp_path / "thing.deb", tmp_path / name, lambda path: path.suffix == ".so", files=files)

    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["b.so", "c.so"]
    [first] = (tmp_path / "first").iterdir()
    assert first.read_text() == first.name


def python(name: str, program: str) -> str:
    environment = ENVIRONMENTS[name]()
    return commands.run([*environment.command(), "-c", program], what=name, environment=environment.variables()).strip()


@pytest.mark.parametrize("name", ["runtime", "qnn", "webgpu"])
def test_an_installed_environment_is_whole_and_sealed_off(name: str, tmp_path: Path) -> None:
    have(name)
    assert ENVIRONMENTS[name]().missing() == ""
    wanted = runtime.shipped_version() if name == "runtime" else version("onnxruntime")
    assert python(name, "import onnxruntime; print(onnxruntime.__version__)") == wanted
    (tmp_path / "onnx.py").write_text("")
    leaks = "import importlib.util as u; print([n for n in ('onnx', 'packager', 'pytest', 'site') if u.find_spec(n)])"
    assert python(name, leaks) == "['site']"
    assert python(name, "import sys; print('site' in sys.modules)") == "False"


UNCOMPILED = """
import os, onnxruntime, sys
used = [module for module in sys.modules.values() if (getattr(module, "__file__", "") or "").startswith(sys.path[0])]
assert {"numpy", "onnxruntime"} <= {module.__name__ for module in used}
print([module for module in used if module.__file__.endswith(".py") and not os.path.exists(module.__cached__)])
"""
"""Prints the modules of the environment that every process compiles anew."""


def test_the_runtime_is_made_when_it_is_first_needed(cache: Path) -> None:
    environment = ENVIRONMENTS["runtime"]()
    assert environment.missing()
    try:
        ensure(environment)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    assert environment.missing() == ""
    assert environment.command() == isolated_command()
    assert python("runtime", UNCOMPILED) == "[]"


def test_webgpu_finds_its_own_vulkan_and_takes_the_driver_that_the_user_names(monkeypatch: pytest.MonkeyPatch) -> None:
    have("webgpu")
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    variables = ENVIRONMENTS["webgpu"]().variables()
    described = json.loads(Path(variables["VK_DRIVER_FILES"]).read_text())
    library = described["ICD"]["library_path"]
    assert "/" not in library or Path(library).is_file()
    assert python("webgpu", webgpu.TRY) == ""
    runner = Webgpu()
    assert (webgpu.in_words(), bool(runner.cannot_time())) == ("WebGPU {plugin} on Mesa's lavapipe", True)
    monkeypatch.setenv("VK_DRIVER_FILES", "/etc/vulkan/icd.d/a_gpu.json")
    assert ENVIRONMENTS["webgpu"]().variables()["VK_DRIVER_FILES"] == "/etc/vulkan/icd.d/a_gpu.json"
    assert webgpu.in_words() == "WebGPU {plugin} on the driver of a_gpu.json"
    assert (runner.identity(), runner.cannot_time()) == ("", "")


def test_a_new_pin_without_new_hashes_is_refused(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    have("runtime")
    before = runtime.Runtime().variables()["PYTHONPATH"]
    monkeypatch.setattr(runtime, "shipped_version", lambda: "1.27.0")
    with pytest.raises(ToolError, match=r"does not match the hash in runtime\.txt"):
        runtime.Runtime().install()
    assert [path.name for path in (cache / "environments" / "runtime").iterdir()] == [Path(before).name]
