"""Fleets whose workers and schedulers are killed: nothing that was finished is lost or done twice, and the bytes are
those of `mobpack build`."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import psutil
import pytest

from tests.caches import empty_cache
from tests.onnx_text import linear, saved

pytestmark = [pytest.mark.by_content, pytest.mark.processes]

FLEET = """
[fleet]
models = ["models/*.onnx"]
variants = ["source", "int8"]

[package]
version = "2.0.0"

[check]
gain = "skip"

[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npz"

[target.ios]
"""
PROJECT = """
[package]
name = "one-int8"
version = "2.0.0"

[model.one]
path = "../models/one.onnx"

[check]
gain = "skip"

[variant.int8]
quantizer = "static-qdq"
calibration = "../samples.npz"

[target.ios]
variant = "int8"
"""
PATIENCE_S = 240


def project(folder: Path) -> dict[str, str]:
    """A fleet of a model in two variants, and a file that is no model; returns the environment of its store."""
    saved(folder / "models" / "one.onnx", linear())
    (folder / "models" / "broken.onnx").write_bytes(b"no model")
    numpy.savez(folder / "samples.npz", x=numpy.ones((4, 1, 64), numpy.float32))
    (folder / "fleet.toml").write_text(FLEET, encoding="utf-8", newline="\n")
    (folder / "alone").mkdir()
    (folder / "alone" / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    return {**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache"))}


def fleet(folder: Path, environment: dict[str, str], *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "packager.cli", "fleet", "--json", *options]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3, err  # of the file that is no model
    found: dict[str, Any] = json.loads(out)
    return found


def stored(folder: Path) -> set[str]:
    """`step/key` of every result in the store."""
    root = folder / "cache" / "mobpack" / "store"
    steps = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "scratch"))]
    return {f"{step.name}/{entry.name}" for step in steps for entry in step.iterdir()}


def wait_until(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def workers_of(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Its workers: copies of a fork server, which has the same command line and is not among them."""
    servers = [each for each in psutil.Process(process.pid).children() if "forkserver" in " ".join(each.cmdline())]
    return [worker for each in servers for worker in each.children()]


def refuse_wrong(folder: Path, found: dict[str, Any], out: str, environment: dict[str, str]) -> None:
    """The states of all projects; the bytes of one beside those of `mobpack build` in another store."""
    states = {each["name"]: each["state"] for each in found["projects"]}
    assert states == {
        "broken": "failed",
        "broken-int8": "failed",
        "one": "built",
        "one-int8": "built",
    }
    assert "not a complete ONNX file" in found["projects"][0]["message"]
    assert found["run"]["repeated"] == 0
    own = {**environment, "XDG_CACHE_HOME": str(empty_cache(folder / "own-cache"))}
    command = [sys.executable, "-m", "packager.cli", "build"]
    subprocess.run(command, cwd=folder / "alone", env=own, check=True, capture_output=True, timeout=PATIENCE_S)
    assert files(folder / out / "one-int8") == files(folder / "alone" / "dist")


def test_workers_are_killed_amid_everything_and_two_fleets_share_a_store(tmp_path: Path) -> None:
    environment = project(tmp_path)
    first = fleet(tmp_path, environment, "--workers", "2", "--out", "first")
    second = fleet(tmp_path, environment, "--workers", "1", "--out", "second")
    root = tmp_path / "cache" / "mobpack" / "store"
    wait_until(lambda: (root / "fleet").is_dir())
    for _ in range(3):
        if living := workers_of(first):
            with_luck = random.choice(living)
            with_luck.send_signal(signal.SIGKILL)
        time.sleep(1)
    found, other = ended(first), ended(second)
    refuse_wrong(tmp_path, found, "first", environment)
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


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_the_scheduler_is_killed_and_started_again(tmp_path: Path) -> None:
    environment = project(tmp_path)
    address = f"tcp://127.0.0.1:{free_port()}"
    options = ["--no-dashboard"]
    programs: list[subprocess.Popen[bytes]] = []

    def dask(*command: str) -> "subprocess.Popen[bytes]":
        started = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, *options],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
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
        wait_until(lambda: (root / "fleet").is_dir())
        scheduler.kill()
        time.sleep(1)
        start_scheduler()
        end = time.monotonic() + 10
        while worker.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        start_worker()  # as whatever keeps workers alive does
        found = ended(run)
    finally:
        for each in programs:
            for child in psutil.Process(each.pid).children(recursive=True) if each.poll() is None else []:
                child.kill()
            each.kill()
            each.wait()
    assert found["run"]["scheduler-restarts"] >= 1
    refuse_wrong(tmp_path, found, "out", environment)
    assert found["run"]["made"] <= len(stored(tmp_path))
