"""The `[cache]` table: a store of results that several machines share."""

from pathlib import Path
from typing import Literal

from packager.config.strict import Strict

OFF = "off"
"""Address that leaves the remote store of a project out."""


class CacheTable(Strict):
    """Results that other machines have made, and where those of this one go; `--cache` and MOBPACK_CACHE replace
    `remote`."""

    remote: str = ""
    """address of the store: `s3://bucket/prefix`, `gs://`, `az://`, `https://` (read only), a folder, or any other that
    fsspec knows"""
    mode: Literal["", "read", "read-write"] = ""
    """`read` fetches results, `read-write` sends them, too; default: `read-write`, or `read` with `trust` and without
    a key (MOBPACK_CACHE_KEY)"""
    trust: Path | tuple[Path, ...] = ()
    """public keys or certificates (PEM): only results that one of them, or who has a certificate by one of them, has
    signed are used. See docs/cache.md"""
    subject: str = ""
    """subject of the signer's certificate, if `trust` names certificates: `CN=cache,O=Example`; default: anybody with a
    certificate for code signing"""

    @property
    def trusted(self) -> tuple[Path, ...]:
        """The files of `trust`."""
        return (self.trust,) if isinstance(self.trust, Path) else self.trust
