"""Fleets whose workers and schedulers are killed, also with a store that fails and is poisoned: nothing that was
finished is lost or done twice, and the bytes are those of `mobpack build`."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib import request

import psutil
import pytest

from packager.files.store.listing import listing_of, packed, written
from packager.files.store.origin import OWN, origin_of
from tests.cases.caches import empty_cache
from tests.cases.fleet_faults import alone, ended, files, fleet, free_port, kill_group, project, refuse_wrong, stored
from tests.cases.signing_cases import make_key
from tests.cases.waiting import HANGS_S, until
from tests.toolchain import stores
from tests.toolchain.unsteady import Behaviour, before

__all__ = ["alone"]


# Machines that share an address alone.

URL = "s3://models/fleet"

SECRET = "the-secret-of-the-bucket"

POISONED = ("build", "compile", "ios")
"""Steps whose results are poisoned: releases, and the models and packages in them."""


class Machine:
    """A machine with a store of its own, and programs that have the credentials of the bucket."""

    def __init__(self, folder: Path, name: str, variables: Mapping[str, str]) -> None:
        self.folder, self.name = folder, name
        self.store = empty_cache(folder / name) / "mobpack" / "store"
        self.variables = {**os.environ, **variables, "XDG_CACHE_HOME": str(folder / name)}

    def start(self, *command: str, within: str = "") -> "subprocess.Popen[bytes]":
        """A program whose output goes to a log of the machine."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            program = [sys.executable, "-P", "-m", *command]
            place = self.folder / within
            return subprocess.Popen(program, cwd=place, env=self.variables, stdout=log, stderr=log, process_group=0)

    def made(self) -> set[str]:
        """`step/key` of each result that was made here, of those that machines share."""
        entries = [path.parent for path in self.store.glob("[a-z]*/*/index.json")]
        own = [entry for entry in entries if origin_of(entry) is None and not (entry / OWN).exists()]
        return {entry.relative_to(self.store).as_posix() for entry in own}


def shared(address: str) -> dict[str, str]:
    """`step/key` of each result in the bucket -> the name of its list."""
    with request.urlopen(f"{address}/models?list-type=2&prefix=fleet/") as answer:
        names = re.findall(r"<Key>(fleet/[^<]+/results/[^<]+)</Key>", answer.read().decode())
    return {"/".join(name.split("/")[-2:]): name for name in names}


def poison(address: str, entry: str, name: str, source: Path, folder: Path) -> None:
    """Replaces a result in the bucket by other bytes with a list that is right, as anybody can who may write there."""
    for path in source.rglob("*"):
        if path.is_file():
            copy = folder / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes()[:-1] + b"!")
    step, key = entry.split("/")
    listing = listing_of(step, key, folder)
    assert listing
    blobs = {each.sha256: (folder / each.name).read_bytes() for each in listing.large()}
    if listing.pack:
        blobs[listing.pack] = packed(listing, folder)
    for sha256, content in blobs.items():
        put(f"{address}/models/fleet/mobpack-1/blobs/{sha256[:2]}/{sha256}", content)
    put(f"{address}/models/{name}", written(listing))


def put(url: str, content: bytes) -> None:
    headers = {"Authorization": "AWS any:any", "Content-Type": "application/octet-stream"}
    request.urlopen(request.Request(url, data=content, headers=headers, method="PUT")).close()


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[tuple[str, dict[str, str], Behaviour]]:
    """The address of moto's server, the variables of those who get there by way of a server that fails every tenth
    time and is slow to write, and its behaviour."""
    behaviour = Behaviour(fails_every=10, delays_writing_s=0.1)
    (tmp_path / "s3").mkdir()
    with stores.s3(tmp_path / "s3") as store:
        address = store.variables["AWS_ENDPOINT_URL"]
        with before(address, behaviour) as unsteady:
            own = {"AWS_ENDPOINT_URL": unsteady, "AWS_SECRET_ACCESS_KEY": SECRET}
            yield address, {**store.variables, **own}, behaviour


def test_machines_share_an_unsteady_bucket_one_is_lost_and_poison_reaches_no_package(
    tmp_path: Path, alone: dict[str, bytes], bucket: tuple[str, dict[str, str], Behaviour]
) -> None:
    address, variables, behaviour = bucket
    key = make_key(tmp_path / "keys", "cache")
    project(tmp_path)
    for path in (tmp_path / "fleet.toml", tmp_path / "alone" / "mobpack.toml"):
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f'[cache]\ntrust = ["{key.public}"]\n')
    names = ("client", "first", "second", "twin", "fresh")
    given = {**variables, "MOBPACK_CACHE_KEY": str(key.private)}
    client, first, second, twin, fresh = (Machine(tmp_path, name, given) for name in names)
    with ExitStack() as stack:
        scheduler = f"tcp://127.0.0.1:{free_port()}"
        dask = ("dask", "scheduler", "--no-dashboard", "--host", "127.0.0.1", "--port", scheduler.rpartition(":")[2])
        worker = ("dask", "worker", scheduler, "--no-nanny", "--no-dashboard", "--nthreads", "1")
        programs = [client.start(*dask), first.start(*worker), second.start(*worker)]
        for each in programs:
            stack.callback(kill_group, each)
        run = fleet(tmp_path, client.variables, "--scheduler", scheduler, "--cache", URL, "--out", "first-out")
        # It makes some of the same results at the same time.
        double = twin.start("packager.cli", "build", "--cache", URL, within="alone")
        until(lambda: any(name.startswith("fleet/") for name in shared(address)))
        is_first = any(name.startswith("fleet/") for name in first.made())
        lost, left = (programs[1], second) if is_first else (programs[2], first)
        finished, known = {*shared(address)}, left.made()
        kill_group(lost)
        found = ended(run)
        assert double.wait(HANGS_S) == 0
    refuse_wrong(tmp_path, found, "first-out", alone)
    assert files(tmp_path / "alone" / "dist") == alone
    there = shared(address)
    assert finished <= {*there}
    # It may have been making one of these when the other one was killed.
    assert len((left.made() - known) & finished) <= 1
    assert behaviour.failures > 5

    bad = [name for name in there if name.startswith(tuple(f"{step}/" for step in POISONED))]
    for number, name in enumerate(bad):
        places = [each.store / name / "files" for each in (first, second, twin) if (each.store / name).exists()]
        if places:
            poison(address, name, there[name], places[0], tmp_path / "poison" / str(number))
        else:  # a release is sent from the output folder
            put(f"{address}/models/{there[name]}", b"poison")
    again = ended(fleet(tmp_path, fresh.variables, "--workers", "1", "--cache", URL, "--out", "second-out"))
    refuse_wrong(tmp_path, again, "second-out", alone)
    assert files(tmp_path / "second-out" / "one") == files(tmp_path / "first-out" / "one")
    assert fresh.made()
    assert fresh.made() <= {*bad}  # it fetches all others
    assert again["run"]["made"] == len(fresh.made())
    assert again["run"]["warnings"]
    assert all("is not used, and made here instead: it is not signed" in text for text in again["run"]["warnings"])
    assert again["run"]["warnings"][0] in files(tmp_path / "second-out")["fleet.html"].decode()

    secrets = (SECRET.encode(), key.private.read_bytes().split(b"\n")[1])
    told = {name: content for name, content in files(tmp_path).items() if not name.startswith("keys/")}
    assert {"second-out/fleet.json", "second-out/fleet.html", "first.log", "twin.log"} <= {*told}
    assert [name for name, content in told.items() if any(each in content for each in secrets)] == []


def workers_of(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Its workers: copies of a fork server, which has the same command line and is not among them."""
    found: list[psutil.Process] = []
    for pid in psutil.pids():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):  # some of them end meanwhile
            if os.getpgid(pid) == process.pid and is_of_fork_server(each := psutil.Process(pid)):
                found.append(each)
    return found


def is_of_fork_server(process: psutil.Process) -> bool:
    parent = process.parent()
    return parent is not None and "multiprocessing.forkserver" in " ".join(parent.cmdline())


def kill(worker: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        worker.send_signal(signal.SIGKILL)


def test_workers_are_killed_amid_everything_and_two_fleets_share_a_store(
    tmp_path: Path, alone: dict[str, bytes]
) -> None:
    environment = project(tmp_path)
    first = fleet(tmp_path, environment, "--workers", "2", "--out", "first")
    second = fleet(tmp_path, environment, "--workers", "1", "--out", "second")
    root = tmp_path / "cache" / "mobpack" / "store"
    until(lambda: bool(workers_of(first)))
    for each in workers_of(first)[:1]:
        kill(each)  # while it starts
    until(lambda: (root / "fleet").is_dir())
    for _ in range(3):
        if living := workers_of(first):
            kill(random.choice(living))
        time.sleep(1)
    found, other = ended(first), ended(second)
    refuse_wrong(tmp_path, found, "first", alone)
    assert found["run"]["repeated"] == 0
    assert files(tmp_path / "first" / "one") == files(tmp_path / "second" / "one")
    # Each result was made by one of the two fleets, once.
    assert found["run"]["made"] + other["run"]["made"] <= len(stored(tmp_path))
    assert (tmp_path / "first" / "fleet.html").is_file()

    # Nothing has changed: no task is left but those of what failed.
    again = ended(fleet(tmp_path, environment, "--workers", "1", "--out", "first"))
    states = {each["state"] for each in again["projects"] if not each["name"].startswith("broken")}
    assert states == {"unchanged"}
    assert again["run"]["made"] == 0
    assert again["changes"] == []


def test_the_scheduler_is_killed_and_started_again(tmp_path: Path, alone: dict[str, bytes]) -> None:
    environment = project(tmp_path)
    address = f"tcp://127.0.0.1:{free_port()}"
    options = ["--no-dashboard"]
    programs: list[subprocess.Popen[bytes]] = []

    def dask(*command: str) -> "subprocess.Popen[bytes]":
        started = subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", *command, *options],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        programs.append(started)
        return started

    def start_worker() -> "subprocess.Popen[bytes]":
        return dask("worker", address, "--nthreads", "1", "--local-directory", str(tmp_path / "workers"))

    def start_scheduler() -> "subprocess.Popen[bytes]":
        return dask("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])

    try:
        scheduler, worker = start_scheduler(), start_worker()
        run = fleet(tmp_path, environment, "--scheduler", address, "--out", "out")
        root = tmp_path / "cache" / "mobpack" / "store"
        until(lambda: (root / "fleet").is_dir())
        kill_group(scheduler)
        time.sleep(1)
        start_scheduler()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(60)
        start_worker()  # as whatever keeps workers alive does
        found = ended(run)
    finally:
        for each in programs:
            kill_group(each)
    assert found["run"]["scheduler-restarts"] >= 1
    refuse_wrong(tmp_path, found, "out", alone)
    assert found["run"]["repeated"] == 0
    assert found["run"]["made"] <= len(stored(tmp_path))
