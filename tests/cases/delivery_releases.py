"""A channel that delivers releases of a small package, published as a publisher does it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packager.core.to_json import plain
from packager.distribution.channel import publishing
from packager.distribution.channel.places import Signing
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.storage import ChannelFolder
from tests.cases.channel_cases import signers_of
from tests.cases.tuf_repository import root_text
from tests.toolchain.delivery_packages import BUNDLED, CHANNEL, FIRST, MODEL, RELEASES, SECOND, VERSIONS, key, sum_of

__all__ = ("BUNDLED", "CHANNEL", "FIRST", "MODEL", "SECOND", "VERSIONS", "key", "publish", "releases", "sum_of")


def releases(target: str) -> Mapping[str, Path]:
    """The signed releases for a target, by their version. Nobody may write to them."""
    return RELEASES[target].folders()


@dataclass(frozen=True, kw_only=True)
class Published:
    """A channel in a folder, and its documents in their order."""

    folder: Path
    documents: tuple[dict[str, Any], ...]

    def files(self) -> dict[str, bytes]:
        """All files by their paths on a server."""
        return {
            f"/{path.relative_to(self.folder).as_posix()}": path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }


def publish(target: str, folder: Path) -> Published:
    """Publishes the releases for a target one after the other, with deltas between them."""
    signer = key(folder.parent / f"{folder.name}-key")
    trusted = root_text("models", CHANNEL).encode()
    place = Repository(storage=ChannelFolder(root=folder), trusted=trusted, signers=signers_of(signer))
    how = Signing(now=datetime.now(UTC), days=90)
    documents = [plain(publishing.publish(place, dist, Terms(), how).document) for dist in releases(target).values()]
    return Published(folder=folder, documents=tuple(documents))
