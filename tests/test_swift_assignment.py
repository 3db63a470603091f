"""In Swift: threads are shared, the assignment is ONNX Runtime's own, and a provider without a node has not started.

The provider without a node is a real one: pip's ONNX Runtime has Azure's, which takes none of a model's own nodes. The
package knows no such provider, so XNNPACK, which pip's lacks, bears its name here.
"""

import re
from pathlib import Path

import onnx
import pytest

from tests.onnx_text import onnx_model, saved, weight
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import HOME, App
from tests.toolchain.swift_projects import build

pytestmark = [pytest.mark.by_content, pytest.mark.swift]

PROJECT = """\
[package]
name = "small-nets"

[model.linear]
path = "linear.onnx"

[target.ios]
providers = ["xnnpack"]
format = "{format}"
"""
AZURE = ('= "XNNPACK"', '= "AZURE"')
MACS = 64 * 64


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The app, which opens the model in ONNX format."""
    return compiled(tmp_path_factory, "onnx")


@pytest.fixture(scope="module")
def ort_program(tmp_path_factory: pytest.TempPathFactory) -> App:
    """The app, which opens the model in ORT format on the CPU."""
    return compiled(tmp_path_factory, "auto")


def compiled(tmp_path_factory: pytest.TempPathFactory, file_format: str) -> App:
    """The app, with the package's resources beside it. Its C module may be imported as another library would bring it.

    It defines the function that the library has, so that the program takes this one.
    """
    swift()
    folder = tmp_path_factory.mktemp("assignment")
    saved(folder / "linear.onnx", product())
    (folder / "mobpack.toml").write_text(PROJECT.format(format=file_format))
    sources = {"main.swift": HOME / "threads.swift", "older.c": HOME / "older_runtime.c"}
    return build(folder, "SmallNetsKit", sources, rename_provider)


def product() -> onnx.ModelProto:
    """A matrix product, with its MACs in the file's metadata, and those of a node that is not there."""
    model = onnx_model("(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }", weights={"w": weight(64, 64)})
    model.graph.node[0].name = "product"
    model.metadata_props.add(key="mobpack.macs", value=f"{MACS} product\n7 no node of this name")
    return model


def rename_provider(package: Path) -> None:
    provider = package / "Sources/SmallNetsKit/Provider.swift"
    assert provider.read_text().count(AZURE[0]) == 1
    provider.write_text(provider.read_text().replace(*AZURE))


def run(program: App, scenario: str, scratch: Path, **environment: str) -> str:
    done = program.run(scenario, scratch=scratch, environment=environment)
    assert done.returncode == 0, done.output
    return done.output


def grown(output: str, name: str) -> int:
    [found] = re.findall(rf"^{name} threads (\d+)$", output, re.MULTILINE)
    return int(found)


def test_models_share_threads_unless_the_app_asks_for_others(program: App, tmp_path: Path) -> None:
    found = run(program, "shared", tmp_path / "run")
    assert grown(found, "second") == 0
    assert grown(found, "own") == 3, "the caller's thread is the fourth"
    assert grown(found, "spinning") == grown(found, "first")


def test_a_model_has_threads_of_its_own_where_another_library_was_first(program: App, tmp_path: Path) -> None:
    found = run(program, "other", tmp_path / "run")
    assert grown(found, "second") == grown(found, "first") > 0
    assert "provider cpu fallbacks []" in found


def test_the_assignment_is_that_of_the_session(program: App, tmp_path: Path) -> None:
    found = run(program, "shared", tmp_path / "run")
    assert re.findall(r"^assigned (\w+ \d+ \d+)$", found, re.MULTILINE) == [f"cpu 1 {MACS}"]


def test_the_assignment_is_unknown_for_a_file_in_ort_format(ort_program: App, tmp_path: Path) -> None:
    found = run(ort_program, "shared", tmp_path / "run")
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


@pytest.mark.parametrize("stand_in", ["before 1.24", "minimal"])
def test_a_runtime_that_cannot_say_runs_the_model(program: App, tmp_path: Path, stand_in: str) -> None:
    found = run(program, "shared", tmp_path / "run", STAND_IN=stand_in)
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


def test_a_provider_that_takes_no_node_has_not_started(program: App, tmp_path: Path) -> None:
    found = run(program, "none", tmp_path / "run")
    assert "provider cpu fallbacks [AZURE: took no node of the model]" in found
    assert re.search(r"^assigned cpu [1-9]", found, re.MULTILINE)
    assert "assigned xnnpack" not in found
