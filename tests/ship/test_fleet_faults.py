"""Fleets whose workers and schedulers are killed, also with a store that fails and is poisoned: nothing that was
finished is lost or done twice, and the bytes are those of `mobpack build`."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.cases.fleet_faults import alone, ended, fleet, free_port, kill_group, project, refuse_wrong, stored
from tests.cases.waiting import until

__all__ = ["alone"]


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
