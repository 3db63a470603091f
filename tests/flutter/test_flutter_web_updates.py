"""Flutter on the web: an app takes newer models from a channel, by the same Dart as on phones."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets import signed_list
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.web import Web
from tests.cases.trust_vectors import signed
from tests.toolchain import trusted, updated_web
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.dart import compile_program, configured_package
from tests.toolchain.delivered_android import PACKAGE
from tests.toolchain.web.page import page_of
from tests.toolchain.web.site import PAGE, files_of

PROGRAM = Path(__file__).parents[1] / "toolchain" / "dart_programs" / "page_updates.dart"
SCRIPT = b"<script>globalThis.channel = location.origin + '/channel/';</script><script src='/page.js'></script>"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pub package of the model that a channel delivers, its files for pages signed, and the program, compiled."""
    folder = tmp_path_factory.mktemp("flutter") / "models"
    made, android = PACKAGE, Android()
    with tempfile.TemporaryDirectory() as scratch:
        plan = trusted.plan(Path(scratch), Store(cache_folder() / "store"), "android")
        view = updated_web.view()
        built = {
            "android": android.built(android.view(made, (plan,), Report(parities=())), (plan,)),
            "web": Web().built(view, (plan,)),
        }
        write_sources(Flutter().render(Flutter().view(made, built, Report(parities=()))), folder)
    digests = {each.content.path: each.content.sha256 for each in view.files}
    listed = folder / "web" / "models" / signed_list.NAME
    listed.write_text(signed(digests, made), encoding="utf-8", newline="\n")
    shutil.copy(PROGRAM, folder / "page.dart")
    compile_program(configured_package(folder, "models"), "js", "page.dart", "page.js", "-O1")
    return folder


def told(opened: Browser, package: Path) -> dict[str, Any]:
    """Values of the program, with a channel that has the model's second version, and a third with wrong numbers."""
    blobs = updated_web.Blobs()
    second = updated_web.release(2, blobs, old=[updated_web.packaged()])
    document = updated_web.channel(1, updated_web.release(3, blobs, golden=updated_web.samples(2)), second)
    files = {
        **files_of(package / "web", "/assets/packages/models/web/"),
        "/page.js": (package / "page.js").read_bytes(),
        **blobs.by_path,
        **updated_web.metadata(document),
    }
    with page_of(opened, {**files, "/page.html": PAGE + SCRIPT}) as page:
        page.visit()
        while not page.value("globalThis.said !== undefined"):
            pass
        found: dict[str, Any] = json.loads(page.value("globalThis.said"))
    assert "failure" not in found, found["failure"]
    return found


def test_an_app_on_a_page_takes_newer_models_from_a_channel(package: Path, tmp_path: Path) -> None:
    with browser(tmp_path, seconds=1800) as opened:
        said = told(opened, package)
    own, newer = updated_web.total(1), updated_web.total(2)
    assert said["before"] == ["unchecked", "1.2.3"]
    assert said["own"] == ["1.2.3", pytest.approx(own, abs=0.01), "updater", 0]
    assert said["bans"] == ["scorer 1.2.5"]
    assert said["state"] == ["ready 1.2.4", 1]
    assert said["newer"][:2] == ["1.2.4", pytest.approx(newer, abs=0.01)]
    assert {"checking", "ready"} <= set(said["phases"])
    assert said["frozen"] == "frozen"
    assert said["removed"][:2] == ["1.2.3", pytest.approx(own, abs=0.01)]
    assert said["errors"] == ["cancelled", "badOptions", "badOptions", "cancelled"]
    assert said["pinned"] in ("upToDate", "failed", "waiting")
