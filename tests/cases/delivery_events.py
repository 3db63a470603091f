"""Events of scenarios of delivery: servers, publishers, disks and systems do them to a device."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.cases.channel_cases import NO_TIMES
from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND
from tests.cases.delivery_server import (
    Channel,
    busy,
    dated,
    elsewhere,
    expired,
    files_of,
    releases,
    unchanged,
    without_deltas,
)
from tests.cases.delivery_stage import EXPIRED, FAILS, FROZEN, LOADS, SAME, WAITS, Stage
from tests.cases.delta_vectors import END_BYTE, insert, packed
from tests.cases.trust_vectors import STRANGER, sign
from tests.cases.tuf_repository import canonical
from tests.toolchain.react_native.download.server import Fault, cut, status

BOMB = 8 << 20
"""bytes: far more than a file has"""
ROTTEN = (66_000, 140_000)
"""where a file rots: not in the 64 KiB at its ends"""
UPDATES = 6
"""after which everything that is missing must have come"""


def edited(edit: Callable[[dict[str, Any]], object], phase: str = FAILS) -> Callable[[Stage], None]:
    """A document of the right key that was edited."""

    def happens(stage: Stage) -> None:
        stage.channel.publish(edit)
        stage.update(phase, FIRST)

    return happens


def no_times(stage: Stage) -> None:
    for each in NO_TIMES:
        edited(partial(dict[str, Any].update, expires=each))(stage)


def served(serve: Callable[[Channel], object], phase: str = FAILS, version: str = FIRST) -> Callable[[Stage], None]:
    def happens(stage: Stage) -> None:
        stage.channel.publish()
        serve(stage.channel)
        stage.update(phase, version)

    return happens


def as_whole_files(
    serve: Callable[[Channel], object], phase: str = FAILS, version: str = FIRST
) -> Callable[[Stage], None]:
    """The whole files are what the server does something with."""

    def happens(stage: Stage) -> None:
        stage.channel.publish(without_deltas)
        serve(stage.channel)
        stage.update(phase, version)

    return happens


def broken_off(*faults: Fault) -> Callable[[Stage], None]:
    """The first requests for each file go wrong. Some go on at once, some with the next update: what comes is whole."""

    def happens(stage: Stage) -> None:
        stage.channel.publish(without_deltas)
        stage.channel.on_each_blob(*faults)
        for _ in range(UPDATES):
            found = stage.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) in ((LOADS, SECOND), (FAILS, FIRST)), found
            stage.load(found["version"])
            if found["version"] == SECOND:
                return
        raise AssertionError(f"it never came: {found}")

    return happens


def refused_documents(stage: Stage) -> None:
    stage.channel.publish()
    stage.channel.on_every_document(busy)
    stage.update(FAILS, FIRST)
    stage.channel.reset()
    stage.channel.forget()
    stage.update(WAITS, FIRST, "update")
    assert stage.channel.asked == [], "it asks nothing for some time"


def http(stage: Stage) -> None:
    channel = stage.channel
    channel.publish()
    channel.on_every_document(elsewhere(channel.plain.url))
    stage.update(FAILS, FIRST)
    channel.reset()
    channel.publish()
    channel.on_blobs(elsewhere(channel.plain.url))
    stage.update(FAILS, FIRST)
    assert stage.device.follows or channel.plain.files.requests == [], "nothing is asked without https"


def loops(stage: Stage) -> None:
    stage.channel.publish()
    stage.channel.on_every_document(elsewhere(stage.channel.url))
    stage.update(FAILS, FIRST)
    assert stage.device.follows or len(stage.channel.asked) <= 7


def moved(stage: Stage) -> None:
    channel = stage.channel
    channel.publish()
    files = channel.address.files
    for path in list(files.by_path):
        files.by_path[f"/moved{path}"] = files.by_path[path]
    channel.on_every_document(elsewhere(f"{channel.url}moved/"))
    channel.on_blobs(elsewhere(f"{channel.url}moved/"))
    stage.update(LOADS, SECOND)


def older(stage: Stage) -> None:
    """In this start of the app, and in the next one."""
    stage.channel.publish()
    stage.update(LOADS, SECOND)
    stage.channel.publish(number=stage.channel.number - 1)
    stage.update(FAILS, SECOND)
    stage.start()
    stage.update(FAILS, SECOND)


def forked(stage: Stage) -> None:
    stage.channel.publish(number=2)
    stage.update(SAME, FIRST)  # a timestamp of the same version is not read


def seen_first(stage: Stage) -> None:
    """A document counts as seen before its files have come."""
    stage.channel.publish(without_deltas, number=stage.channel.number + 2)
    stage.channel.on_blobs(status(404))
    stage.update(FAILS, FIRST)
    stage.channel.reset()
    stage.channel.publish(number=stage.channel.number + 1)
    stage.update(FAILS, FIRST)
    stage.channel.number += 2


def signatures(content: bytes, count: int) -> bytes:
    """A signed file with its signature so often."""
    document = json.loads(content)
    document["signatures"] *= count
    return json.dumps(document).encode()


def known(stage: Stage) -> None:
    stage.update(SAME, FIRST)
    assert [each.rpartition("/")[2] for each in stage.channel.asked] == ["2.root.json", "timestamp.json"]


def never_new(stage: Stage) -> None:
    stage.channel.on_every_document(unchanged)
    stage.update(FAILS, BUNDLED)


def ended(stage: Stage) -> None:
    stage.channel.publish(expired)
    stage.update(EXPIRED, FIRST)


def clock_behind(stage: Stage) -> None:
    """A clock is behind if a document was signed at a later time than it says: what has ended by then has ended."""
    stage.channel.publish(dated(10, 100))
    stage.update(LOADS, SECOND)
    stage.channel.publish(dated(0, 5))
    stage.update(EXPIRED, SECOND)
    stage.start()
    stage.update(EXPIRED, SECOND)
    stage.channel.publish(dated(0, 11))
    stage.update(SAME, SECOND)


def mixed(channel: Channel) -> None:
    """Each model file of the newest release is that of the one before, which has the same size."""
    newest, before = channel.models(0), channel.models(1)
    for path in set(newest) - set(before):
        [same] = [
            each for each in set(before) - set(newest) if len(channel.healthy[each]) == len(channel.healthy[path])
        ]
        channel.address.files.by_path[path] = channel.healthy[same]


def other_deltas(channel: Channel) -> None:
    """Each delta is another one that is right for other files."""
    paths = channel.deltas()
    for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
        channel.address.files.by_path[path] = channel.healthy[other]
    if len(paths) == 1:
        channel.change_blobs(paths, lambda content: content[::-1])


def bomb(stage: Stage) -> None:
    """Signed deltas that make far more than the file has."""

    def edit(document: dict[str, Any]) -> None:
        for file in files_of(releases(document)[0]):
            for delta in file["deltas"]:
                source = stage.channel.healthy[stage.channel.path_of(delta["source"])]
                delta.update(stage.channel.put(packed(insert(bytes(BOMB)) + END_BYTE, source, bytes(BOMB))))

    stage.channel.publish(edit)
    stage.update(LOADS, SECOND)


def _files_asked(stage: Stage) -> list[str]:
    """Paths of the files of releases that were asked for since the last look."""
    asked = stage.channel.asked
    assert asked, "nothing was asked for at all"
    return [each for each in asked if stage.channel.is_file(each)]


def wrong_numbers(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        newest, before, *_ = releases(document)
        for each in newest["files"]:
            each["golden"] = before["files"][0]["golden"]

    stage.channel.publish(edit)
    stage.update(FAILS, FIRST)
    stage.channel.forget()
    stage.update(SAME, FIRST)
    assert not _files_asked(stage), "it is not tried, nor fetched, again"


def no_model(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        for each in releases(document)[0]["files"]:
            each["data"], each["golden"], each["allowed"] = [], [], []
            each["file"].update(stage.channel.put(b"this is no model" * 1000), deltas=[])

    stage.channel.publish(edit)
    stage.update(FAILS, FIRST)


def without_samples(stage: Stage) -> None:
    def edit(document: dict[str, Any]) -> None:
        for each in releases(document)[0]["files"]:
            each["golden"], each["allowed"] = [], []

    stage.channel.publish(edit)
    stage.update(LOADS, SECOND)


def on_condition(**conditions: object) -> Callable[[Stage], None]:
    def happens(stage: Stage) -> None:
        stage.channel.publish(lambda document: releases(document)[0]["conditions"].update(conditions))
        stage.channel.forget()
        stage.ask("metered unknown")
        stage.update(WAITS, FIRST)
        assert not _files_asked(stage), "nothing is downloaded meanwhile"
        stage.ask("metered no")

    return happens


def other_runtime(document: dict[str, Any]) -> None:
    for each in releases(document)[0]["files"]:
        each["runtime"] = f"{each['runtime']}.1"
        each["runtime-range"] = ""


def more_keys(document: dict[str, Any]) -> None:
    document["more"] = {"a": [1]}
    for release in releases(document):
        release["more"] = True
        for each in release["files"]:
            each["more"] = each["file"]["more"] = "more"


def pinned(stage: Stage) -> None:
    stage.ask(f"pin {MODEL} {FIRST}")
    stage.channel.publish()
    stage.update(SAME, FIRST)
    stage.start()
    stage.update(SAME, FIRST)
    stage.ask(f"unpin {MODEL}")
    stage.update(LOADS, SECOND)


def frozen(stage: Stage) -> None:
    stage.ask("freeze")
    stage.channel.publish()
    stage.start()
    stage.update(FROZEN, FIRST)
    assert stage.channel.asked == []
    stage.ask("unfreeze")
    stage.update(LOADS, SECOND)


def taken_back(stage: Stage) -> None:
    """The publisher goes back to the release before."""
    stage.channel.publish()
    stage.update(LOADS, SECOND)
    stage.channel.forget()
    stage.channel.publish(lambda document: releases(document).pop(0))
    stage.update(LOADS, FIRST)
    assert not _files_asked(stage), "its files are still there"


def to_the_start(stage: Stage) -> None:
    stage.channel.publish(lambda document: releases(document).__delitem__(slice(0, 2)))
    found = stage.ask("update force")["states"][MODEL]
    assert (found["phase"] in (LOADS, SAME), found["version"]) == (True, BUNDLED), found
    stage.load(BUNDLED)


def removed(stage: Stage) -> None:
    stage.ask("remove")
    stage.load(BUNDLED)
    stage.start()
    stage.load(BUNDLED)
    stage.channel.publish(lambda document: releases(document).pop(0))
    stage.update(LOADS, FIRST)


def _files(stage: Stage, index: int) -> list[Path]:
    """Files on the device of a release: 0 is the newest."""
    found = [stage.folder / "files" / path[-64:] for path in stage.channel.models(index)]
    return [each for each in found if each.exists()]


def _both(stage: Stage) -> None:
    stage.channel.publish()
    stage.update(LOADS, SECOND)


def damaged(change: Callable[[Path], object]) -> Callable[[Stage], None]:
    """The files of the newest release are damaged, then those of the one before, too."""

    def happens(stage: Stage) -> None:
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

    return happens


def cut_file(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1])


def rotten_file(path: Path) -> None:
    """Changes bytes that a load leaves to ONNX Runtime: the file says that nobody has written to it."""
    found = path.stat()
    if found.st_size < sum(ROTTEN):
        return
    with path.open("r+b") as file:
        file.seek(ROTTEN[0])
        file.write(b"\xff" * (ROTTEN[1] - ROTTEN[0]))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def changed_file(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def documents(change: Callable[[Path, Stage], object]) -> Callable[[Stage], None]:
    def happens(stage: Stage) -> None:
        found = [each for folder in ("metadata", "releases", "vouchers") for each in (stage.folder / folder).glob("*")]
        assert found
        for each in found:
            change(each, stage)
        stage.start()
        stage.load(BUNDLED)

    return happens


def forged(file: dict[str, Any]) -> dict[str, Any]:
    """The same metadata with a stranger's signatures, also where a file has the metadata of several roles."""
    if "roles" in file:
        roles = [{**each, "text": json.dumps(forged(json.loads(each["text"])))} for each in file["roles"]]
        return {**file, "roles": roles}
    if "signed" not in file:
        return file
    signature = sign(canonical(file["signed"]), STRANGER).hex()
    return {**file, "signatures": [{**each, "sig": signature} for each in file["signatures"]]}


def by_a_stranger(path: Path, stage: Stage) -> None:
    path.write_text(json.dumps(forged(json.loads(path.read_bytes()))), encoding="utf-8")


def damaged_state(change: Callable[[bytes], bytes], *, is_known: bool = False) -> Callable[[Stage], None]:
    """`is_known` says that the rest of the state still names the newest document that the device has seen."""

    def happens(stage: Stage) -> None:
        seen, path = stage.channel.number, stage.folder / "state.json"
        path.write_bytes(change(path.read_bytes()))
        stage.start()
        stage.load(BUNDLED)
        if is_known:
            stage.channel.publish(number=seen - 1)
            stage.update(FAILS, BUNDLED)
        stage.channel.publish()
        stage.update(LOADS, SECOND)

    return happens


def left_overs(stage: Stage) -> None:
    """Beginnings of the files that come next, of something else."""
    for path in [*stage.channel.blobs(), *stage.channel.deltas()]:
        name = path[-64:]
        (stage.folder / "files" / f"{name}.part").write_bytes(b"something else" * 10)
    (stage.folder / "state.json.part").write_bytes(b"{")
    stage.channel.publish()
    stage.update(LOADS, SECOND)


BY_NOBODY = {"start": "", "process": 0, "began": 0, "left": False}
"""what languages write of the start in which an attempt has ended"""


def ended_twice(kind: str) -> Callable[[Stage], None]:
    """The record says that the newest release has ended the app twice: a page cannot be told so."""

    def happens(stage: Stage) -> None:
        version, before = (SECOND, FIRST) if kind == "trying" else (FIRST, BUNDLED)
        path = stage.folder / "state.json"
        state = json.loads(path.read_bytes())
        state["models"][MODEL][kind] = {"version": version, "count": 2, **BY_NOBODY}
        path.write_text(json.dumps(state, separators=(",", ":")), encoding="utf-8")
        stage.start()
        if kind == "trying":
            stage.channel.publish()
            found = stage.ask("update force")["states"][MODEL]
            assert (found["phase"] in (FAILS, SAME), found["version"]) == (True, before), found
        stage.load(before)
        stage.channel.publish(lambda document: releases(document).__delitem__(slice(int(kind != "trying"))))
        stage.update(SAME, before)

    return happens


def is_cut(*faults: Fault) -> Callable[[Stage], None]:
    return broken_off(cut(700), *faults)


def rewritten(change: Callable[[bytes], bytes]) -> Callable[[Stage], None]:
    return served(lambda channel: channel.rewrite(change))


def every(fault: Fault) -> Callable[[Stage], None]:
    return served(lambda channel: channel.on_every_document(fault))


def release(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: releases(document)[0].update(changes)
