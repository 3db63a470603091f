"""`mobpack verify`: whether a release is complete, unchanged, and signed by a trusted key."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, model_key_option, no_code_option, print_json, subject_option
from packager.cli.project_options import into
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.config.policy import Policy
    from packager.distribution.provenance.policy import Judged
    from packager.distribution.release.checking import Trust, Verified

PEM = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of `mobpack verify`."""

    release: Path
    keys: tuple[Path, ...]
    subject: str | None
    identity: str | None
    issuer: str | None
    authority: Path | None
    signature: Path | None
    is_rebuilt: bool
    config_path: Path
    policy_path: Path | None
    provenances: tuple[Path, ...]
    model_key: str | None
    cached: bool
    no_code: bool
    as_json: bool

    def judges(self) -> "tuple[Policy | None, Trust | None]":
        """The policy, and who must have signed by it or by the other options."""
        from packager.workflows import signing

        policy = None
        keys, subject, identity, issuer = self.keys, self.subject, self.identity, self.issuer
        if self.policy_path:
            from packager.config.policy import read_policy

            policy = read_policy(self.policy_path)
            if keys or identity:
                raise ConfigError("--policy says who must have signed", hint="give no --key and no --identity")
            keys, subject = policy.trusted, policy.subject or None
            identity, issuer = policy.identity or None, policy.issuer or None
        elif self.provenances:
            raise ConfigError("--provenance belongs to a policy", hint="give --policy policy.toml, too")
        if bool(identity) != bool(issuer):
            raise ConfigError("--identity and --issuer belong together", hint="give both")
        if keys and identity:
            raise ConfigError("either --key or --identity says who must have signed", hint="give one of them")
        if subject is not None and not keys:
            raise ConfigError("--subject belongs to a certificate", hint="give --key root.pem, too")
        if self.authority and not keys:
            raise ConfigError("--timestamp-authority is about signatures of keys", hint="give --key release.pub, too")
        somebody = signing.Identity(name=identity, issuer=issuer) if identity and issuer else None
        trust = signing.trust(keys, somebody, subject=subject, authority=self.authority) if keys or somebody else None
        return policy, trust


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
@click.option(
    "--timestamp-authority",
    "authority",
    type=PEM,
    metavar="FILE",
    help="Certificate of the time stamp authority that must have confirmed when it was signed, with --key.",
)
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
@click.option(
    "--policy",
    "policy_path",
    type=PEM,
    metavar="FILE",
    help="Policy that the release must meet: signer, builder, source, commit, SLSA level, licences. In place of --key.",
)
@click.option(
    "--provenance",
    "provenances",
    type=PEM,
    multiple=True,
    metavar="FILE",
    help="Signed SLSA provenance of a build service about manifest.json, for --policy.",
)
@model_key_option
@click.option("--cached", is_flag=True, help="Let --rebuild use results of earlier builds: faster, and proves less.")
@no_code_option
@json_option
@into(VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Verify that RELEASE (default: dist) has exactly the files that its manifest lists; with --key, its signatures;
    with --policy, also its origin and licences; with --rebuild, that its project builds the same bytes.

    Fails with exit code 6 when a file was changed, added or removed, when no trusted key has signed, when the policy
    is not met, or when a rebuilt file differs.
    """
    from packager.cli import rebuilding
    from packager.core.to_json import plain
    from packager.workflows import signing

    policy, trust = options.judges()
    rebuilt = None
    if options.is_rebuilt:
        how = rebuilding.Options(is_fresh=not options.cached, has_code=not options.no_code, model_key=options.model_key)
        rebuilt = rebuilding.rebuild(options.release, options.config_path, how, as_json=options.as_json)
    found = signing.verify_place(options.release, trust, options.signature)
    judged = None
    if policy:
        from packager.distribution.provenance.policy import judge

        judged = judge(options.release, policy, trust, options.provenances)
    if options.as_json:
        more = {"rebuilt": rebuilt, "policy": judged}
        extra = {name: plain(value) for name, value in more.items() if value}
        print_json({"release": str(options.release), **plain(found), **extra})
        return
    if rebuilt:
        rebuilding.show(options.release, rebuilt)
    _show(found, judged)


def _show(found: "Verified", judged: "Judged | None") -> None:
    from packager.core.console import Console

    console = Console()
    name = f"{found.package} {found.version}".strip()
    console.result(f"{name}: {found.files} files are those that were released")
    for path, who in found.signatures.items():
        console.result(f"{path}: signed by {who}")
    if not found.signatures:
        console.result("signatures were not verified: give --key release.pub")
    if found.unlisted and not found.signatures:
        console.result(f"not in the manifest, only signatures vouch for them: {', '.join(found.unlisted)}")
    if judged and judged.origin:
        sources = ", ".join(f"{name} at {commit}" for name, commit in judged.origin.sources.items())
        console.result(
            f"{judged.origin.path}: built by {judged.origin.builder}, SLSA build level {judged.origin.level}"
            f"{f', of {sources}' if sources else ''}"
        )
    for name, expression in judged.licenses.items() if judged else ():
        console.result(f"{name}: {expression}, which the policy allows")
