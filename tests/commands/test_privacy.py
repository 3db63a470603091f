"""`mobpack check`, and programs with a wheel, ask nothing of a network and leave nothing at home."""

import zipfile
from pathlib import Path

import pytest

from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.processes.children import python
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, onnx_model, saved
from tests.toolchain import command
from tests.toolchain.witness import watched

PROJECT = '[package]\nname = "vision"\n[model.net]\npath = "net.onnx"\n[target.python]\n'
OPENED = "import time\nfrom vision import Net\nmodel = Net.load()\ntime.sleep(3)\n"
ALONE = "import time, onnxruntime\nsession = onnxruntime.InferenceSession({!r})\ntime.sleep(3)\n"
TALKING = """\
import os, pathlib, socket, subprocess
pathlib.Path.home().joinpath("identifier").write_text("1")
subprocess.run(["/bin/true"])
for host in ("models.example.com", "192.0.2.1"):
    try:
        socket.create_connection((host, 443))
    except OSError:
        pass
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    saved(folder / "net.onnx", onnx_model("(float[1, 4] x) => (float[1, 4] y) { y = Relu (x) }"))
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_whoever_talks_is_heard(tmp_path: Path) -> None:
    found = watched([*python(), "-c", TALKING], tmp_path / "watched")
    assert found.lookups == ("models.example.com", "192.0.2.1")
    assert found.connections[-1] == "192.0.2.1 443"
    assert (found.programs, found.files) == (("/bin/true",), ("identifier",))


def test_a_program_with_a_wheel_is_silent_and_onnx_runtime_alone_is_not(project: Path, tmp_path: Path) -> None:
    """The second half proves that the first can fail: ONNX Runtime leaves an identifier of the machine at home."""
    ensure(Runtime())
    own, path = Runtime().command(), Runtime().variables()["PYTHONPATH"]
    alone = watched([*own, "-c", ALONE.format(str(project / "net.onnx"))], tmp_path / "alone", {"PYTHONPATH": path})
    assert any(name.endswith("/deviceid") for name in alone.files), alone
    [wheel] = (project / "dist" / "python").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    found = watched([*own, "-c", OPENED], tmp_path / "watched", {"PYTHONPATH": f"{tmp_path / 'site'}:{path}"})
    assert found.is_silent, found


def test_no_part_of_mobpack_check_talks_or_keeps_events(tmp_path: Path) -> None:
    """It starts ONNX Runtime in both versions, to convert, to compare and for kernel proofs."""
    model = saved(tmp_path / "source" / "m.onnx", linear())
    cache = {"XDG_CACHE_HOME": str(empty_cache(tmp_path / "cache"))}
    found = watched([command.MOBPACK, "check", model, "--target", "android"], tmp_path / "watched", cache)
    assert any("python" in each for each in found.programs)
    assert (found.lookups, found.connections, found.files) == ((), (), ())
