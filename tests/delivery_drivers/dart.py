"""The program in Dart, compiled ahead of time as Flutter's releases are, on Linux with the ONNX Runtime that ships.

Its text is tests/toolchain/dart_programs/delivery.dart. Beside the commands of all programs, it takes these: `limit
BYTES` of storage; `metered yes|no|unknown` and `charging yes|no|unknown` are what the app says of the device; `cancel`
cancels an update when some of a download is there; `test` is the self-test of the model that `load` opened, `run` the
sum of its outputs once more, and `close` closes it; `left yes|no` is what the system says of the app, `attempt` leaves
it during an attempt, and `bans` counts the bans; `release` is a lack of memory, `compiled` says what stays of Core ML's
caches; `vectors PATH` applies the deltas of a file of them, `patch SOURCE DELTA RESULT LIMIT` one.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from packager.files.zips import unpack
from tests.cases import delivery_releases
from tests.cases.delivery_language import Language, goes_on, serving
from tests.cases.delivery_releases import BUNDLED
from tests.delivery_drivers.swift import Driver
from tests.toolchain.dart import compile_program, configured_package, dart

PROGRAMS = Path(__file__).parents[1] / "toolchain" / "dart_programs"
NAME = "models"
"""of the package"""
TRUSTED = "pki/tls/certs/ca-bundle.crt"
"""below /etc: the certificates that Dart's connections trust"""
NOTHING: Mapping[str, str] = {}


def program(archive: Path, folder: Path, name: str = "delivery.dart") -> Path:
    """Compiles a program of tests/toolchain/dart_programs for a package `models`, and gives the folder that it runs in.

    The package's files lie there as they do in a Flutter app for Linux.
    """
    package = folder / "package"
    unpack(archive, package)
    shutil.rmtree(package / "hook", ignore_errors=True)  # `dart compile` takes no package that builds something
    configured_package(package, NAME)
    shutil.copy(PROGRAMS / name, package / name)
    compile_program(package, "exe", name, "App")
    app = folder / "app"
    assets = app / "data" / "flutter_assets" / "packages" / NAME / "models"
    assets.parent.mkdir(parents=True)
    shutil.copytree(package / "models", assets)
    shutil.copy(package / "App", app / "App")
    return app


def kept(folder: Path) -> Path:
    """The folder of the updater of an app whose own folder is `folder`: it has state.json."""
    return folder / "models" / "channels" / "stable"


@contextmanager
def driver(
    app: Path, address: str, folder: Path, trusted: Path, environment: Mapping[str, str] = NOTHING
) -> Iterator[Driver]:
    """Starts the program that `program` has made, with its downloads in `folder`.

    `trusted` is a certificate in PEM of servers that it trusts. The program sees the parent of `folder`, too, and what
    lies beside files that `environment` names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    etc = folder / "etc"
    if not etc.is_dir():
        shutil.copytree(dart().root / "etc", etc)
        (etc / TRUSTED).parent.mkdir(parents=True)
        shutil.copy(trusted, etc / TRUSTED)
    files = [Path(text) for text in environment.values() if Path(text).is_absolute()]
    named = {str(each.parent): each.parent for each in files if each.is_file()}
    library = dart().onnxruntime()
    started = subprocess.Popen(
        dart().command(
            [app / "App", address, folder, library],
            cwd=app,
            mounts={**named, str(library.parent): library.parent, str(folder.parent): folder.parent, "/etc": etc},
            environment=environment,
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        try:
            running = Driver(process=started)
            assert running.answer(), f"the program ended with {started.wait()} at its start"
            yield running
        finally:
            started.kill()


@contextmanager
def of_releases(folder: Path) -> Iterator[Language]:
    """A channel with the releases, and the program that updates from it, on devices below the parent of `folder`."""
    archive = delivery_releases.releases("flutter")[BUNDLED] / "flutter" / f"models-{BUNDLED}.zip"
    app = program(archive, folder / "program")
    with (
        serving("flutter", folder) as (channel, pair),
        driver(app, channel.url, folder.with_name(f"{folder.name}-device"), pair.certificate) as running,
    ):
        yield Language(
            channel=channel,
            start=partial(goes_on, running),
            kept=kept,
            dying=lambda place, variables: driver(app, channel.url, place, pair.certificate, variables),
        )
