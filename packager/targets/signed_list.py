"""The list of a package's files that `mobpack sign` signs and generated code verifies."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from packager.core.values import Package
from packager.signing.model_signing import UNSIGNED_NAME, unsigned_bundle
from packager.signing.statements import ReleaseName

NAME = UNSIGNED_NAME
"""of the list, in the folder that the files of models have in an app"""


@dataclass(frozen=True, kw_only=True)
class TrustView:
    """Keys and names that generated code verifies the files of a package with."""

    keys: tuple[str, ...]
    """public keys: SubjectPublicKeyInfo in Base64"""
    package: str
    number: int
    """of the release"""
    folder: str
    """of the models, where the app names them by it; empty elsewhere"""
    name: str
    """of the signed list, in the folder of the models"""


def trust_view(package: Package, folder: str = "") -> TrustView | None:
    """None for a package that opens its files unsigned."""
    if package.trust is None:
        return None
    return TrustView(
        keys=tuple(base64.b64encode(key).decode() for key in package.trust.keys),
        package=package.name,
        number=package.trust.number,
        folder=folder,
        name=NAME,
    )


def unsigned(digests: Mapping[str, str], package: Package) -> str:
    """The list of the files with `digests`, path -> sha256, as a build writes it: without a signature."""
    return unsigned_bundle(digests, ReleaseName(package=package.name, version=package.version)).decode()
