"""Other implementations for tests of signatures: cosign, the reference implementation, a PKCS#11 token in software."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments.debian import unpack_deb
from packager.engines.environments.environment import folder_for, make_once
from tests.toolchain.require import fetched, require
from tests.toolchain.unpacking import unpack

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("sigstore.txt")

PIN = "1234"
TOKEN = "release"


@dataclass(frozen=True)
class Cosign:
    """The program, run in a folder of its own, without a network."""

    program: Path
    home: Path

    def run(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        variables = {"PATH": os.defpath, "HOME": str(self.home), "COSIGN_PASSWORD": "password"}
        command = [str(self.program), *map(str, arguments)]
        return subprocess.run(command, cwd=self.home, env=variables, capture_output=True, text=True, check=False)


def cosign(folder: Path) -> Cosign:
    unpack_deb(fetched("cosign"), folder, lambda path: path.name == "cosign")
    return Cosign(program=folder / "usr" / "bin" / "cosign", home=folder)


def with_sigstore(*command: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Runs this Python with the packages `model_signing` and `sigstore` beside those of the tests."""
    folder = folder_for("sigstore", LOCK.read_text(encoding="utf-8"))
    try:
        make_once(folder, lambda made: unpack(LOCK, made))
    except ToolError as error:
        require(False, f"Sigstore's client: {error.message} ({error.hint})")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), **variables}
    program = [sys.executable, *map(str, command)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Token:
    """A PKCS#11 token."""

    module: Path
    variables: Mapping[str, str]


def soft_token(folder: Path, key: Path) -> Token:
    """A token that holds the private key of a PEM file (PKCS#8) and its public half, as `signing`, id 01."""
    for pin in ("softhsm-library", "softhsm-tools"):
        unpack_deb(fetched(pin), folder, lambda path: path.suffix == ".so" or path.name == "softhsm2-util")
    (folder / "tokens").mkdir()
    settings = folder / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {folder / 'tokens'}\n", encoding="utf-8")
    token = Token(
        module=folder / "usr" / "lib" / "softhsm" / "libsofthsm2.so", variables={"SOFTHSM2_CONF": str(settings)}
    )
    pins = ("--pin", PIN, "--so-pin", PIN)
    _tool(folder, token, "--init-token", "--free", "--label", TOKEN, *pins)
    _tool(folder, token, "--import", str(key), "--token", TOKEN, "--label", "signing", "--id", "01", *pins)
    return token


def _tool(folder: Path, token: Token, *arguments: str) -> None:
    program = folder / "usr" / "bin" / "softhsm2-util"
    variables = {"PATH": os.defpath, **token.variables}
    subprocess.run([str(program), "--module", str(token.module), *arguments], env=variables, check=True)
