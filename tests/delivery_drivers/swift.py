"""The program in Swift, on Linux with pip's ONNX Runtime, and OpenSSL in the place of CryptoKit.

Its text is tests/toolchain/swift_apps/delivery.swift. Beside the commands of all programs, it takes these: `device
FOLDER` goes on with the folder of another app; `limit BYTES` of storage; `metered yes|no|unknown` and `charging
yes|no|unknown` are what the app says of the device; `die N` ends the process at the Nth durable write from then on
(of a load, the second is after the model is open); `end here|left` ends it when the next model is open, before the load
is over, and leaves the app before or not, `try VERSION` does so in a trial; `refuse COUNT WORDS` has ONNX Runtime open
no session so often; `away yes|no` leaves the app and comes back; `spoil` updates, and damages files before their trial;
`bans` is how many the observer was told of; `states FOLDER` reads the states of another updater, `first` the first of
them; `cancel` cancels an update when some of a download is there; `test` is the self-test of the model that `load`
opened, `run` its outputs once more, and `close` closes it; `vectors PATH` applies the deltas of a file of them, and
`patch SOURCE DELTA RESULT LIMIT` one.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from tests.cases import delivery_releases
from tests.cases.delivery_language import Language, goes_on, serving
from tests.cases.delivery_releases import BUNDLED
from tests.toolchain.swift import PROGRAMS, swift
from tests.toolchain.swift_app import HOME, App, build_in, trusting
from tests.toolchain.swift_packages import MODULE, NAME
from tests.toolchain.swift_processes import command
from tests.toolchain.swift_stand_ins import with_libraries

SECONDS = 180
SOURCES = {"main.swift": HOME / "delivery.swift", "dying.c": HOME / "dying.c"}
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Driver:
    """A program that runs."""

    process: "subprocess.Popen[str]"

    def ask(self, line: str) -> Mapping[str, Any]:
        """The answer to a line. Raises AssertionError when the program ends instead."""
        found = self.send(line)
        assert found is not None, f"the program ended with {self.process.wait()} at `{line}`"
        return found

    def send(self, line: str) -> Mapping[str, Any] | None:
        """The answer to a line; None when the program ends instead."""
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Mapping[str, Any] | None:
        assert self.process.stdout
        watch = Timer(SECONDS, self.process.kill)
        watch.start()
        try:
            answer = self.process.stdout.readline()
        finally:
            watch.cancel()
        return json.loads(answer) if answer else None

    def kill(self) -> None:
        """Ends the program as a phone does that needs memory."""
        self.process.kill()
        self.process.wait()


def program(package: Path, folder: Path) -> App:
    """The program of a package `models` with a model `scorer`, compiled; `folder` is where that is done.

    `package` is its folder, with that of ONNX Runtime beside it, or the folder that both are in.
    """
    place = package.parent if (package / "Package.swift").exists() else package
    shutil.copytree(place, folder / "sources")
    return build_in(folder / "sources" / NAME, MODULE, SOURCES, with_libraries)


def kept(folder: Path) -> Path:
    """The folder of the updater of an app whose own folder is `folder`: it has state.json."""
    return folder / "channel"


@contextmanager
def driver(
    package: Path | None,
    address: str,
    folder: Path,
    trusted: Path | None = None,
    environment: Mapping[str, str] = NOTHING,
    *,
    made: App | None = None,
) -> Iterator[Driver]:
    """Starts the program as the app that has `package`, with its downloads and caches in `folder`.

    `package` is the folder of a package, or that with the packages of a build. `trusted` is a certificate in PEM of
    servers that it trusts. `made` is what `program` gave for the package, if that is at hand. The program sees the
    parent of `folder`, too, and what lies beside files that `environment` names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    app = made
    if app is None:
        assert package, "there is nothing to compile"
        app = program(package, folder / "program")
    etc = folder / "etc"
    if trusted and not etc.is_dir():
        trusting(trusted, etc)
    library = swift().onnxruntime_library()
    files = [Path(text) for text in environment.values() if Path(text).is_absolute()]
    named = {str(each.parent): each.parent for each in files if each.is_file()}
    own = dict.fromkeys(("TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(folder))
    started = subprocess.Popen(
        command(
            [app.folder / "App", address, folder],
            cwd=app.folder,
            mounts={**named, str(folder.parent): folder.parent, **({"/etc": etc} if trusted else {})},
            environment={"LD_LIBRARY_PATH": str(library), "PATH": PROGRAMS, **own, **environment},
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
    swift()
    package = delivery_releases.releases("ios")[BUNDLED] / "swift" / "models"
    made = program(package, folder / "program")
    with (
        serving("ios", folder) as (channel, pair),
        driver(None, channel.url, folder.with_name(f"{folder.name}-device"), pair.certificate, made=made) as running,
    ):
        yield Language(
            channel=channel,
            start=partial(goes_on, running),
            kept=kept,
            dying=lambda place, variables: driver(None, channel.url, place, pair.certificate, variables, made=made),
        )
