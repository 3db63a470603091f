"""The sample app for Flutter takes a newer model from a channel, and opens it at its next start."""

import shutil
from pathlib import Path

from tests.delivery_drivers.dart import TRUSTED
from tests.toolchain import sample_releases, vision
from tests.toolchain.dart import PROBLEM, dart
from tests.toolchain.flutter_tester import flutter_tester
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.web.site import files_of

ROOT = Path(__file__).parents[2]
APP = Path("sample_apps", "flutter")
TOOLCHAIN = Path(__file__).parents[1] / "toolchain"
LIBRARY = "/libonnxruntime.so"


def test_a_newer_model_comes_with_a_button_and_is_opened_at_the_next_start(tmp_path: Path) -> None:
    tester = flutter_tester()
    sample_releases.publish(tmp_path, "flutter")
    app = tmp_path / APP
    shutil.copytree(ROOT / APP, app, ignore=shutil.ignore_patterns("packages", "assets", ".dart_tool", "channel.dart"))
    sample_releases.run(["sh", APP / "make"], tmp_path)
    plugins = TOOLCHAIN / "flutter_packages"
    found = {each.name: shutil.copytree(each, app / "packages" / each.name) for each in plugins.iterdir()}
    tester.configure(app, "picture", {"vision_models": app / "packages" / "vision_models", **found})
    shutil.copytree(app / "assets", app / "flutter_assets" / "assets")
    done = tester.run(["dart", "analyze", "--fatal-infos", "--format=machine", "lib"], cwd=app)
    assert (done.returncode, PROBLEM.findall(done.output)) == (0, []), done.output

    shutil.copy(TOOLCHAIN / "flutter_tests" / "sample_updates_test.dart", app)
    pair, etc, home = certificate(tmp_path), tmp_path / "etc", tmp_path / "home"
    shutil.copytree(tester.folder / "root" / "etc", etc)
    (etc / TRUSTED).parent.mkdir(parents=True)
    shutil.copy(pair.certificate, etc / TRUSTED)
    home.mkdir()
    with serving(pair) as served:
        served.files.by_path.update(files_of(tmp_path / "channel", "/channel/"))
        tester.compile("sample_updates_test.dart", app=app, defines=[f"CHANNEL={served.url}channel/"])
        mounts = {LIBRARY: dart().onnxruntime(), "/etc": etc, str(home): home}
        told = tester.test(app, mounts=mounts, environment={"LIBRARY": LIBRARY, "HOME": str(home)})
    assert told.passed == 1, told.output
    assert list(home.rglob("state.json")), f"downloads are in the app's own folder, of {vision.FOLDER.name}"
