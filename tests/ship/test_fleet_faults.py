"""Fleets whose workers and schedulers are killed, also with a store that fails and is poisoned: nothing that was
finished is lost or done twice, and the bytes are those of `mobpack build`."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from tests.cases.fleet_faults import alone, ended, files, fleet, free_port, kill_group, project, refuse_wrong
from tests.cases.waiting import until

__all__ = ["alone"]


def stored(folder: Path) -> set[str]:
    """`step/key` of every result in the store."""
    root = folder / "cache" / "mobpack" / "store"
    steps = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "scratch"))]
    return {f"{step.name}/{entry.name}" for step in steps for entry in step.iterdir()}


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
