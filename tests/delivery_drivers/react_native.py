"""The program for React Native: tests/toolchain/react_native/host/script/delivery.js, with a package's C++.

Beside the commands of all programs, it takes these: `limit BYTES` of storage; `metered yes|no|unknown` and `charging
yes|no|unknown` are what the app says of the device; `die N` ends the process after the Nth durable write from then
on, and `die-opening` where a model is open and nobody has written that down, `die-left` after its user has left the
app; `heat hot|cool` is how hot an Android device is; `remove-elsewhere` removes all by another updater, `pressure`
warns that memory is short; `load always` reads files whole; `run` gives the outputs of what `load` opened once more,
and `test` its self-test.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from tests.cases import delivery_releases
from tests.cases.delivery_language import Language, serving
from tests.cases.delivery_server import Channel
from tests.toolchain import jsc
from tests.toolchain.delivery_packages import BUNDLED, CHANNEL
from tests.toolchain.react_native import codegen, native
from tests.toolchain.react_native.download.server import Certificate
from tests.toolchain.react_native.network import Network
from tests.toolchain.react_native.packages import Built, unpack
from tests.toolchain.react_native.verifier import add_verifier

SECONDS = 180


@dataclass(kw_only=True)
class Driver:
    """A program that runs."""

    process: "subprocess.Popen[str]"
    network: Network
    count: int = 0
    said: list[str] = field(default_factory=list)
    """lines that are no answers"""

    def ask(self, command: str) -> Mapping[str, Any]:
        """The answer to a line. Raises AssertionError when the program ends instead."""
        found = self.send(command)
        assert found is not None, f"the program ended with {self.process.wait()} at `{command}`: {self.said}"
        return found

    def send(self, command: str) -> Mapping[str, Any] | None:
        """The answer to a line; None when the program ends instead."""
        self.begin(command)
        return self.answer()

    def begin(self, command: str) -> None:
        self.count += 1
        self.network.write(f"{self.count}.command", command)

    def answer(self) -> Mapping[str, Any] | None:
        assert self.process.stdout is not None
        watch = Timer(SECONDS, self.process.kill)
        watch.start()
        try:
            for line in self.process.stdout:
                kind, _, rest = line.partition(" ")
                if kind == "ANSWER":
                    found: Mapping[str, Any] = json.loads(rest)
                    return found
                self._follow(kind.strip(), rest)
        finally:
            watch.cancel()
        self.process.wait()
        return None

    def _follow(self, kind: str, rest: str) -> None:
        if kind == "FETCH":
            self.network.begin(json.loads(rest))
        elif kind == "ABORT":
            self.network.aborted.add(int(rest))
        elif kind == "DIE":
            self.process.kill()
        else:
            self.said.append(f"{kind} {rest}".strip())

    def kill(self) -> None:
        """Ends the program as a phone does that needs memory."""
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True, kw_only=True)
class Made:
    """The package, its C++ with the host, and its JavaScript with that of the program."""

    package: Path
    specs: Path
    code: native.Code
    signatures: str
    """models.sig of the app"""


@contextmanager
def driver(
    made: Made,
    address: str,
    folder: Path,
    trusted: Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    platform: str = "ios",
) -> Iterator[Driver]:
    """Starts the program as the app that has `made`, whose private files lie in `folder`; it may have run there before.

    `trusted` is the certificate of a server that it trusts, in PEM; `environment` has more variables.
    """
    if not (folder / "app").is_dir():
        app = made.code.app(folder)
        (app.bundle / "models.sig").write_text(made.signatures, encoding="utf-8", newline="\n")
    bundle = folder / "app" / f"{native.MODULE}Models.bundle"
    places = {f"{native.ASSETS}/{path.name}": {"path": str(path), "offset": 0} for path in bundle.iterdir()}
    mail = Path(tempfile.mkdtemp(dir=folder))
    plan = {
        "case": "delivery",
        "os": platform,
        "cache": str(folder / "caches" / "android"),
        "places": places,
        "address": address,
        "mail": str(mail),
        "version": BUNDLED,
    }
    (mail / "plan.json").write_text(json.dumps(plan), encoding="utf-8", newline="\n")
    process = subprocess.Popen(
        [folder / "app" / "app", made.code.script, mail / "plan.json"],
        env={
            "PATH": os.environ.get("PATH", ""),
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, jsc.libraries(jsc.onnxruntime()))),
            "XDG_CACHE_HOME": str(folder / "caches"),
            "XDG_DATA_HOME": str(folder / "data"),
            **(environment or {}),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        yield Driver(process=process, network=Network(folder=mail, trusted=trusted))
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def storage(folder: Path, platform: str = "ios") -> Path:
    """Where the program keeps what its updater writes."""
    base = folder / "data" / "mobpack" / native.MODULE if platform == "ios" else folder / "caches" / "android"
    return base / "channels" / CHANNEL


kept = storage


def program(folder: Path) -> Made:
    """The program with the package that a build has made."""
    built = Built(folder / "project")
    npm = delivery_releases.releases("react_native")[BUNDLED] / "npm"
    [archive] = npm.glob("*.tgz")
    unpack(archive, built.project / "unpacked")
    specs = codegen.for_ios(built.app(folder / "app"), folder / "codegen", project=jsc.NEWEST)
    script = folder / "script.js"
    native.bundle(folder / "app", script, "delivery.js")
    add_verifier(built.package)
    code = native.Code(jsc.program(built.package, specs, native.MODULE), script, built.package / "models")
    signed = built.package / "models/ios" / native.ASSETS / "models.sig"
    return Made(package=built.package, specs=specs, code=code, signatures=signed.read_text(encoding="utf-8"))


def language_of(made: Made, channel: Channel, pair: Certificate, platform: str = "ios") -> Language:
    return Language(
        channel=channel,
        start=lambda place: driver(made, channel.url, place, pair.certificate, platform=platform),
        kept=lambda place: storage(place, platform),
        dying=lambda place, variables: driver(made, channel.url, place, pair.certificate, variables, platform=platform),
        follows=True,
    )


@contextmanager
def of_releases(folder: Path) -> Iterator[Language]:
    """A channel with the releases, and the program that updates from it: on Android, whose heat a program can set."""
    made = program(folder / "program")
    with serving("react_native", folder) as (channel, pair):
        yield language_of(made, channel, pair, "android")
