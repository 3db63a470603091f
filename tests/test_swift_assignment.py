"""In Swift: threads are shared, the assignment is ONNX Runtime's own, and a provider without a node has not started.

The provider without a node is a real one: pip's ONNX Runtime has Azure's, which takes none of a model's own nodes. The
package knows no such provider, so XNNPACK, which pip's lacks, bears its name here.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from tests.onnx_text import onnx_model, saved, weight
from tests.toolchain.kept import kept
from tests.toolchain.swift import swift, toolchain_files
from tests.toolchain.swift_packages import runtimes, unpack

pytestmark = [pytest.mark.by_content, pytest.mark.swift]

APP = Path(__file__).parent / "toolchain/swift_threads.swift"
OLDER = Path(__file__).parent / "toolchain/swift_older_runtime.c"
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
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app, which opens the model in ONNX format."""
    return compiled(tmp_path_factory, "onnx")


@pytest.fixture(scope="module")
def ort_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app, which opens the model in ORT format on the CPU."""
    return compiled(tmp_path_factory, "auto")


def compiled(tmp_path_factory: pytest.TempPathFactory, file_format: str) -> Path:
    """The app, with the package's resources beside it."""
    swift()
    folder = tmp_path_factory.mktemp("assignment")
    saved(folder / "linear.onnx", product())
    (folder / "mobpack.toml").write_text(PROJECT.format(format=file_format))
    command = [sys.executable, "-m", "packager.cli", "build", "--target", "ios"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    package = with_app(unpack(folder / "dist/swift", folder / "package"))
    beside = {str(path): path for path in runtimes(package.parent)}

    def make(made: Path) -> None:
        scratch = folder / "scratch"
        done = swift().package("build", package, "--product", "App", scratch=scratch, mounts=beside)
        assert done.returncode == 0, done.output
        for name in ("App", "small-nets_SmallNetsKit.resources"):
            built = scratch / "x86_64-pc-linux-gnu/debug" / name
            (shutil.copytree if built.is_dir() else shutil.copy)(built, made / name)

    return kept("swift-app", make, package, *beside.values(), *toolchain_files())


def product() -> onnx.ModelProto:
    """A matrix product, with its MACs in the file's metadata, and those of a node that is not there."""
    model = onnx_model("(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }", weights={"w": weight(64, 64)})
    model.graph.node[0].name = "product"
    model.metadata_props.add(key="mobpack.macs", value=f"{MACS} product\n7 no node of this name")
    return model


def with_app(package: Path) -> Path:
    """The package with an app in it, which may import the C module as another library would bring it."""
    manifest, provider = package / "Package.swift", package / "Sources/SmallNetsKit/Provider.swift"
    app = '.executableTarget(name: "App", dependencies: ["SmallNetsKit", "CSmallNetsKit"]),'
    manifest.write_text(manifest.read_text().replace("    targets: [\n", f"    targets: [\n        {app}\n"))
    assert provider.read_text().count(AZURE[0]) == 1
    provider.write_text(provider.read_text().replace(*AZURE))
    # The C module defines the function that the library has, so that the program takes this one.
    shutil.copy(OLDER, package / "Sources/CSmallNetsKit/older.c")
    (package / "Sources/App").mkdir()
    shutil.copy(APP, package / "Sources/App/main.swift")
    return package


def run(program: Path, scenario: str, scratch: Path, **environment: str) -> str:
    library = swift().onnxruntime_library()
    scratch.mkdir(exist_ok=True)
    done = swift().run(
        [program / "App", scenario],
        cwd=program,
        mounts={str(scratch): scratch},
        environment={
            "LD_LIBRARY_PATH": str(library),
            "TMPDIR": str(scratch),
            "XDG_CACHE_HOME": str(scratch),
            **environment,
        },
    )
    assert done.returncode == 0, done.output
    return done.output


def grown(output: str, name: str) -> int:
    [found] = re.findall(rf"^{name} threads (\d+)$", output, re.MULTILINE)
    return int(found)


def test_models_share_threads_unless_the_app_asks_for_others(program: Path, tmp_path: Path) -> None:
    found = run(program, "shared", tmp_path / "run")
    assert grown(found, "second") == 0
    assert grown(found, "own") == 3, "the caller's thread is the fourth"
    assert grown(found, "spinning") == grown(found, "first")


def test_a_model_has_threads_of_its_own_where_another_library_was_first(program: Path, tmp_path: Path) -> None:
    found = run(program, "other", tmp_path / "run")
    assert grown(found, "second") == grown(found, "first") > 0
    assert "provider cpu fallbacks []" in found


def test_the_assignment_is_that_of_the_session(program: Path, tmp_path: Path) -> None:
    found = run(program, "shared", tmp_path / "run")
    assert re.findall(r"^assigned (\w+ \d+ \d+)$", found, re.MULTILINE) == [f"cpu 1 {MACS}"]


def test_the_assignment_is_unknown_for_a_file_in_ort_format(ort_program: Path, tmp_path: Path) -> None:
    found = run(ort_program, "shared", tmp_path / "run")
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


@pytest.mark.parametrize("stand_in", ["before 1.24", "minimal"])
def test_a_runtime_that_cannot_say_runs_the_model(program: Path, tmp_path: Path, stand_in: str) -> None:
    found = run(program, "shared", tmp_path / "run", STAND_IN=stand_in)
    assert "provider cpu fallbacks []" in found
    assert "assigned" not in found


def test_a_provider_that_takes_no_node_has_not_started(program: Path, tmp_path: Path) -> None:
    found = run(program, "none", tmp_path / "run")
    assert "provider cpu fallbacks [AZURE: took no node of the model]" in found
    assert re.search(r"^assigned cpu [1-9]", found, re.MULTILINE)
    assert "assigned xnnpack" not in found
