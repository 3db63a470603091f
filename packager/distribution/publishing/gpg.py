"""Detached OpenPGP signatures (.asc), made by the user's `gpg`."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.files.processes import children
from packager.files.processes.commands import last_lines

PASSPHRASE = "MOBPACK_GPG_PASSPHRASE"  # the name of a variable  # noqa: S105
GPG = ("GNUPGHOME", "GPG_TTY", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
"""Variables of gpg: where its keys are, and where its agent may ask for a passphrase."""
KEY = "make one with `gpg --quick-generate-key`, or name yours: --set maven-central.gpg-key=FINGERPRINT"


def sign(files: Sequence[Path], folder: Path, key: str) -> tuple[Path, ...]:
    """Signs each file with the secret key `key`, or the default one if it is empty, and returns NAME.asc in `folder`.

    The passphrase, if there is one, comes from gpg's agent or from the environment; gpg reads it from a pipe. Raises
    ToolError if gpg is missing or cannot sign.
    """
    program = shutil.which("gpg")
    if not program:
        raise ToolError("gpg not found: Maven Central requires signatures", hint="install GnuPG (apt install gnupg)")
    return tuple(_signed(program, file, folder / f"{file.name}.asc", key) for file in files)


def _signed(program: str, file: Path, target: Path, key: str) -> Path:
    passphrase = os.environ.get(PASSPHRASE, "")
    command = [program, "--batch", "--yes", "--no-tty", "--armor", "--digest-algo", "SHA512"]
    command += ["--local-user", key] if key else []
    command += ["--pinentry-mode", "loopback", "--passphrase-fd", "0"] if passphrase else []
    command += ["--output", str(target.absolute()), "--detach-sign", str(file.absolute())]
    said = children.run(command, inherits=GPG, said=f"{passphrase}\n" if passphrase else "")
    if said.returncode != 0 or not target.is_file():
        raise ToolError(f"gpg cannot sign {file.name}: {last_lines(said.stderr, 3)}", hint=_hint(said.stderr))
    return target


def _hint(text: str) -> str:
    if "assphrase" in text or "pinentry" in text.lower():
        return f"set {PASSPHRASE}, or unlock the key in gpg's agent"
    return KEY if "secret key" in text.lower() else "sign a file with gpg by hand to see more"
