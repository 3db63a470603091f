"""The sample app for iOS takes a newer model from a channel: its code, on Linux; its button compiles for iPhones."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases.delivery_releases import Published
from tests.cases.sample_ios import SOURCES
from tests.swift.test_sample_ios import compile_app, compile_modules
from tests.toolchain import sample_releases, vision
from tests.toolchain.kept import linked
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.sample_package import NOTES
from tests.toolchain.sample_releases import NEWER, OURS
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import HOME, App, build_in, trusting
from tests.toolchain.swift_stand_ins import with_crypto
from tests.toolchain.swift_zlib import with_zlib

MODULE = "VisionModels"
LIST = Path("Models", "models.sig")
NOT_KEPT = "not yet signed\n"
"""in the place of the package's list, whose signature is another one each time"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both releases, and the channel."""
    swift()
    folder = tmp_path_factory.mktemp("sample")
    sample_releases.publish(folder, "ios")
    return folder


@pytest.fixture(scope="module")
def package(root: Path) -> Path:
    """The package with a channel."""
    return root / vision.FOLDER / "dist" / "swift" / "vision"


@pytest.fixture(scope="module")
def app(root: Path, package: Path) -> App:
    """The app's own code that loads and updates its model, in a program for Linux with the first release."""
    copy = root / "linux" / package.name
    shutil.copytree(package.parent, copy.parent, ignore=shutil.ignore_patterns("*.zip"))
    (copy / "Sources" / MODULE / "Resources" / LIST).write_text(NOT_KEPT, encoding="utf-8", newline="\n")
    sources = {"main.swift": HOME / "sample_updates.swift", "Models.swift": SOURCES / "Models.swift"}
    built = build_in(copy, MODULE, sources, with_updates)
    alone = App(root / "app")
    shutil.copytree(built.folder, alone.folder, copy_function=linked)
    signed = alone.folder / f"{package.name}_{MODULE}.resources" / LIST
    signed.unlink()
    shutil.copy(package / "Sources" / MODULE / "Resources" / LIST, signed)
    return alone


def with_updates(package: Path) -> None:
    """Compiles the app with UPDATES, and adds what Apple's systems have and Linux has not."""
    with_crypto(package, MODULE)
    with_zlib(package)
    manifest = package / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    own = f'name: "App", dependencies: ["{MODULE}", "C{MODULE}"]'
    assert text.count(own) == 1
    text = text.replace(own, f'{own}, swiftSettings: [.define("UPDATES")]')
    manifest.write_text(text, encoding="utf-8", newline="\n")


def test_the_next_load_has_the_newer_model_of_a_channel_that_nobody_has_changed(root: Path, app: App) -> None:
    picture = sample_releases.coffee()
    height, width, _ = picture.shape
    pixels = root / "pixels"
    pixels.write_bytes(picture.tobytes())
    pair = certificate(root)
    trusted = trusting(pair.certificate, root / "etc")
    honest = Published(folder=root / "channel", documents=()).files()
    with serving(pair) as channel:

        def start(files: Mapping[str, bytes]) -> dict[str, str]:
            """Starts the app, and gives what it reports."""
            channel.files.by_path = dict(files)
            words = (channel.url, str(pixels), str(width), str(height))
            done = app.run(*words, scratch=root / "phone", mounts=(pixels,), etc=trusted)
            assert done.returncode == 0, done.output
            return dict(line.split("\t", 1) for line in done.output.splitlines())

        ours, newer = f"espresso {OURS}", f"espresso {NEWER}"
        for tampered in (sample_releases.with_another_document(honest), sample_releases.with_other_files(honest)):
            found = start(tampered)
            assert (found["before"], found["update"], found["after"]) == (ours, f"failed {OURS}", ours), found
            assert found["reason"]
        found = start(honest)
        assert (found["before"], found["update"], found["after"]) == (ours, f"ready {NEWER}", newer), found
        found = start(sample_releases.with_another_document(honest))
        assert (found["before"], found["update"], found["after"]) == (newer, f"failed {NEWER}", newer), found


@pytest.fixture(scope="module")
def packages(package: Path) -> dict[str, Path]:
    """The Swift packages by module: one has a channel."""
    return {MODULE: package, "NotesKit": NOTES.dist() / "swift" / NOTES.name}


@pytest.fixture(scope="module")
def modules(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return compile_modules(packages, tmp_path_factory)


def test_the_app_with_updates_compiles_for_iphones_without_a_warning(
    packages: dict[str, Path], modules: list[Path], tmp_path: Path
) -> None:
    done = compile_app(SOURCES, packages, modules, tmp_path, defines=("UPDATES",))
    assert (done.returncode, done.output) == (0, "")
