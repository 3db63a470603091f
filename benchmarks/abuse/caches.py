"""Caches and folders that others can write to: unfinished files, releases that were changed, servers that lie."""

import hashlib
import json
import os
import shutil
import signal
import tracemalloc
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.abuse.builds import digest_of
from benchmarks.abuse.command import Place, last_line, new_cache, run
from benchmarks.abuse.hostile import PROJECT, model
from benchmarks.abuse.result import Result
from packager.core.errors import MobpackError
from packager.distribution.channel import clients, publishing
from packager.distribution.channel.storage import ChannelFolder, open_storage
from packager.files import web
from packager.files.atomic import atomic_file, atomic_files
from packager.files.store.remote import LAYOUT
from tests.cases.channel_cases import NOW, Release, make_release, place_of, signing_of
from tests.cases.signing_cases import make_key
from tests.cases.web_servers import HOSTILE, Answer, serving

Case = Callable[[Path], str]
"""Gets an empty folder, and returns the fault; empty if there is none."""
Change = Callable[[dict[str, Any]], object]
"""Gets the list of a result, and returns another one."""


def attack(place: Place) -> Iterator[Result]:
    yield held("unfinished files", place, UNFINISHED)
    yield held("channels on hostile web servers", place, CHANNELS)
    yield held("shared caches that lie", place, lying(place))
    yield held("published files changed, their times kept", place, changed(place))
    yield held("encrypted projects beside shared caches", place, encrypted(place))


def held(title: str, place: Place, cases: dict[str, Case]) -> Result:
    """Runs every case in a folder of its own."""
    exceptions = []
    for number, (name, case) in enumerate(cases.items()):
        folder = place.folder / f"{title.split()[0]}-{number}"
        folder.mkdir()
        try:
            fault = case(folder)
        except MobpackError as error:
            fault = error.message
        if fault:
            exceptions.append(f"{name}: {fault}")
    return Result(attack=title, tries=len(cases), exceptions=tuple(exceptions))


def _write(folder: Path) -> None:
    with atomic_file(folder / "out") as file:
        file.write(b"whole")


def _write_files(folder: Path) -> None:
    with atomic_files(folder) as unfinished:
        (unfinished / "out").write_bytes(b"whole")


def _planted(write: Callable[[Path], None]) -> Case:
    """Links under every name that the process could be expected to take, and one under the final name."""

    def case(folder: Path) -> str:
        victim = folder / "victim"
        victim.write_bytes(b"precious")
        for name in (f".out.{os.getpid()}.unfinished", ".out.unfinished", "out.part", ".mobpack-0.unfinished", "out"):
            (folder / name).symlink_to(victim)
        write(folder)
        is_safe = victim.read_bytes() == b"precious" and (folder / "out").read_bytes() == b"whole"
        return "" if is_safe else "a link was followed"

    return case


def _killed(write: Callable[[Path], None]) -> Case:
    """A fork that is killed while it writes, and then another write."""

    def case(folder: Path) -> str:
        process = os.fork()
        if process == 0:
            with atomic_file(folder / "out") as file, atomic_files(folder) as unfinished:
                file.write(b"half")
                (unfinished / "out").write_bytes(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(process, 0)
        if (folder / "out").exists():
            return "half a file has its name"
        write(folder)
        left = [path.name for path in folder.iterdir() if path.name != "out"]
        return f"left {', '.join(left)}" if left else ""

    return case


UNFINISHED: dict[str, Case] = {
    "links where a file is written": _planted(_write),
    "links where files are written": _planted(_write_files),
    "killed, then a file": _killed(_write),
    "killed, then files": _killed(_write_files),
}


MEMORY_BYTES = 32 << 20
"""most that one answer of a server may take"""


def _verified(end: str, answer: Answer | None) -> Case:
    """A channel on a web server that gives `answer` to what ends in `end`."""

    def case(folder: Path) -> str:
        key = make_key(folder / "keys", "channel")
        made = make_release(folder / "dist", Release())
        store = ChannelFolder(root=folder / "channel")
        publishing.publish(place_of(store, key), made, publishing.Terms(), signing_of())
        last = store.listed("targets")[0].name if end == "blob" else end
        with serving(store.root, {last: answer} if answer else {}) as url, patched(web, "PATIENCE_S", 0.4):
            tracemalloc.start()
            said = ""
            try:
                clients.verify(place_of(open_storage(url), key), NOW)
            except MobpackError as error:
                said = error.message
            _, peak_bytes = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        if peak_bytes > MEMORY_BYTES:
            return f"took {peak_bytes:,} bytes"
        return "" if bool(said) == bool(answer) else said or "was taken as it is"

    return case


@contextmanager
def patched(module: ModuleType, name: str, value: object) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


CHANNELS: dict[str, Case] = {
    "an honest one": _verified("", None),
    **{
        f"{end}: {name}": _verified(end, answer)
        for end in ("timestamp.json", "1.targets.json", "blob")
        for name, answer in HOSTILE.items()
    },
}


def encrypted(place: Place) -> dict[str, Case]:
    """Commands in the folder of an encrypted project, and on its model in another, one after the other: a shared cache
    gets nothing of it."""
    commands = (("check",), ("convert", "m.onnx"), ("build", "m.onnx", "-t", "ios"), ("cache", "--push"))

    def sent(command: tuple[str, ...], folder: Path) -> str:
        (folder / "mobpack.toml").write_text(PROJECT.replace('"p"', '"p"\nencryption = "k"'), encoding="utf-8")
        (folder / "m.onnx").write_bytes(model())
        here = Place(folder=folder, cache=place.cache)
        answer = run([*command, "--cache", str(folder / "shared")], here, folder.with_suffix(".txt"))
        found = [path.name for path in (folder / "shared").rglob("*")]
        return answer.fault or (f"sent {len(found)} files" if found else "")

    def sent_elsewhere(command: tuple[str, ...], folder: Path) -> str:
        if fault := sent(("check",), folder):
            return fault
        (folder / "mobpack.toml").unlink()
        (folder / "elsewhere").mkdir()
        (folder / "m.onnx").rename(folder / "elsewhere" / "net.onnx")
        here = Place(folder=folder / "elsewhere", cache=place.cache)
        answer = run([*command, "--cache", str(folder / "shared")], here, folder.with_suffix(".txt"))
        found = [path.name for path in (folder / "shared").rglob("*")]
        return answer.fault or (f"sent {len(found)} files" if found else "")

    elsewhere = (("check", "net.onnx"), ("convert", "net.onnx"), ("build", "net.onnx", "-t", "ios"))
    return {
        **{" ".join(each): partial(sent, each) for each in commands},
        **{f"{' '.join(each)} elsewhere": partial(sent_elsewhere, each) for each in elsewhere},
    }


def lying(place: Place) -> dict[str, Case]:
    """`convert` with a cache whose every answer, list or file is wrong: it gives the same bytes as without."""
    said = place.folder / "honest.txt"
    honest, shared = place.folder / "honest", place.folder / "shared"
    honest.mkdir()
    (honest / "m.onnx").write_bytes(model())
    begun = Place(folder=honest, cache=new_cache(place.folder / "cache-honest"))
    run(["convert", "m.onnx", "--cache", str(shared)], begun, said)
    right = (honest / "m.ort").read_bytes()

    def converted(folder: Path, url: str) -> str:
        (folder / "m.onnx").write_bytes(model())
        here = Place(folder=folder, cache=new_cache(folder / "cache"))
        with patched(web, "PATIENCE_S", 0.4):
            answer = run(["convert", "m.onnx", "--cache", url], here, folder.with_suffix(".txt"), is_bounded=True)
        if answer.fault or answer.code != 0:
            return answer.fault or f"ended with {answer.code}: {last_line(answer.text)}"
        return "" if (folder / "m.ort").read_bytes() == right else "gave other bytes"

    def served(answer: Answer, folder: Path) -> str:
        with serving(shared, {"": answer}) as url:
            return converted(folder, url)

    def listed(change: Change, folder: Path) -> str:
        copied = Path(shutil.copytree(shared, folder / "shared"))
        for path in (copied / LAYOUT / "results").rglob("*"):
            if path.is_file():
                path.write_text(json.dumps(change(json.loads(path.read_bytes()))), encoding="utf-8")
        with serving(copied) as url:
            return converted(folder, url)

    return {
        **{f"answers: {name}": partial(served, answer) for name, answer in HOSTILE.items()},
        **{f"lists: {name}": partial(listed, change) for name, change in LISTS.items()},
    }


def _filled(content: bytes) -> Change:
    """Every file has this content, and its right sha256."""

    def change(document: dict[str, Any]) -> dict[str, Any]:
        files = [[name, len(content), hashlib.sha256(content).hexdigest()] for name, *_ in document["files"]]
        return {**document, "files": files, "inline": b64encode(content * len(files)).decode()}

    return change


def _named(name: str) -> Change:
    """One more file, empty, under this name."""
    return lambda document: {**document, "files": [*document["files"], [name, 0, hashlib.sha256().hexdigest()]]}


LISTS: dict[str, Change] = {
    "empty files": _filled(b""),
    "other JSON": _filled(b"{}"),
    "deep JSON": _filled(b"[" * 20_000),
    "no text": _filled(bytes(range(256))),
    "a name of 5,000 characters": _named("a" * 5000),
    "1,500 folders": _named("a/" * 1500 + "b"),
    "a path that leads out": _named("../../out"),
    "a name that no system has": _named("\ud800"),
    "100,000 files": lambda document: {**document, "files": [["a", 0, "0" * 64]] * 100_000},
    "no list": lambda document: [[[]]],
    "nothing": lambda document: None,
}


def changed(place: Place) -> dict[str, Case]:
    """A byte of a release is flipped, with size and time of modification as before: the next build makes it anew."""
    built, said = place.folder / "published", place.folder / "published.txt"
    built.mkdir()
    (built / "m.onnx").write_bytes(model())
    here = Place(folder=built, cache=new_cache(place.folder / "cache-published"))
    build = ["build", "m.onnx", "-t", "ios", "--set", "target.ios.providers=[]"]
    answer = run(build, here, said)
    if answer.code != 0:
        raise RuntimeError(f"the release that was to be attacked failed: {answer.text}")
    right = digest_of(built / "dist")
    files = sorted(path for path in (built / "dist").rglob("*") if path.is_file() and path.stat().st_size)

    def flipped(path: Path, _: Path) -> str:
        status, content = path.stat(), bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        with path.open("r+b") as file:  # the same inode
            file.write(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        answer = run(build, here, said)
        return answer.fault or ("" if digest_of(built / "dist") == right else "the changed file was kept")

    largest = max(files, key=lambda path: path.stat().st_size)
    return {path.name: partial(flipped, path) for path in (files[0], files[len(files) // 2], files[-1], largest)}
