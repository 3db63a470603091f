"""Channels: publishing, promoting, going back, pruning and verifying; interrupted, at once, and under attack."""

import socket
import tracemalloc

import pytest

from packager.core.errors import ConfigError, GateError, MobpackError, ToolError
from packager.distribution.channel import checking, log
from packager.distribution.channel.storage import ChannelFolder, open_storage
from tests.cases.channel import ONE, THREE, TWO, Publish, dist, folder, key, publish, storage
from tests.cases.channel_cases import NOW, Release, place_of
from tests.cases.signing_cases import Key
from tests.cases.web_servers import HOSTILE, serving

__all__ = ["dist", "folder", "key", "publish", "storage"]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_channel_on_a_plain_web_server_verifies(
    folder: ChannelFolder, key: Key, publish: Publish, has_index: bool
) -> None:
    """Whether or not the server shows what is in a folder; the document that nobody sees any more has no successor."""
    for release in (ONE, TWO, THREE):
        publish(folder, release)
    (folder.root / "stable" / "documents" / f"{1:016d}.json").unlink()
    hidden = {} if has_index else {"/": lambda request: request.send_error(403)}
    with serving(folder.root, hidden) as url:
        place = place_of(open_storage(url), key)
        found = checking.verify(place, NOW)
        assert [each.number for each in log.documents(place, found.document)] == [2, 3]
        assert checking.verify(place_of(folder, key), NOW) == found
        with pytest.raises(ConfigError, match="can only be read"):
            publish(open_storage(url), Release(version="1.3.0"))


def test_a_document_that_a_web_server_has_beyond_the_current_one_is_found(
    folder: ChannelFolder, key: Key, publish: Publish
) -> None:
    publish(folder, ONE)
    before = (folder.root / "stable" / "channel.json").read_bytes()
    publish(folder, TWO)
    (folder.root / "stable" / "channel.json").write_bytes(before)
    with serving(folder.root) as url, pytest.raises(GateError, match="is document 1, and the newest is 2"):
        checking.verify(place_of(open_storage(url), key), NOW)


@pytest.mark.parametrize("answer", ["endless", "endless chunks", "8 TB"])
@pytest.mark.parametrize("what", ["channel.json", "0001.json", "blob"])
def test_a_web_server_that_sends_without_end_is_left(
    folder: ChannelFolder, key: Key, publish: Publish, what: str, answer: str
) -> None:
    publish(folder, ONE)
    end = folder.listed("blobs")[0].name if what == "blob" else what
    with serving(folder.root, {end: HOSTILE[answer]}) as url:
        tracemalloc.start()
        with pytest.raises(MobpackError, match=r"at least .* in place of|more than 2 MiB"):
            checking.verify(place_of(open_storage(url), key), NOW)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak_bytes < 20 << 20


def test_a_store_that_does_not_answer_is_an_error_of_the_network() -> None:
    """Stores of FTP are connected to before anything is read."""
    with socket.socket() as unused:  # bound, and listening to nobody
        unused.bind(("127.0.0.1", 0))
        url = f"ftp://127.0.0.1:{unused.getsockname()[1]}/channel"
        with pytest.raises(ToolError, match="ConnectionRefusedError") as raised:
            open_storage(url)
    assert "the network" in raised.value.hint
