"""The root of a channel: the first file of The Update Framework that apps trust, and that projects name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root
from tuf.api.serialization import DeserializationError

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.distribution.channel.document import NAME

MAX_ROOT_BYTES = 512_000
"""what clients read of a root at most, as python-tuf's `UpdaterConfig.root_max_length`"""
OURS = "mobpack"
"""field of the metadata that says what it belongs to; other readers ignore it (TUF 1.0, section 4.3)"""
MAKE_ONE = "make the root with mobpack channel init"


@dataclass(frozen=True, kw_only=True)
class ChannelRoot:
    """A root that as many of its keys have signed as it demands."""

    text: str
    package: str
    channel: str


def read_root(path: Path) -> ChannelRoot:
    """Raises ConfigError for a file that is missing, or no root that a project can name."""
    try:
        content = user_files.read(path, limit_bytes=MAX_ROOT_BYTES)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}", hint=MAKE_ONE) from error
    facts = trusted_root(content, str(path)).signed.unrecognized_fields[OURS]
    return ChannelRoot(text=content.decode(), package=facts["package"], channel=facts["channel"])


def trusted_root(content: bytes, where: str) -> Metadata[Root]:
    """A root that is trusted because it was given.

    Raises ConfigError for a text that is none, not signed by its own keys, or of no channel of mobpack.
    """
    try:
        metadata: Metadata[Root] = Metadata.from_bytes(content)
        if not isinstance(metadata.signed, Root):
            raise ConfigError(f"{where} is the {metadata.signed.type} of a channel, not its root", hint=MAKE_ONE)
        metadata.signed.verify_delegate(Root.type, metadata.signed_bytes, metadata.signatures)
    except (DeserializationError, RepositoryError) as error:
        raise ConfigError(f"{where} is not the root of a channel: {error}", hint=MAKE_ONE) from error
    found: Any = metadata.signed.unrecognized_fields.get(OURS)
    names = [found.get(key) if isinstance(found, dict) else None for key in ("package", "channel")]
    if not all(isinstance(each, str) and NAME.fullmatch(each) for each in names):
        raise ConfigError(f"{where} does not say which package and channel it is the root of", hint=MAKE_ONE)
    return metadata
