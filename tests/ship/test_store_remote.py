"""Results of other machines: fetched once, verified before they are used, replaced where they are spoilt."""

import tracemalloc
from pathlib import Path

import pytest

from packager.files import web
from packager.files.store import remote
from tests.cases.store_remote import _quick, machine, objects_of
from tests.cases.web_servers import HOSTILE, serving

__all__ = ["_quick"]


@pytest.mark.parametrize("chunk", [remote.CHUNK_BYTES, 100_000])
def test_a_web_server_gives_what_a_folder_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(remote, "CHUNK_BYTES", chunk)
    machine(tmp_path / "first", tmp_path / "shared").get()
    with serving(tmp_path / "shared") as url:
        second = machine(tmp_path / "second", url)
        second.get(1)
        second.get(2)
    assert (second.made, second.warnings) == ([2], [])


@pytest.mark.parametrize("what", ["results", "blobs"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_web_server_costs_little_memory_and_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: str
) -> None:
    monkeypatch.setattr(web, "PATIENCE_S", 0.5)
    machine(tmp_path / "first", tmp_path / "shared").get()
    ends = {path.name: HOSTILE[name] for path in objects_of(tmp_path / "shared", what)}
    with serving(tmp_path / "shared", ends) as url:
        tracemalloc.start()
        second = machine(tmp_path / "second", url)
        second.get()
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (second.made, len(second.warnings)) == ([1], 1)
    assert peak_bytes < 64 << 20
