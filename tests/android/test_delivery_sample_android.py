"""The sample app for Android takes a newer model from a channel on this machine, and opens it at the next start."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from packager.files.processes import commands
from packager.targets.kotlin import kotlin
from tests.cases.delivery_releases import Published
from tests.delivery_drivers.kotlin import PASSWORD
from tests.toolchain import jvm, sample_releases, vision
from tests.toolchain.device import Device, Library, write_apk
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.sample_releases import NEWER, OURS

UPDATES = Path(__file__).parents[2] / "sample_apps" / "android" / "app" / "src" / "updates"


@pytest.fixture(scope="module")
def root(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Both releases, and the channel."""
    folder = tmp_path_factory.mktemp("sample")
    sample_releases.publish(folder, "android")
    return folder


@pytest.fixture(scope="module")
def phone(root: Path) -> Device:
    """A phone with the first release, and the app's own code that updates it."""
    aar = root / vision.FOLDER / "dist" / "android" / f"vision-{OURS}.aar"
    with zipfile.ZipFile(aar) as archive:
        archive.extractall(root, [name for name in archive.namelist() if name.startswith(("classes.jar", "jni/"))])
    sources = [jvm.APPS / "picture" / "Updates.kt", *UPDATES.rglob("*.kt")]
    classes = root / "classes.jar"
    apps = jvm.compile_kotlin(sources, classpath=[classes, jvm.fakes(), jvm.android_runtime().classes])
    apk = write_apk(aar, root / "base.apk", is_stored=True)
    return Device(library=Library(aar=aar, classes=classes, apps=apps), apk=apk, folder=root / "phone")


def start(phone: Device, address: str, trusted: Path) -> Mapping[str, str]:
    """Starts the app, and gives what it reports."""
    picture = sample_releases.coffee()
    height, width, _ = picture.shape
    properties = {"javax.net.ssl.trustStore": trusted, "javax.net.ssl.trustStorePassword": PASSWORD}
    pixels = {"pixels": picture}
    return phone.run("Updates", pixels, properties=properties, address=address, width=width, height=height).facts


def test_the_next_start_has_the_newer_model(phone: Device, root: Path) -> None:
    pair = certificate(root)
    trusted = root / "trusted.p12"
    keytool = kotlin.find_compiler().java_home / "bin" / "keytool"
    command: list[str | Path] = [keytool, "-importcert", "-noprompt", "-alias", "server", "-file", pair.certificate]
    commands.run([*command, "-keystore", trusted, "-storepass", PASSWORD], what="keytool")
    with serving(pair) as channel:
        channel.files.by_path.update(Published(folder=root / "channel", documents=()).files())
        first = start(phone, channel.url, trusted)
        assert "/stable/timestamp.json" in [request.path for request in channel.files.requests]
        second = start(phone, channel.url, trusted)
    assert first == {"label": "espresso", "version": OURS, "newer": NEWER}
    assert second == {"label": "espresso", "version": NEWER, "newer": "null"}
