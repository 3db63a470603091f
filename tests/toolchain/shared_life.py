"""One machine of several with a shared store, as a program: `python -m tests.toolchain.shared_life`.

Each line of its input is a request in JSON, `[url, cache, count]`: it asks for `count` results, makes those that nobody
has, compares all with what they must be, and prints in JSON which it made, what it counted and what it warned of.
Without a count it changes a byte of every third object in the store instead, and empties every ninth.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from packager.config import CacheTable
from packager.core.console import Console
from packager.files.store import Step, Store, remote
from packager.files.store.objects import open_objects
from packager.workflows.shared_store import named, remote_of

STEP = Step(name="step", caller="packager.core.errors")
SIZES = (10, 70_000, 900_000)
"""of the files of a result, in bytes: in the list, in an object of small files, and one of its own"""


def files(number: int) -> Iterator[tuple[str, bytes]]:
    """The files of a result: those of one kind are shared by three results."""
    for place, size_bytes in enumerate(SIZES[: 1 + number % 3]):
        seed = hashlib.sha256(f"{place} {number // 3}".encode()).digest()
        yield f"folder/{place}", (seed * (size_bytes // 32 + 1))[:size_bytes]


def maker(number: int, made: list[int]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        made.append(number)
        (folder / "folder").mkdir()
        for name, content in files(number):
            (folder / name).write_bytes(content)

    return make


def live(url: str, cache: Path, count: int) -> dict[str, object]:
    made: list[int] = []
    warnings: list[str] = []
    shared = remote_of(named(CacheTable(remote=url)), Console(quiet=True))
    assert shared
    shared.warn = warnings.append
    store = Store(cache, remote=shared)
    for number in range(count):
        folder = store.results(STEP, number, maker(number, made))
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert found == dict(files(number)), f"result {number} is another"
    shared.flush()
    return {"made": made, "warnings": warnings, **vars(shared.counts)}


def damage(url: str) -> dict[str, object]:
    objects = open_objects(url)
    names = sorted(each.name for each in objects.listed(remote.LAYOUT))
    for number, name in enumerate(names[::3]):
        content = bytearray(objects.read(name, limit_bytes=16 << 20))
        content[len(content) // 2] ^= 1
        objects.replace(name, bytes(content) if number % 3 else b"")
    return {"damaged": len(names[::3])}


if __name__ == "__main__":
    for line in sys.stdin:
        url, cache, count = json.loads(line)
        result = damage(url) if count is None else live(url, Path(cache), count)
        print(json.dumps(result), flush=True)
