"""One table of what servers, publishers, disks and systems do to devices, and what a device says: for all languages.

Every tale begins with an app that has the release FIRST from the channel, unless it is a `new` one. After each, the
app is started again and must open what it opened last, and an honest document must bring it to the release `ends`.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from packager.distribution import deltas
from packager.signing.envelope import IN_TOTO
from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.cases.delivery_server import (
    HONEST,
    Channel,
    busy,
    claiming,
    dated,
    elsewhere,
    endless,
    expired,
    files_of,
    flipped,
    padded,
    releases,
    silent,
    unchanged,
    without_deltas,
)
from tests.cases.trust_vectors import NEXT, STRANGER
from tests.toolchain.react_native.download.server import Fault, cut, other_bytes, status, whole

HUGE = 3 << 20
"""bytes: more than a document may have"""
ROTTEN = (66_000, 140_000)
"""where a file rots: not in the 64 KiB at its ends"""
UPDATES = 6
"""after which everything that is missing must have come"""
LOADS, FAILS, EXPIRED, WAITS, SAME, FROZEN = "ready", "failed", "expired", "waiting", "up-to-date", "frozen"


class Running(Protocol):
    """A program that runs: `tests/delivery_drivers/`."""

    def ask(self, command: str, /) -> Mapping[str, Any]: ...

    def send(self, command: str, /) -> Mapping[str, Any] | None: ...

    def kill(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Device:
    """A language's program on a device with storage of its own."""

    start: Callable[[], AbstractContextManager[Running]]
    """starts the app, for the first time or again"""
    kept: Callable[[], Path] | None = None
    """the folder with the state; None where it is no folder"""
    follows: bool = False
    """whether the platform follows redirects before the app hears of them, by rules of its own for http"""


@dataclass(kw_only=True)
class Stage:
    """A tale that is told."""

    channel: Channel
    device: Device
    opened: AbstractContextManager[Running] | None = None
    app: Running | None = None
    version: str = BUNDLED
    """what a load must open"""

    def start(self) -> None:
        self.end()
        self.opened = self.device.start()
        self.app = self.opened.__enter__()

    def end(self) -> None:
        if self.opened:
            self.opened.__exit__(None, None, None)
        self.opened = self.app = None

    def ask(self, line: str) -> Mapping[str, Any]:
        assert self.app
        found = self.app.ask(line)
        assert "error" not in found, f"`{line}`: {found}"
        return found

    def update(self, phase: str, version: str, line: str = "update force") -> None:
        """An update ends in a phase, with a version in use, which the next load opens."""
        found = self.ask(line)["states"][MODEL]
        assert (found["phase"], found["version"]) == (phase, version), found
        assert found["reason"] or phase in (LOADS, SAME, FROZEN), f"nobody knows why: {found}"
        self.load(version)

    def load(self, version: str) -> None:
        """A load opens a version and it computes what that one computes."""
        found = self.ask("load")
        source = "bundled" if version == BUNDLED else "updater"
        assert (found["version"], found["source"]) == (version, source), found
        assert found["sum"] == pytest.approx(sum_of(version), abs=0.05), found
        self.version = version

    @property
    def folder(self) -> Path:
        assert self.device.kept
        return self.device.kept()


@dataclass(frozen=True, kw_only=True)
class Tale:
    """A server, publisher or disk does something to a device."""

    name: str
    attack: str
    """row of the table in docs/threats.md that it proves; empty for what is no attack"""
    told: Callable[[Stage], object]
    ends: str = SECOND
    """what an honest document brings afterwards"""
    is_new: bool = False
    """whether the app has nothing from the channel yet"""
    needs_folder: bool = False
    """whether it changes files of the device"""
    needs_https: bool = False
    """whether it is about a server with https"""


def tell(tale: Tale, channel: Channel, device: Device) -> None:
    """Raises AssertionError where the device does something else."""
    channel.reset()
    stage = Stage(channel=channel, device=device)
    try:
        stage.start()
        stage.load(BUNDLED)
        if not tale.is_new:
            stage.update(LOADS, FIRST)
        channel.forget()
        tale.told(stage)
        stage.start()
        stage.load(stage.version)
        channel.reset()
        channel.publish(number=HONEST)
        found = stage.ask("update force")["states"][MODEL]
        assert (found["phase"] in (LOADS, SAME), found["version"]) == (True, tale.ends), found
        stage.load(tale.ends)
    finally:
        stage.end()


def _edited(edit: Callable[[dict[str, Any]], object], phase: str = FAILS) -> Callable[[Stage], None]:
    """A document of the right key that was edited."""

    def told(stage: Stage) -> None:
        stage.channel.publish(edit)
        stage.update(phase, FIRST)

    return told


def _served(serve: Callable[[Channel], object], phase: str = FAILS, version: str = FIRST) -> Callable[[Stage], None]:
    def told(stage: Stage) -> None:
        stage.channel.show(3)
        serve(stage.channel)
        stage.update(phase, version)

    return told


def _without_deltas(
    serve: Callable[[Channel], object], phase: str = FAILS, version: str = FIRST
) -> Callable[[Stage], None]:
    """The whole files are what the server does something with."""

    def told(stage: Stage) -> None:
        stage.channel.publish(without_deltas)
        serve(stage.channel)
        stage.update(phase, version)

    return told


def _broken_off(*faults: Fault) -> Callable[[Stage], None]:
    """The first requests for each file go wrong. Some go on at once, some with the next update: what comes is whole."""

    def told(stage: Stage) -> None:
        stage.channel.publish(without_deltas)
        stage.channel.on_each_blob(*faults)
        for _ in range(UPDATES):
            found = stage.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) in ((LOADS, SECOND), (FAILS, FIRST)), found
            stage.load(found["version"])
            if found["version"] == SECOND:
                return
        raise AssertionError(f"it never came: {found}")

    return told


def _refused_documents(stage: Stage) -> None:
    stage.channel.show(3)
    stage.channel.on_every_document(busy)
    stage.update(FAILS, FIRST)
    stage.channel.reset()
    stage.channel.forget()
    stage.update(WAITS, FIRST, "update")
    assert stage.channel.asked == [], "it asks nothing for some time"


def _http(stage: Stage) -> None:
    channel = stage.channel
    channel.show(3)
    channel.on_every_document(elsewhere(channel.plain.url))
    stage.update(FAILS, FIRST)
    channel.reset()
    channel.show(3)
    channel.on_blobs(elsewhere(channel.plain.url))
    stage.update(FAILS, FIRST)
    assert stage.device.follows or channel.plain.files.requests == [], "nothing is asked without https"


def _loops(stage: Stage) -> None:
    stage.channel.show(3)
    stage.channel.on_every_document(elsewhere(stage.channel.url))
    stage.update(FAILS, FIRST)
    assert stage.device.follows or len(stage.channel.asked) <= 6


def _moved(stage: Stage) -> None:
    channel = stage.channel
    channel.show(3)
    files = channel.address.files
    for path in list(files.by_path):
        files.by_path[f"/moved{path}"] = files.by_path[path]
    channel.on_every_document(elsewhere(f"{channel.url}moved/"))
    channel.on_blobs(elsewhere(f"{channel.url}moved/"))
    stage.update(LOADS, SECOND)


def _rolled_back(stage: Stage) -> None:
    stage.channel.show(3)
    stage.update(LOADS, SECOND)
    stage.channel.show(2)
    stage.update(FAILS, SECOND)
    stage.start()
    stage.update(FAILS, SECOND)


def _forked(stage: Stage) -> None:
    stage.channel.publish(number=2)
    stage.update(FAILS, FIRST)


def _seen_first(stage: Stage) -> None:
    """A document counts as seen before its files have come."""
    stage.channel.publish(without_deltas, number=5)
    stage.channel.on_blobs(status(404))
    stage.update(FAILS, FIRST)
    stage.channel.reset()
    stage.channel.show(3)
    stage.update(FAILS, FIRST)


def _signatures(bundle: bytes, count: int) -> bytes:
    """The bundle with its signature so often."""
    document = json.loads(bundle)
    document["dsseEnvelope"]["signatures"] *= count
    return json.dumps(document).encode()


def _known(stage: Stage) -> None:
    stage.update(SAME, FIRST)
    [request] = stage.channel.address.files.requests
    assert request.headers.get("if-none-match"), request.headers


def _never_new(stage: Stage) -> None:
    stage.channel.on_every_document(unchanged)
    stage.update(FAILS, BUNDLED)


def _expired(stage: Stage) -> None:
    stage.channel.publish(expired)
    stage.update(EXPIRED, FIRST)


def _clock_behind(stage: Stage) -> None:
    """A clock is behind if a document was signed at a later time than it says: what has ended by then has ended."""
    stage.channel.publish(dated(10, 100), number=4)
    stage.update(LOADS, SECOND)
    stage.channel.publish(dated(0, 5), number=5)
    stage.update(EXPIRED, SECOND)
    stage.start()
    stage.update(EXPIRED, SECOND)
    stage.channel.publish(dated(0, 11), number=6)
    stage.update(SAME, SECOND)


def _older_state(stage: Stage) -> None:
    """Apps of before remember no time."""
    path = stage.folder / "state.json"
    state = json.loads(path.read_bytes())
    assert state["seen"].pop("latest") > 0
    path.write_text(json.dumps(state, separators=(",", ":")), encoding="utf-8")
    stage.start()
    stage.load(FIRST)
    _known(stage)


def _mixed(channel: Channel) -> None:
    """Each model file of the newest release is that of the one before, which has the same size."""
    newest, before = channel.models(0), channel.models(1)
    for path in set(newest) - set(before):
        [same] = [
            each for each in set(before) - set(newest) if len(channel.healthy[each]) == len(channel.healthy[path])
        ]
        channel.address.files.by_path[path] = channel.healthy[same]


def _other_deltas(channel: Channel) -> None:
    """Each delta is another one that is right for other files."""
    paths = channel.deltas()
    for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
        channel.address.files.by_path[path] = channel.healthy[other]
    if len(paths) == 1:
        channel.change_blobs(paths, lambda content: content[::-1])


def _bomb(stage: Stage) -> None:
    """Signed deltas that make far more than the file has."""

    def edit(document: dict[str, Any]) -> None:
        for file in files_of(releases(document)[0]):
            for delta in file["deltas"]:
                source = stage.channel.healthy[_path(delta["source"])]
                (folder := Path(stage.channel.published.folder.parent, "bomb")).mkdir(exist_ok=True)
                old, new = folder / "old", folder / "new"
                old.write_bytes(source)
                new.write_bytes(bytes(64 << 20))
                delta.update(stage.channel.put(deltas.make(old, new)))

    stage.channel.publish(edit)
    stage.update(LOADS, SECOND)


def _path(sha256: str) -> str:
    return f"/blobs/sha256/{sha256[:2]}/{sha256}"


def _wrong_numbers(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        newest, before, *_ = releases(document)
        for each in newest["files"]:
            each["golden"] = before["files"][0]["golden"]

    stage.channel.publish(edit)
    stage.update(FAILS, FIRST)
    stage.channel.forget()
    stage.update(SAME, FIRST)
    assert len(stage.channel.asked) == 1, "it is not tried, nor fetched, again"


def _no_model(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        for each in releases(document)[0]["files"]:
            each["data"], each["golden"], each["allowed"] = [], [], []
            each["file"].update(stage.channel.put(b"this is no model" * 1000), deltas=[])

    stage.channel.publish(edit)
    stage.update(FAILS, FIRST)


def _without_samples(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        for each in releases(document)[0]["files"]:
            each["golden"], each["allowed"] = [], []

    stage.channel.publish(edit)
    stage.update(LOADS, SECOND)


def _newest(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: releases(document)[0].update(changes)


def _on_condition(**conditions: object) -> Callable[[Stage], None]:
    def told(stage: Stage) -> None:
        stage.channel.publish(lambda document: releases(document)[0]["conditions"].update(conditions))
        stage.channel.forget()
        stage.ask("metered unknown")
        stage.update(WAITS, FIRST)
        assert len(stage.channel.asked) == 1, "nothing is downloaded meanwhile"
        stage.ask("metered no")

    return told


def _other_runtime(document: dict[str, Any]) -> None:
    for each in releases(document)[0]["files"]:
        each["runtime"] = f"{each['runtime']}.1"
        each["runtime-range"] = ""


def _more_keys(document: dict[str, Any]) -> None:
    document["more"] = {"a": [1]}
    for release in releases(document):
        release["more"] = True
        for each in release["files"]:
            each["more"] = each["file"]["more"] = "more"


def _pinned(stage: Stage) -> None:
    stage.ask(f"pin {MODEL} {FIRST}")
    stage.channel.show(3)
    stage.update(SAME, FIRST)
    stage.start()
    stage.update(SAME, FIRST)
    stage.ask(f"unpin {MODEL}")
    stage.update(LOADS, SECOND)


def _frozen(stage: Stage) -> None:
    stage.ask("freeze")
    stage.channel.show(3)
    stage.start()
    stage.update(FROZEN, FIRST)
    assert stage.channel.asked == []
    stage.ask("unfreeze")
    stage.update(LOADS, SECOND)


def _taken_back(stage: Stage) -> None:
    """The publisher goes back to the release before."""
    stage.channel.show(3)
    stage.update(LOADS, SECOND)
    stage.channel.forget()
    stage.channel.publish(lambda document: releases(document).pop(0))
    stage.update(LOADS, FIRST)
    assert len(stage.channel.asked) == 1, "its files are still there"


def _to_the_start(stage: Stage) -> None:
    stage.channel.publish(lambda document: releases(document).__delitem__(slice(0, 2)))
    found = stage.ask("update force")["states"][MODEL]
    assert (found["phase"] in (LOADS, SAME), found["version"]) == (True, BUNDLED), found
    stage.load(BUNDLED)


def _removed(stage: Stage) -> None:
    stage.ask("remove")
    stage.load(BUNDLED)
    stage.start()
    stage.load(BUNDLED)
    stage.update(LOADS, FIRST)


def _files(stage: Stage, index: int) -> list[Path]:
    """Files on the device of a release: 0 is the newest."""
    found = [stage.folder / "files" / path.rpartition("/")[2] for path in stage.channel.models(index)]
    return [each for each in found if each.exists()]


def _both(stage: Stage) -> None:
    stage.channel.show(3)
    stage.update(LOADS, SECOND)


def _damaged(change: Callable[[Path], object]) -> Callable[[Stage], None]:
    """The files of the newest release are damaged, then those of the one before, too."""

    def told(stage: Stage) -> None:
        _both(stage)
        newest, before = _files(stage, 0), _files(stage, 1)
        assert set(newest) - set(before)
        assert set(before) - set(newest)
        for each in set(newest) - set(before):
            change(each)
        stage.start()
        stage.load(FIRST)
        stage.update(LOADS, SECOND)
        for each in {*_files(stage, 0), *_files(stage, 1)}:
            change(each)
        stage.start()
        stage.load(BUNDLED)

    return told


def _cut_file(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1])


def _rotten_file(path: Path) -> None:
    """Changes bytes that a load leaves to ONNX Runtime: the file says that nobody has written to it."""
    found = path.stat()
    if found.st_size < sum(ROTTEN):
        return
    with path.open("r+b") as file:
        file.seek(ROTTEN[0])
        file.write(b"\xff" * (ROTTEN[1] - ROTTEN[0]))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _changed_file(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def _documents(change: Callable[[Path, Stage], object]) -> Callable[[Stage], None]:
    def told(stage: Stage) -> None:
        found = list((stage.folder / "documents").iterdir())
        assert found
        for each in found:
            change(each, stage)
        stage.start()
        stage.load(BUNDLED)

    return told


def _by_a_stranger(path: Path, stage: Stage) -> None:
    stage.channel.publish(key=STRANGER, number=2)
    path.write_bytes(stage.channel.address.files.by_path["/stable/channel.json"])
    stage.channel.show(2)


def _damaged_state(content: bytes) -> Callable[[Stage], None]:
    def told(stage: Stage) -> None:
        (stage.folder / "state.json").write_bytes(content)
        stage.start()
        stage.load(BUNDLED)
        stage.channel.show(3)
        stage.update(LOADS, SECOND)

    return told


def _left_overs(stage: Stage) -> None:
    """Beginnings of the files that come next, of something else."""
    for path in [*stage.channel.blobs(), *stage.channel.deltas()]:
        name = path.rpartition("/")[2]
        (stage.folder / "files" / f"{name}.part").write_bytes(b"something else" * 10)
    (stage.folder / "state.json.part").write_bytes(b"{")
    stage.channel.show(3)
    stage.update(LOADS, SECOND)


TALES: tuple[Tale, ...] = (
    Tale(
        name="the document is not there", attack="no answer", told=_served(lambda c: c.on_every_document(status(404)))
    ),
    Tale(name="the server fails", attack="no answer", told=_served(lambda c: c.on_every_document(status(500)))),
    Tale(name="the server is busy", attack="no answer", told=_refused_documents),
    Tale(name="the document stalls", attack="no answer", told=_served(lambda c: c.on_every_document(silent))),
    Tale(
        name="the document is cut",
        attack="cut and wrong lengths",
        told=_served(lambda c: c.on_every_document(cut(1000))),
    ),
    Tale(
        name="the document has a wrong length",
        attack="cut and wrong lengths",
        told=_served(lambda c: c.on_every_document(claiming(1000))),
    ),
    Tale(name="the document has no end", attack="endless data", told=_served(lambda c: c.on_every_document(endless))),
    Tale(
        name="the document is huge",
        attack="endless data",
        told=_served(lambda c: c.rewrite(lambda content: content[:1] + b" " * HUGE + content[1:])),
    ),
    Tale(name="a redirect to http", attack="another server", told=_http, needs_https=True),
    Tale(name="redirects without end", attack="another server", told=_loops),
    Tale(name="everything has moved", attack="", told=_moved),
    Tale(name="an older document", attack="rollback", told=_rolled_back),
    Tale(name="an older document after a failed download", attack="rollback", told=_seen_first),
    Tale(name="another document of the same number", attack="reused number", told=_forked),
    Tale(name="a stranger's key", attack="arbitrary software", told=_served(lambda c: c.publish(key=STRANGER))),
    Tale(
        name="a key that the app does not know yet", attack="a stolen key", told=_served(lambda c: c.publish(key=NEXT))
    ),
    Tale(
        name="a document changed after signing",
        attack="arbitrary software",
        told=_served(lambda c: c.publish(change=flipped)),
    ),
    Tale(
        name="no signature",
        attack="arbitrary software",
        told=_served(lambda c: c.rewrite(lambda content: _signatures(content, 0))),
    ),
    Tale(
        name="two signatures",
        attack="arbitrary software",
        told=_served(lambda c: c.rewrite(lambda content: _signatures(content, 2))),
    ),
    Tale(
        name="a signature of another kind", attack="arbitrary software", told=_served(lambda c: c.publish(kind=IN_TOTO))
    ),
    Tale(
        name="the document of another package",
        attack="mix and match",
        told=_edited(lambda d: d.update(package="other")),
    ),
    Tale(
        name="the document of another channel", attack="mix and match", told=_edited(lambda d: d.update(channel="beta"))
    ),
    Tale(name="a newer schema", attack="hostile text", told=_edited(lambda d: d.update({"schema-version": 2}))),
    Tale(name="no number", attack="hostile text", told=_edited(lambda d: d.pop("number"))),
    Tale(name="a number as text", attack="hostile text", told=_edited(lambda d: d.update(number="4"))),
    Tale(name="no models", attack="hostile text", told=_edited(lambda d: d.pop("models"))),
    Tale(
        name="a path for a digest",
        attack="paths",
        told=_edited(lambda d: files_of(releases(d)[0])[0].update(sha256="../" * 21 + "a")),
    ),
    Tale(name="deep text", attack="hostile text", told=_served(lambda c: c.sign(b"[" * 100_000))),
    Tale(name="nothing", attack="hostile text", told=_served(lambda c: c.rewrite(lambda content: b""))),
    Tale(name="unknown keys", attack="", told=_served(lambda c: c.publish(_more_keys), LOADS, SECOND)),
    Tale(name="an expired document", attack="freeze", told=_expired),
    Tale(name="a clock that is behind a document", attack="freeze", told=_clock_behind),
    Tale(name="the same document again", attack="", told=_known),
    Tale(name="a state without the time of a document", attack="", told=_older_state, needs_folder=True),
    Tale(
        name="nothing new, said to somebody who has nothing",
        attack="no answer",
        told=_never_new,
        is_new=True,
    ),
    Tale(name="files are not there", attack="no answer", told=_served(lambda c: c.on_blobs(status(404)))),
    Tale(
        name="a file is cut once",
        attack="cut and wrong lengths",
        told=_broken_off(cut(700)),
    ),
    Tale(
        name="a file goes on without ranges",
        attack="cut and wrong lengths",
        told=_broken_off(cut(700), whole),
    ),
    Tale(
        name="a file goes on with the wrong range",
        attack="cut and wrong lengths",
        told=_broken_off(cut(700), other_bytes),
    ),
    Tale(
        name="a file is longer than signed",
        attack="endless data",
        told=_without_deltas(lambda c: c.on_blobs(padded(1000))),
    ),
    Tale(name="a file has no end", attack="endless data", told=_without_deltas(lambda c: c.on_blobs(endless))),
    Tale(
        name="a file was shortened",
        attack="cut and wrong lengths",
        told=_without_deltas(lambda c: c.change_blobs(c.blobs(), lambda content: content[:-100])),
    ),
    Tale(
        name="a file was changed",
        attack="arbitrary software",
        told=_without_deltas(lambda c: c.change_blobs(c.blobs(), flipped)),
    ),
    Tale(name="a file of another release", attack="mix and match", told=_without_deltas(_mixed)),
    Tale(
        name="a delta was changed",
        attack="arbitrary software",
        told=_served(lambda c: c.change_blobs(c.deltas(), flipped), LOADS, SECOND),
    ),
    Tale(name="a delta for other files", attack="mix and match", told=_served(_other_deltas, LOADS, SECOND)),
    Tale(
        name="deltas are not there", attack="no answer", told=_served(lambda c: c.on_deltas(status(404)), LOADS, SECOND)
    ),
    Tale(
        name="a delta is longer than signed",
        attack="endless data",
        told=_served(lambda c: c.on_deltas(padded(1000)), LOADS, SECOND),
    ),
    Tale(name="a delta that makes 64 MiB", attack="endless data", told=_bomb),
    Tale(name="a release with wrong numbers", attack="a bad release", told=_wrong_numbers, ends=FIRST),
    Tale(name="a release that is no model", attack="a bad release", told=_no_model),
    Tale(name="a release without samples", attack="", told=_without_samples),
    Tale(name="a release for other code", attack="wrong software", told=_edited(_newest(contract="0" * 64), SAME)),
    Tale(
        name="a release for a newer app", attack="wrong software", told=_edited(_newest(**{"min-app": "2.0.0"}), SAME)
    ),
    Tale(name="a release for another runtime", attack="wrong software", told=_edited(_other_runtime, SAME)),
    Tale(
        name="a release for no device yet",
        attack="",
        told=_edited(lambda d: releases(d)[0]["rollout"].update(percent=0), SAME),
    ),
    Tale(name="a release that waits for wifi", attack="", told=_on_condition(wifi=True)),
    Tale(name="a release that waits for storage", attack="", told=_on_condition(**{"free-bytes": 2**53 - 1})),
    Tale(name="the app pins a version", attack="", told=_pinned),
    Tale(name="the app freezes", attack="", told=_frozen),
    Tale(name="the publisher goes back", attack="a bad release", told=_taken_back),
    Tale(name="the publisher goes back to the app's own", attack="a bad release", told=_to_the_start),
    Tale(name="the app removes all", attack="", told=_removed),
    Tale(name="files lose their end", attack="damaged storage", told=_damaged(_cut_file), needs_folder=True),
    Tale(name="files change", attack="damaged storage", told=_damaged(_changed_file), needs_folder=True),
    Tale(name="files rot", attack="damaged storage", told=_damaged(_rotten_file), needs_folder=True),
    Tale(name="files are gone", attack="damaged storage", told=_damaged(Path.unlink), needs_folder=True),
    Tale(
        name="kept documents are damaged",
        attack="damaged storage",
        told=_documents(lambda path, _: path.write_bytes(path.read_bytes()[:-50])),
        needs_folder=True,
    ),
    Tale(
        name="kept documents are a stranger's",
        attack="damaged storage",
        told=_documents(_by_a_stranger),
        needs_folder=True,
    ),
    Tale(name="the state is empty", attack="damaged storage", told=_damaged_state(b""), needs_folder=True),
    Tale(name="the state is no JSON", attack="damaged storage", told=_damaged_state(b"\0" * 500), needs_folder=True),
    Tale(name="the state is another value", attack="damaged storage", told=_damaged_state(b"[1]"), needs_folder=True),
    Tale(name="parts of something else", attack="damaged storage", told=_left_overs, needs_folder=True),
)
