"""A channel whose publisher goes forwards and backwards, on a server that fails at random."""

import random
from dataclasses import dataclass

from tests.cases.delivery_releases import FIRST, SECOND
from tests.cases.delivery_server import Channel, claiming, flipped, padded, releases, silent
from tests.toolchain.react_native.download.server import Fault, cut, other_bytes, status, whole

NOT_FOUND, SERVER_ERROR = 404, 500
FAULTS: tuple[Fault, ...] = (
    cut(100),
    claiming(1000),
    padded(1000),
    silent,
    other_bytes,
    whole,
    status(NOT_FOUND),
    status(SERVER_ERROR),
)
BEGINNING = 10
"""a number larger than those of the documents that were published"""


@dataclass(kw_only=True)
class Network:
    """The channel of one device."""

    channel: Channel
    number: int = BEGINNING
    newest: str = FIRST

    def change(self, chance: random.Random) -> None:
        """Perhaps another release, perhaps a fault in documents, files or deltas."""
        self._mend()
        if chance.random() < 0.5:
            self._publish(chance.choice((FIRST, SECOND)))
        place = chance.choice(("nowhere", "nowhere", "document", "blobs", "each blob", "deltas", "bytes"))
        fault = chance.choice(FAULTS)
        match place:
            case "document":
                self.channel.on_document(fault, fault)
            case "blobs":
                self.channel.on_blobs(fault)
            case "each blob":
                self.channel.on_each_blob(fault)
            case "deltas":
                self.channel.on_deltas(fault)
            case "bytes":
                self.channel.change_blobs(self.channel.models(), flipped)

    def heal(self) -> str:
        """No fault any more, and a newer document; gives the version that every device must come to."""
        self._mend()
        self._publish(self.newest)
        return self.newest

    def _mend(self) -> None:
        files = self.channel.address.files
        files.faults_by_path.clear()
        files.faults.clear()
        files.requests.clear()
        files.by_path.update({path: each for path, each in self.channel.healthy.items() if path.startswith("/blobs/")})

    def _publish(self, version: str) -> None:
        self.number += 1
        self.newest = version
        count = 0 if version == SECOND else 1
        self.channel.publish(lambda document: releases(document).__delitem__(slice(0, count)), number=self.number)
