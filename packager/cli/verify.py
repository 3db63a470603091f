"""`mobpack verify`: whether a release is complete, unchanged, and signed by a trusted key."""

from pathlib import Path

import click

from packager.cli.options import MODEL, json_option, model_key_option, no_code_option, print_json, subject_option
from packager.core.errors import ConfigError

PEM = click.Path(path_type=Path, dir_okay=False)


@click.command(short_help="Verify the files and signatures of a release.")
@click.argument("release", type=MODEL, default=Path("dist"))
@click.option(
    "--key",
    "keys",
    type=PEM,
    multiple=True,
    metavar="FILE",
    help="Trusted public key, or certificate, in PEM form. Repeatable: one of them must have signed.",
)
@subject_option
@click.option("--identity", metavar="NAME", help="Identity that must have signed, confirmed by Sigstore: an address.")
@click.option("--issuer", metavar="URL", help="Address of the issuer that has confirmed the identity.")
@click.option("--signature", type=PEM, metavar="FILE", help="Bundle of a folder of model files, if it lies elsewhere.")
@click.option(
    "--rebuild",
    "is_rebuilt",
    is_flag=True,
    help="Build the release again, from mobpack.toml, and compare every file. RELEASE is only read.",
)
@click.option(
    "--config",
    "-c",
    "config_path",
    type=MODEL,
    default=Path("mobpack.toml"),
    show_default=True,
    help="Project file, or its folder, for --rebuild.",
)
@model_key_option
@click.option("--cached", is_flag=True, help="Let --rebuild use results of earlier builds: faster, and proves less.")
@no_code_option
@json_option
def verify(
    release: Path,
    keys: tuple[Path, ...],
    subject: str | None,
    identity: str | None,
    issuer: str | None,
    signature: Path | None,
    is_rebuilt: bool,
    config_path: Path,
    model_key: str | None,
    cached: bool,
    no_code: bool,
    as_json: bool,
) -> None:
    """Verify that RELEASE (default: dist) has exactly the files that its manifest lists; with --key, its signatures;
    with --rebuild, that its project builds the same bytes.

    Fails with exit code 6 when a file was changed, added or removed, when no trusted key has signed, or when a rebuilt
    file differs.
    """
    from packager.cli import rebuilding
    from packager.core.console import Console
    from packager.core.to_json import plain
    from packager.workflows import signing

    if bool(identity) != bool(issuer):
        raise ConfigError("--identity and --issuer belong together", hint="give both")
    if keys and identity:
        raise ConfigError("either --key or --identity says who must have signed", hint="give one of them")
    if subject is not None and not keys:
        raise ConfigError("--subject belongs to a certificate", hint="give --key root.pem, too")
    somebody = signing.Identity(name=identity, issuer=issuer) if identity and issuer else None
    trust = signing.trust(keys, somebody, subject=subject) if keys or somebody else None
    rebuilt = None
    if is_rebuilt:
        how = rebuilding.Options(is_fresh=not cached, has_code=not no_code, model_key=model_key)
        rebuilt = rebuilding.rebuild(release, config_path, how, as_json=as_json)
    found = signing.verify_place(release, trust, signature)
    if as_json:
        print_json({"release": str(release), **plain(found), **({"rebuilt": plain(rebuilt)} if rebuilt else {})})
        return
    if rebuilt:
        rebuilding.show(release, rebuilt)
    console = Console()
    name = f"{found.package} {found.version}".strip()
    console.result(f"{name}: {found.files} files are those that were released")
    for path, who in found.signatures.items():
        console.result(f"{path}: signed by {who}")
    if not found.signatures:
        console.result("signatures were not verified: give --key release.pub")
    if found.unlisted and not found.signatures:
        console.result(f"not in the manifest, only signatures vouch for them: {', '.join(found.unlisted)}")
