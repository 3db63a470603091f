"""The program for Android: tests/toolchain/apps/delivery, on a desktop JVM with ONNX Runtime's Android libraries.

Beside the commands of all programs, it takes these:

- `device FOLDER [APK]` goes on with the private files of another app
- `limit BYTES` of storage; `metered yes|no|unknown` and `charging yes|no` are Android's answers about the device
- `die N` ends the process at the Nth durable write from then on
- `die-opening` does so where a model is open, and nobody has written that down
- `test` is the self-test of the model that `load` opened, and `run` gives its outputs once more
- `delta SOURCE DELTA LIMIT` is what the patcher of the library makes, in base64; `patch SOURCE DELTA RESULT` of files
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from packager.files.processes import commands
from packager.targets.kotlin import kotlin
from tests.cases import delivery_releases
from tests.cases.delivery_language import Language, goes_on, serving
from tests.cases.delivery_releases import BUNDLED
from tests.toolchain import jvm
from tests.toolchain.device import Library, library, write_apk

APP = "delivery/*"
KILLED = 137
"""exit code of a process that a command has ended"""
PASSWORD = "changeit"
"""of the store with the certificates that the program trusts"""
SECONDS = 180
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Driver:
    """A program that runs."""

    process: "subprocess.Popen[str]"

    def ask(self, command: str) -> Mapping[str, Any]:
        """The answer to a line. Raises AssertionError when the program ends instead."""
        found = self.send(command)
        assert found is not None, f"the program ended with {self.process.wait()} at `{command}`"
        return found

    def send(self, command: str) -> Mapping[str, Any] | None:
        """The answer to a line; None when the program ends instead."""
        assert self.process.stdin
        assert self.process.stdout
        watch = Timer(SECONDS, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        finally:
            watch.cancel()
        found: Mapping[str, Any] | None = json.loads(answer) if answer else None
        return found

    def kill(self) -> None:
        """Ends the program as a phone does that needs memory."""
        self.process.kill()
        self.process.wait()


def kept(folder: Path) -> Path:
    """The folder with what the updater keeps, of an app with its private files in `folder`."""
    return folder / "no_backup" / "mobpack" / "models" / "channels" / "stable"


def program(aar: Path, folder: Path) -> Library:
    """The classes of a package `models` with a model `scorer`, and the program compiled against them."""
    return library(aar, folder, apps=APP, has_task=False)


@contextmanager
def driver(
    package: Path,
    address: str,
    folder: Path,
    trusted: Path | None = None,
    environment: Mapping[str, str] = NOTHING,
    *,
    made: Library | None = None,
) -> Iterator[Driver]:
    """Starts the program as the app that has the .aar `package`, with the app's private files in `folder`.

    `trusted` has the certificates of servers that it trusts, as keytool writes them, and `environment` variables of the
    process. `made` is what `program` gave for the library, if that is at hand.
    """
    folder.mkdir(parents=True, exist_ok=True)
    compiled = made or program(package, folder / "program")
    apk = folder / "base.apk"
    if not apk.exists():
        write_apk(package, apk, is_stored=True)
    properties: dict[str, object] = {"java.library.path": compiled.native}
    if trusted:
        properties |= {"javax.net.ssl.trustStore": trusted, "javax.net.ssl.trustStorePassword": PASSWORD}
    started = jvm.start(
        "apps.DriverKt",
        {"address": address, "folder": folder, "apk": apk},
        classpath=[compiled.apps, compiled.classes],
        properties=properties,
        variables=environment,
        log=folder / "log.txt",
    )
    with started:
        try:
            yield Driver(process=started)
        finally:
            started.kill()


@contextmanager
def of_releases(folder: Path) -> Iterator[Language]:
    """A channel with the releases, and the program that updates from it."""
    aar = delivery_releases.releases("android")[BUNDLED] / "android" / f"models-{BUNDLED}.aar"
    made = program(aar, folder / "program")
    with serving("android", folder) as (channel, pair):
        trusted = folder / "trusted.p12"
        keytool = kotlin.find_compiler().java_home / "bin" / "keytool"
        command: list[str | Path] = [keytool, "-importcert", "-noprompt", "-alias", "server", "-file", pair.certificate]
        commands.run([*command, "-keystore", trusted, "-storepass", PASSWORD], what="keytool")
        with driver(aar, channel.url, folder / "device", trusted, made=made) as running:
            yield Language(
                channel=channel,
                start=lambda place: goes_on(running, place),
                kept=kept,
                dying=lambda place, variables: driver(aar, channel.url, place, trusted, variables, made=made),
            )
