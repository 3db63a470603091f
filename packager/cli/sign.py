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
    help="Private P-256 key: a PEM file, pkcs11:..., or a cloud's: awskms:..., gcpkms:..., azurekms:..., hv:...",
)
@click.option("--certificate", type=PEM, metavar="FILE", help="The key's X.509 certificate, then those of its issuers.")
@json_option
def sign(release: Path, key: str | None, certificate: Path | None, as_json: bool) -> None:
    """Sign RELEASE (default: dist), all of it or nothing; signing again gives the same bytes.

    Writes manifest.json.sig, about every file, and a bundle of OpenSSF Model Signing about the models of each package.
    Packages that verify their models in apps get it inside. A folder without manifest.json is signed as a model.
    The password of a key, or the PIN of a token, is read from MOBPACK_KEY_PASSWORD.
    """
    from packager.core.console import Console
    from packager.workflows import signing

    if not key:
        raise ConfigError("nothing says who signs", hint="give --key release.pem")
    written = signing.sign(release, signing.signer(key, certificate))
    if as_json:
        print_json({"release": str(release), "signatures": list(written)})
        return
    console = Console()
    for each in written:
        console.result(f"signed {release / each}")
