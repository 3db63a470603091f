"""Channels in S3, GCS, Azure and WebDAV, as servers on this machine: the whole life of one, in a process of its own."""

import json
from pathlib import Path

import pytest

from tests.nights import at_night
from tests.toolchain import stores


@pytest.mark.parametrize("name", ["S3", *at_night("WebDAV", "GCS", "Azure")])
def test_a_channel_lives_in_a_store(tmp_path: Path, name: str) -> None:
    with stores.STORES[name](tmp_path) as store:
        done = stores.run("-m", "tests.toolchain.stores_life", store.url, variables=store.variables, lock=store.lock)
    assert done.returncode == 0, done.stderr[-4000:]
    facts = json.loads(done.stdout.splitlines()[-1])
    assert facts == {
        "published": 7,  # two files of each of two releases, two deltas, the list of releases
        "interrupted": 4,  # after each write of metadata: root, targets, snapshot, timestamp
        "refused": 1,  # of two publishers at the same moment
        "created": True,
        "times": True,
    }
