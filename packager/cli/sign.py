"""`mobpack sign`: signatures of a release, or of a folder of model files."""

from pathlib import Path

import click

from packager.cli.options import MODEL, json_option, print_json
from packager.core.errors import ConfigError

PEM = click.Path(path_type=Path, dir_okay=False)


@click.command(short_help="Sign a release.")
@click.argument("release", type=MODEL, default=Path("dist"))
@click.option(
    "--key",
    metavar="FILE|URI",
    help="Private P-256 key: a PEM file, or pkcs11:, awskms:, azurekms:, gcpkms: or hashivault: and its name there.",
)
@click.option("--certificate", type=PEM, metavar="FILE", help="The key's X.509 certificate, then those of its issuers.")
@click.option(
    "--identity", type=click.Choice(["sigstore"]), help="Sign without a key, by an identity that Sigstore confirms."
)
@click.option(
    "--timestamp",
    metavar="URL",
    help="Have a time stamp authority (RFC 3161) at this address confirm when each signature was there.",
)
@json_option
def sign(
    release: Path,
    key: str | None,
    certificate: Path | None,
    identity: str | None,
    timestamp: str | None,
    as_json: bool,
) -> None:
    """Sign RELEASE (default: dist), all of it or nothing; without --timestamp, signing again gives the same bytes.

    Writes manifest.json.sig, about every file, and a bundle of OpenSSF Model Signing about the models of each package.
    Packages that verify their models in apps get it inside. A folder without manifest.json is signed as a model.
    The password of a key, or the PIN of a token, is read from MOBPACK_KEY_PASSWORD.
    """
    from packager.core.console import Console
    from packager.workflows import signing

    if bool(key) == bool(identity):
        raise ConfigError("either --key or --identity says who signs", hint="for example: --key release.pem")
    if certificate and not key:
        raise ConfigError("--certificate belongs to a key", hint="give --key, too")
    if timestamp and not key:
        raise ConfigError("--timestamp belongs to a key", hint="omit it: the log of Sigstore says when")
    signer = signing.signer(key, certificate) if key else signing.keyless_signer()
    written = signing.sign(release, signing.stamping(signer, timestamp) if timestamp else signer)
    if as_json:
        print_json({"release": str(release), "signatures": list(written)})
        return
    console = Console()
    for each in written:
        console.result(f"signed {release / each}")
