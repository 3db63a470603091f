"""Flutter: widgets over a package, in Flutter's own engine, with real models: assets, frames, ends of widgets."""

import shutil
from pathlib import Path

import pytest

from packager.files.zips import unpack
from tests.toolchain import projects
from tests.toolchain.dart import dart
from tests.toolchain.flutter_tester import FlutterTester, flutter_tester

TESTS = Path(__file__).parents[1] / "toolchain" / "flutter_tests" / "widgets_test.dart"
LIBRARY = "/libonnxruntime.so"
COUNT = 8
"""tests in that file"""


@pytest.fixture(scope="module")
def tester() -> FlutterTester:
    return flutter_tester()


@pytest.fixture(scope="module")
def app(tester: FlutterTester, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app with the package and the tests, compiled."""
    folder = tmp_path_factory.mktemp("app")
    package = folder / "models"
    unpack(projects.FLUTTER.archive(), package)
    shutil.copy(TESTS, folder)
    tester.configure(folder, "app", {"models": package})
    tester.compile(TESTS.name, app=folder)
    return folder


def test_widgets_load_models_of_assets_drop_frames_and_end(tester: FlutterTester, app: Path) -> None:
    mounts = {LIBRARY: dart().onnxruntime()}
    done = tester.test(app, mounts=mounts, environment={"LIBRARY": LIBRARY})
    assert done.passed == COUNT, done.output


def test_a_widget_test_that_fails_is_seen_to_fail(tester: FlutterTester, app: Path) -> None:
    mounts = {LIBRARY: dart().onnxruntime()}
    done = tester.test(app, mounts=mounts, environment={"LIBRARY": LIBRARY, "BREAK": "1"})
    assert done.passed == 0
    assert f"+1 ~{COUNT - 2} -1: Some tests failed." in done.output, done.output
