"""Simulates a year of many projects: weekly releases, a shared cache, a channel of each, and the devices behind it.

usage: python -m benchmarks.year [--projects 500] [--weeks 52] [--devices 10000000]

Measured: a project is built by `mobpack build` on machines that begin empty, with a shared cache: with new weights,
with a new version alone, and unchanged. Its file for phones then gets new weights every week; each is published with
its deltas to a channel for a tenth of the devices, promoted to all, and old files are pruned, by mobpack's own code.
The root is replaced every quarter. Counted: the other projects, their weeks and all devices, from what was measured.
The model is the constants below.
"""

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import mean
from typing import IO

import numpy

from benchmarks.abuse.command import Place, load_modules, new_cache, run
from packager.distribution.channel import clients, pruning, publishing, rotating
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.storage import ChannelFolder, StoredFile
from packager.distribution.deltas.tensors import tensors_of
from packager.files.store import Store
from packager.files.store.pruning import prune as prune_store
from tests.cases import onnx_text
from tests.cases.channel_cases import NOW, Release, make_release, repository_of, root_of, signing_of
from tests.cases.signing_cases import make_key
from tests.cases.store_pruning import ONE, of_size, used

WEEKS = {"new weights": 0.5, "new version": 0.3, "unchanged": 0.2}
"""Share of a project's weeks in which its build finds this."""
MOVED = 0.1
"""Share of the 8-bit weights that a week of training moves, by one step."""
BEHIND = {1: 0.75, 2: 0.10, 3: 0.05, 4: 0.10}
"""Share of the downloads of a release, by how many releases the device is behind; the last has 4 or more."""
CHECKS = 7
"""Requests of a device for the newest metadata in a week."""
KEPT_DOCUMENTS, GRACE_S = 10, 24 * 60 * 60
ROTATED_EVERY = 13
PAGE = 1000
"""Names that a store lists in one request."""
RESULTS = (500, 4000)
"""Sizes of a store that is pruned."""
GROWS = 1.1
"""Ratio of the last quarter to the second one above which a cost grows with the releases before."""
NET = "(float[1, 512] x) => (float[1, 512] y) { a = MatMul (x, u) b = Relu (a) c = MatMul (b, v) y = Relu (c) }"
PROJECT = """
[package]
name = "vision"
version = "1.0.0"
[model.classifier]
path = "m.onnx"
[target.ios]
providers = []
variant = "int8"
[check]
gain = "skip"
[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npz"
"""


@dataclass(frozen=True, kw_only=True)
class Build:
    """Costs of a build on an empty machine."""

    cpu_s: float
    found: int
    """results of the shared cache"""
    asked: int
    new_bytes: int
    """that the shared cache has more than before"""
    new_objects: int


@dataclass(kw_only=True)
class Counting:
    """A folder that counts the requests that a store would get for the same."""

    inner: ChannelFolder
    requests: int = 0
    read_bytes: int = 0
    has_lists: bool = True

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        self.requests += 1
        content = self.inner.read(name, limit_bytes=limit_bytes)
        self.read_bytes += len(content or b"")
        return content

    def opened(self, name: str) -> IO[bytes]:
        self.requests += 1
        file = self.inner.opened(name)
        self.read_bytes += os.fstat(file.fileno()).st_size
        return file

    def create(self, name: str, content: bytes) -> None:
        self.requests += 1
        self.inner.create(name, content)

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        self.requests += 2
        self.inner.replace(name, content, expected=expected)

    def upload(self, name: str, path: Path) -> None:
        self.requests += 1
        self.inner.upload(name, path)

    def listed(self, folder: str) -> list[StoredFile]:
        found = self.inner.listed(folder)
        self.requests += 1 + len(found) // PAGE
        return found

    def delete(self, name: str) -> None:
        self.requests += 1
        self.inner.delete(name)


@dataclass(kw_only=True)
class Channel:
    """A channel over the weeks: each series has a number for each week."""

    series: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.series.setdefault(name, []).append(value)


def built(folder: Path) -> tuple[Mapping[str, Build], bytes]:
    """Costs of a build of each kind, and the model file of phones."""
    load_modules()
    project = folder / "project"
    project.mkdir()
    samples = numpy.random.default_rng(1).standard_normal((32, 512)).astype("float32")
    numpy.savez(project / "samples.npz", x=samples)
    (project / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    found = {}
    for number, kind in enumerate(("first", "unchanged", "new version", "new weights")):
        if kind in ("first", "new weights"):
            weights = {name: onnx_text.weight(512, 512, seed=number + at) for at, name in enumerate("uv")}
            onnx_text.saved(project / "m.onnx", onnx_text.onnx_model(NET, weights=weights))
        if kind == "new version":
            text = PROJECT.replace("1.0.0", "1.0.1")
            (project / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
        found[kind] = _build(project, folder, number)
        print(f"build, {kind}: {found[kind]}", file=sys.stderr, flush=True)
    (model,) = (project / "dist").rglob("model.ort")
    return found, model.read_bytes()


def _build(project: Path, folder: Path, number: int) -> Build:
    """One build by a machine that begins empty."""
    shared = folder / "shared"
    before = _sizes(shared)
    began = sum(os.times()[2:4])
    place = Place(folder=project, cache=new_cache(folder / f"cache-{number}"))
    answer = run(["build", "--cache", str(shared)], place, folder / "said.txt")
    cpu_s = sum(os.times()[2:4]) - began
    if answer.code:
        raise RuntimeError(f"the build failed: {answer.text}")
    words = re.search(r"([0-9]+) of ([0-9]+) results fetched", answer.text)
    after = _sizes(shared)
    return Build(
        cpu_s=cpu_s,
        found=int(words[1]) if words else 0,
        asked=int(words[2]) if words else 0,
        new_bytes=sum(after) - sum(before),
        new_objects=len(after) - len(before),
    )


def _sizes(folder: Path) -> list[int]:
    return [path.stat().st_size for path in folder.rglob("*") if path.is_file()]


def moved(model: bytes, week: int) -> bytes:
    """The model with another week of training in its 8-bit weights."""
    content = numpy.frombuffer(model, numpy.uint8).copy()
    chosen = numpy.random.default_rng(week)
    for each in tensors_of(model):
        if each.width == 1 and each.length > 1 << 10:
            part = content[each.start : each.start + each.length]
            part += (chosen.random(each.length) < MOVED).astype(numpy.uint8)
    return content.tobytes()


def released(folder: Path, version: str, model: bytes) -> Path:
    """A release whose one file for devices is the model."""
    dist = make_release(folder, Release(version=version, weights=model))
    document = json.loads((dist / "manifest.json").read_bytes())
    plan = document["plans"][0]
    plan["choices"] = [each for each in plan["choices"] if each["provider"] == "cpu"]
    (dist / "manifest.json").write_text(json.dumps(document), encoding="utf-8", newline="\n")
    return dist


def year(folder: Path, model: bytes, weeks: int) -> Channel:
    """A channel over the weeks, from its first release."""
    storage = Counting(inner=ChannelFolder(root=folder / "channel"))
    key = make_key(folder)
    place = repository_of(storage, root_of(key, now=NOW, days=800), key)
    found = Channel()
    for week in range(weeks):
        model = moved(model, week)
        if week and week % ROTATED_EVERY == 0:
            signing = signing_of(now=NOW + timedelta(weeks=week))
            root = rotating.rotated(place, {}, (), signing.now, 800)
            rotating.put_root(place, root, signing)
            place = repository_of(storage, root, key)  # a publisher begins at the newest root that it has
        dist = released(folder / "dist", f"1.{week}.0", model)
        _week(place, storage, dist, week, found)
        shutil.rmtree(dist)
        print(f"week {week}: { ({name: round(each[-1], 2) for name, each in found.series.items()}) }", file=sys.stderr)
    clients.verify(place, NOW + timedelta(weeks=weeks - 1))  # as any client of TUF would
    return found


def _week(place: Repository, storage: Counting, dist: Path, week: int, found: Channel) -> None:
    """Publishes a release, gives it to all, and prunes; notes what each cost, and what a device gets."""
    now = NOW + timedelta(weeks=week)
    signing = signing_of(now=now)
    steps: Mapping[str, Callable[[], object]] = {
        "publish": lambda: publishing.publish(place, dist, Terms(percent=10), signing),
        "promote": lambda: publishing.promote(place, signing, percent=100),
        "prune": lambda: pruning.prune([place], documents=KEPT_DOCUMENTS, grace_s=GRACE_S, now=now),
    }
    for name, step in steps.items():
        storage.requests = storage.read_bytes = 0
        began = time.process_time()
        step()
        found.add(f"{name}: CPU seconds", time.process_time() - began)
        found.add(f"{name}: requests", storage.requests)
        found.add(f"{name}: kB read", storage.read_bytes / 1000)
    announced = place.announced()
    assert announced
    root = storage.inner.root
    (file,) = publishing.required(place).models[0].releases[0].files
    newest = [f"{place.channel}/{announced.snapshot.signed.version}.snapshot.json"]
    newest.append(f"{place.channel}/{announced.targets.signed.version}.targets.json")
    newest += [name for name, each in place.hosted(publishing.required(place)).items() if each.content is not None]
    found.add("device: bytes of a check", (root / place.pointer).stat().st_size)
    found.add("device: bytes of new metadata", sum((root / name).stat().st_size for name in newest))
    found.add("device: bytes of the file", file.file.size_bytes)
    found.add("device: bytes of the newest delta", file.file.deltas[0].size_bytes if file.file.deltas else 0)
    found.add("device: releases with a delta", len(file.file.deltas))
    stored = _sizes(root)
    found.add("store: MB", sum(stored) / 1e6)
    found.add("store: files", len(stored))


def download_bytes(channel: Channel, week: int, *, has_deltas: bool) -> float:
    """Mean bytes of a model that a device downloads in a week."""
    whole, delta, known = (
        channel.series[f"device: {name}"][week]
        for name in ("bytes of the file", "bytes of the newest delta", "releases with a delta")
    )
    if not has_deltas:
        return whole
    # A delta over n releases is counted as n times the one over one: an upper limit for weights that move.
    return sum(share * (min(delta * by, whole) if by <= known else whole) for by, share in BEHIND.items())


def draws(projects: int, weeks: int) -> Counter[str]:
    """Weeks of all projects by what a build finds; the first one is new."""
    chosen = random.Random(0)
    kinds = chosen.choices(list(WEEKS), list(WEEKS.values()), k=projects * (weeks - 1))
    return Counter({"first": projects, **Counter(kinds)})


def quarters(series: Sequence[float]) -> tuple[float, float]:
    """Means of the second quarter and of the last one: in the first, a channel has fewer releases than it keeps."""
    size = len(series) // 4
    return mean(series[size : 2 * size]), mean(series[-size:])


def growth(channel: Channel) -> bool:
    """Prints what a release costs in the second quarter and in the last one; whether anything grows."""
    print("| a week of one channel costs | second quarter | last quarter | last / second |\n|---|---|---|---|")
    grows = False
    for name, series in channel.series.items():
        early, late = quarters(series)
        ratio = late / early if early else 1.0
        is_time = name.endswith("seconds")  # other work on the machine is in them
        grows |= ratio > GROWS and not is_time
        print(f"| {name} | {early:,.2f} | {late:,.2f} | {ratio:.2f} |")
    return grows


def prunings(folder: Path, counts: Sequence[int]) -> list[float]:
    """CPU milliseconds for each result of a machine's own store that is removed, by the number of results there."""
    found = []
    for count in counts:
        store = Store(folder / f"store-{count}")
        for number in range(count):
            made = store.results(ONE, number, of_size(100))
            used(made, 2 + number / count)
        began = time.process_time()
        removed = prune_store(store, max_bytes=0)
        assert len(removed) == count
        found.append((time.process_time() - began) / count * 1000)
    return found


def costs(builds: Mapping[str, Build], channel: Channel, projects: int, weeks: int, devices: int) -> None:
    """Prints the sums of a year."""
    kinds = draws(projects, weeks)
    releases = sum(count for kind, count in kinds.items() if kind != "unchanged")
    with_cache = sum(builds[kind].cpu_s * count for kind, count in kinds.items()) / 3600
    without = builds["first"].cpu_s * kinds.total() / 3600
    asked = sum(builds[kind].asked * count for kind, count in kinds.items())
    hits = sum(builds[kind].found * count for kind, count in kinds.items())
    cache_bytes = sum(builds[kind].new_bytes * count for kind, count in kinds.items())
    objects = sum(builds[kind].new_objects * count for kind, count in kinds.items())
    taken = devices * releases / (projects * weeks) / 1e12
    metadata = taken * sum(channel.series["device: bytes of new metadata"])
    whole = taken * sum(download_bytes(channel, week, has_deltas=False) for week in range(weeks))
    less = taken * sum(download_bytes(channel, week, has_deltas=True) for week in range(weeks))
    checks = devices * CHECKS * weeks
    check_bytes = mean(channel.series["device: bytes of a check"]) * checks / 1e12
    print(f"\n| {projects} projects, {weeks} weeks, {devices:,} devices | |\n|---|---|")
    for name, value in {
        "releases": f"{releases:,} of {kinds.total():,} weeks",
        "CPU hours of builds, shared cache": f"{with_cache:,.1f}; without it {without:,.1f}",
        "results that the shared cache had": f"{hits:,} of {asked:,} ({hits / max(1, asked):.0%})",
        "shared cache, nothing removed": f"{cache_bytes / 1e9:,.1f} GB in {objects:,} objects",
        "channels at the end, pruned every week": f"{channel.series['store: MB'][-1] * projects / 1000:,.1f} GB",
        "requests of devices for the newest metadata": f"{checks:,}, each with one for the next root",
        "traffic of these": f"{check_bytes:,.1f} TB",
        "traffic of metadata of releases": f"{metadata:,.1f} TB",
        "traffic of models, whole files": f"{whole:,.1f} TB",
        "traffic of models, with deltas": f"{less:,.1f} TB ({less / whole:.0%})",
    }.items():
        print(f"| {name} | {value} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year")
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--weeks", type=int, default=52)
    parser.add_argument("--devices", type=int, default=10_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        builds, model = built(Path(name))
        channel = year(Path(name), model, asked.weeks)
        pruned = prunings(Path(name), RESULTS)
    print("| a build on an empty machine | CPU | results of the shared cache | sent to it |\n|---|---|---|---|")
    for kind, each in builds.items():
        sent = f"{each.new_bytes / 1e6:.2f} MB, {each.new_objects} objects"
        print(f"| {kind} | {each.cpu_s:.1f} s | {each.found} of {each.asked} | {sent} |")
    costs(builds, channel, asked.projects, asked.weeks, asked.devices)
    print()
    grows = growth(channel)
    few, many = (f"{each:.2f} ms of CPU" for each in pruned)
    print(f"\nA result that a machine's own store removes costs {few} of {RESULTS[0]:,}, {many} of {RESULTS[1]:,}.")
    print(f"\n{'Something grows' if grows else 'Nothing grows'} by more than {GROWS - 1:.0%} with the releases before.")
    return int(grows)


if __name__ == "__main__":
    sys.exit(main())
