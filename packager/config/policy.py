"""A policy: what a release must show of its signer, its origin and its licences before somebody takes it."""

import json
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from packager.config.strict import Strict
from packager.core import licenses, toml
from packager.core.errors import ConfigError

UNSIGNED = 1
"""SLSA build level that a provenance without a signature reaches at most"""


class Policy(Strict):
    """The keys of a policy. What is not named is not demanded."""

    trust: Path | tuple[Path, ...] = ()
    """public keys or certificates (PEM): one of them must have signed the release and its provenance"""
    subject: str = ""
    """subject of the signer's certificate, where `trust` names certificates"""
    identity: str = ""
    """identity that must have signed, confirmed by Sigstore; with `issuer`, in place of `trust`"""
    issuer: str = ""
    licenses: tuple[str, ...] = ()
    """SPDX identifiers: the package and its models must have licences that these satisfy"""
    level: Annotated[int, Field(ge=0, le=3)] = 0
    """SLSA build level that the provenance must reach"""
    builders: dict[str, Annotated[int, Field(ge=1, le=3)]] = {}
    """`builder.id` of the provenance -> the SLSA build level that you trust it with; others have none"""
    source: str = ""
    """address of the repository that the release must be built of"""
    commit: str = ""
    """commit of `source`, in full"""

    @property
    def trusted(self) -> tuple[Path, ...]:
        """The files of `trust`."""
        return (self.trust,) if isinstance(self.trust, Path) else self.trust

    @property
    def demands_provenance(self) -> bool:
        return bool(self.level or self.source or self.commit or self.builders)


def read_policy(path: Path) -> Policy:
    """The policy in a file, with paths beside it made absolute. Raises ConfigError that names the key."""
    document = toml.read(path, missing="name the file with the policy")
    try:
        found = Policy.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(Policy.model_fields)
        raise ConfigError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}", hint=f"a policy has: {known}"
        ) from error
    if bool(found.identity) != bool(found.issuer) or (found.identity and found.trusted):
        raise ConfigError(
            f"{path}: two things say who must have signed, or half of one does",
            hint="name `trust`, or `identity` together with `issuer`",
        )
    if odd := [each for each in found.licenses if not licenses.is_choice(each)]:
        raise ConfigError(f"{path}: licenses: '{odd[0]}' is not a licence of SPDX's list", hint="see spdx.org/licenses")
    if found.level > UNSIGNED and max(found.builders.values(), default=0) < found.level:
        raise ConfigError(
            f"{path}: level: nobody in `builders` is trusted with level {found.level}",
            hint='name who is: [builders] "https://github.com/actions/runner/github-hosted" = 2',
        )
    return found.model_copy(update={"trust": tuple(path.parent / each for each in found.trusted)})
