"""Channels: publishing, promoting, going back, pruning and verifying; interrupted, at once, and under attack."""

import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.distribution.channel import clients, publishing
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.storage import ChannelFolder, open_storage
from tests.cases.channel import ONE, THREE, TWO, dist, folder, key
from tests.cases.channel_cases import NOW, Release, repository_of, root_of, signing_of
from tests.cases.signing_cases import Key
from tests.cases.web_servers import HOSTILE, serving

__all__ = ["dist", "folder", "key"]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_channel_on_a_plain_web_server_verifies(
    folder: ChannelFolder, key: Key, dist: Callable[[Release], Path], has_index: bool
) -> None:
    """Whether or not the server shows what is in a folder; targets that nobody sees any more have no successor."""
    place = repository_of(folder, root_of(key), key)
    for release in (ONE, TWO, THREE):
        publishing.publish(place, dist(release), Terms(), signing_of())
    (folder.root / place.path("targets", 1)).unlink()
    hidden = {} if has_index else {"/": lambda request: request.send_error(403)}
    with serving(folder.root, hidden) as url:
        served = repository_of(open_storage(url), root_of(key), key)
        assert [*served.numbers()] == [3, 2]
        assert clients.verify(served, NOW) == clients.verify(place, NOW)
        with pytest.raises(ConfigError, match="can only be read"):
            publishing.publish(served, dist(Release(version="1.3.0")), Terms(), signing_of())


@pytest.mark.parametrize("answer", ["endless", "endless chunks", "8 TB"])
@pytest.mark.parametrize("what", ["timestamp.json", "1.targets.json", "releases.json", "file"])
def test_a_web_server_that_sends_without_end_is_left(
    folder: ChannelFolder, key: Key, dist: Callable[[Release], Path], what: str, answer: str
) -> None:
    root = root_of(key)
    publishing.publish(repository_of(folder, root, key), dist(ONE), Terms(), signing_of())
    files = [each.name for each in folder.listed("targets") if not each.name.endswith("releases.json")]
    end = files[0] if what == "file" else what
    with serving(folder.root, {end: HOSTILE[answer]}) as url:
        tracemalloc.start()
        with pytest.raises(MobpackError, match=r"at least .* in place of|more than|was changed"):
            clients.verify(repository_of(open_storage(url), root), NOW)
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
