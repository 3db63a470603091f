"""Signatures of Swift package archives (SE-0391, format cms-1.0.0), made by the user's `openssl`."""

import shutil
import tempfile
from pathlib import Path

from packager.core.errors import ConfigError, ToolError
from packager.files.processes import children
from packager.files.processes.commands import last_lines

FORMAT = "cms-1.0.0"


def signature(content: bytes | Path, certificate: Path, key: Path) -> bytes:
    """A detached CMS signature in DER, with SHA-256 and without attributes, of which SwiftPM says "invalid signature".

    Raises ConfigError if a file is missing, ToolError if openssl is missing or cannot sign.
    """
    for file in (certificate, key):
        if not file.is_file():
            raise ConfigError(f"{file} is not a file", hint="name a certificate and its private key, both in PEM")
    program = shutil.which("openssl")
    if not program:
        raise ToolError("openssl not found: it signs Swift packages", hint="install OpenSSL 3")
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch, "content"), Path(scratch, "signature")
        if isinstance(content, bytes):
            source.write_bytes(content)
        else:
            source = content.absolute()
        command: list[str | Path] = [
            program,
            "cms",
            "-sign",
            "-binary",
            "-in",
            source,
            "-signer",
            certificate.absolute(),
        ]
        command += ["-inkey", key.absolute(), "-outform", "DER", "-out", target, "-md", "sha256", "-noattr"]
        done = children.run(command, inherits=("OPENSSL_CONF", "OPENSSL_MODULES"))
        if done.returncode != 0:
            raise ToolError(
                f"openssl cannot sign with {key}: {last_lines(done.stderr, 2)}",
                hint="the key must be that of the certificate, in PEM and without a passphrase",
            )
        return target.read_bytes()
