"""README.md in a Swift package: its examples compile for phones against the package that it is in."""

import re
from pathlib import Path

import pytest

from tests.toolchain import apple
from tests.toolchain.swift_golden import golden_package

SWIFT = re.compile(r"^```swift\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = "ContractsKit"
TRIPLE = "arm64-apple-ios16.0"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_package("contracts", tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def module(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package's module."""
    folder = tmp_path_factory.mktemp("module")
    sources = sorted((package / "Sources" / MODULE).glob("*.swift"))
    done = apple.compile_swift(MODULE, sources, folder, c_modules=headers(package))
    assert (done.returncode, done.output) == (0, "")
    return folder


def headers(package: Path) -> dict[str, Path]:
    return {f"C{MODULE}": package / "Sources" / f"C{MODULE}" / "include"}


def camera(package: Path) -> str:
    """The example with a camera."""
    [found] = [
        block for block in SWIFT.findall((package / "README.md").read_text(encoding="utf-8")) if "AVCapture" in block
    ]
    return str(found)


def compiled(text: str, package: Path, module: Path, folder: Path) -> apple.Compiled:
    (folder / "Example.swift").write_text(text, encoding="utf-8")
    return apple.compile_swift(
        "Example",
        [folder / "Example.swift"],
        folder,
        c_modules=headers(package),
        modules=[module],
        triple=TRIPLE,
        defines=(),
    )


def test_the_view_with_a_camera_compiles_without_a_warning(package: Path, module: Path, tmp_path: Path) -> None:
    done = compiled(camera(package), package, module, tmp_path)
    assert (done.returncode, done.output) == (0, "")
