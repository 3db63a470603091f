"""Machines that share a store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from packager.config import CacheTable
from packager.core.console import Console
from packager.files.store import Step, Store, attempts
from packager.files.store.listing import SMALL_BYTES
from packager.files.store.remote import LAYOUT
from packager.workflows import shared_store
from packager.workflows.shared_store import KEY, MODE, remote_of

STEP = Step(name="step", caller="packager.core.errors")

FILES: Mapping[str, bytes] = {
    "one.json": b"{}",
    "deep/er/two": b"2" * 100_000,
    "weights": bytes(range(256)) * (SMALL_BYTES // 128),
    "empty": b"",
}
"""Files of a result: in the list, together in one object, and one of its own."""


@dataclass
class Machine:
    """A machine with a cache of its own."""

    store: Store
    made: list[object] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def get(self, inputs: object = 1, files: Mapping[str, bytes] = FILES, step: Step = STEP) -> Path:
        """The result for `inputs`; it has all `files`."""

        def make(folder: Path) -> None:
            self.made.append(inputs)
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)

        folder = self.store.results(step, inputs, make)
        if self.store.remote:
            self.store.remote.flush()
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert found == files
        return folder


def machine(folder: Path, url: str | Path | None, *, trust: tuple[Path, ...] = (), mode: Any = "") -> Machine:
    """A machine whose own cache is `folder`, with the store of several at `url`."""
    found = Machine(store=Store(folder))
    if url:
        table = CacheTable(remote=str(url), trust=trust, mode=mode)
        shared = remote_of(table, Console(quiet=True))
        assert shared
        shared.warn = found.warnings.append
        found.store = Store(folder, remote=shared)
    return found


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (shared_store.REMOTE, MODE, KEY):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(attempts, "PAUSE_S", 0.001)


def objects_of(shared: Path, kind: str) -> list[Path]:
    return sorted(path for path in (shared / LAYOUT / kind).rglob("*") if path.is_file())
