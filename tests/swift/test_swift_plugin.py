"""The build-tool plugin in a package of a user's, with the real SwiftPM and the real mobpack."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.files.user_cache import cache_folder
from tests.cases.onnx_text import linear, onnx_model, saved
from tests.toolchain import command
from tests.toolchain.require import require
from tests.toolchain.swift import Finished, swift

MOBPACK = Path(sys.executable).with_name("mobpack")
CONFIG = """
[package]
name = "page-orientation"
[model.orientation]
path = "orientation.onnx"
[model.language]
path = "language.onnx"
[target.ios]
"""
PAGE = Path(__file__).parents[2] / "docs/xcode.md"
TEST_TARGET = '\n        .testTarget(name: "ReaderTests", dependencies: ["Reader"]),\n    ]\n)\n'
CODE = """
/// Code of the app beside what mobpack makes.
public func check() throws -> [Bool] {
    [try OrientationModel().selfTest().passed, try Language().selfTest().passed]
}
"""
TESTS = """
import XCTest

import Reader

final class ReaderTests: XCTestCase {
    func testModelsRun() throws {
        XCTAssertEqual(try check(), [true, true])
    }
}
"""
MADE = "mobpack build for Reader"
"""SwiftPM's name of the step."""
SCRIPT = f"""\
#!/bin/sh
echo "{MADE}: called"
[ ! -e "$0.ends" ] || exit 1
exec chroot /host {MOBPACK} "$@"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package with two models in a target, and the plugin in a folder of its own. mobpack is a program of the machine
    outside the toolchain's root, called as if it were inside."""
    require(MOBPACK.is_file(), "mobpack is not installed: pip install -e .")
    top = tmp_path_factory.mktemp("plugin")
    home = top / "Sources/Reader"
    saved(home / "orientation.onnx", linear())
    saved(home / "language.onnx", linear(columns=8, seed=7))
    texts = {
        "Package.swift": manifest(),
        "Sources/Reader/mobpack.toml": CONFIG,
        "Sources/Reader/Check.swift": CODE,
        "Tests/ReaderTests/ReaderTests.swift": TESTS,
        ".venv/bin/mobpack": SCRIPT,
    }
    for path, text in texts.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    (top / ".venv/bin/mobpack").chmod(0o755)
    config = home / "mobpack.toml"
    for words in ("build --target ios --out dist", "xcode --dist dist --plugin mobpack-plugin"):
        done = command.run(*words.split(), "--config", config, folder=top)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(top / "dist")
    yield top
    shutil.rmtree(top)


def manifest() -> str:
    """The manifest of the documentation, for one more model and with a test target."""
    [shown] = re.findall("```swift\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    more = shown.replace('"orientation.onnx"]', '"orientation.onnx", "language.onnx"]')
    head, end, _ = more.partition("\n    ]\n)\n")
    assert end
    return f"{head},{TEST_TARGET}"


def run(package: Path, action: str = "build", *options: str) -> Finished:
    """`swift build` or `swift test`, which compile in the same way; what mobpack needs to check models with is the
    machine's."""
    cache = cache_folder()
    return swift().package(
        action,
        package,
        *(["--build-tests"] if action == "build" else []),
        *options,
        scratch=package / ".build",
        mounts={str(cache): cache},
        environment={"XDG_CACHE_HOME": str(cache.parent)},
    )


@pytest.fixture(scope="module")
def tested(package: Path) -> Finished:
    """The first `swift test` of the package, which builds it."""
    return run(package, "test")


def test_the_plugin_builds_models_that_run_in_the_users_target(package: Path, tested: Finished) -> None:
    assert tested.returncode == 0, tested.output
    assert f"{MADE}: called" in tested.output
    assert "Executed 1 test, with 0 failures" in tested.output
    [bundle] = (package / ".build").glob("*/debug/Reader_Reader.resources")
    assert {path.name for path in bundle.iterdir()} == {"Models", "PrivacyInfo.xcprivacy"}
    assert {path.name for path in (bundle / "Models").iterdir()} == {"orientation", "language"}


def test_a_model_that_cannot_ship_fails_the_build_with_mobpacks_words_until_it_is_another(
    package: Path, tested: Finished
) -> None:
    assert tested.returncode == 0
    [shipped] = (package / ".build").glob("*/debug/Reader_Reader.resources/Models/language/model.ort")
    before = shipped.read_bytes()
    model = package / "Sources/Reader/language.onnx"
    unknown = "(float[2] x) => (float[2] y) { y = com.example.Unknown (x) }"
    saved(model, onnx_model(unknown, opsets={"": 17, "com.example": 1}))
    done = run(package)
    assert done.returncode != 0
    assert "mobpack: error: " in done.output
    assert "Unknown" in done.output
    assert "hint: " in done.output
    saved(model, linear(columns=8, seed=9))
    done = run(package)
    assert done.returncode == 0, done.output
    assert f"{MADE}: called" in done.output
    assert shipped.read_bytes() != before


def test_mobpack_runs_again_when_the_project_file_has_changed_and_not_before(package: Path, tested: Finished) -> None:
    """It ends at once then, or all would be compiled again."""
    assert tested.returncode == 0
    ends = package / ".venv/bin/mobpack.ends"
    ends.touch()
    try:
        assert MADE not in run(package).output
        os.utime(package / "Sources/Reader/mobpack.toml")
        done = run(package)
        assert done.returncode != 0
        assert f"{MADE}: called" in done.output
    finally:
        ends.unlink()


def test_without_mobpack_the_plugin_says_so(package: Path, tested: Finished) -> None:
    assert tested.returncode == 0
    own = package / ".venv"
    own.rename(package / "venv")
    try:
        done = run(package, "build", "--disable-build-manifest-caching")  # or a plan that was made is not made again
        assert done.returncode != 0
        assert "error: mobpack is neither in .venv of the target or package nor on PATH" in done.output
    finally:
        (package / "venv").rename(own)
