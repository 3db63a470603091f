"""Fleets whose workers and schedulers can be killed, and their results."""

import json
import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved
from tests.cases.waiting import HANGS_S
from tests.toolchain.command import MOBPACK

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


def project(folder: Path) -> dict[str, str]:
    """A fleet of a model in two variants, and a file that is not a model; returns the environment of its store."""
    saved(folder / "models" / "one.onnx", linear())
    (folder / "models" / "broken.onnx").write_bytes(b"no model")
    numpy.savez(folder / "samples.npz", x=numpy.ones((4, 1, 64), numpy.float32))
    (folder / "fleet.toml").write_text(FLEET, encoding="utf-8", newline="\n")
    (folder / "alone").mkdir()
    (folder / "alone" / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    return {**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache"))}


def kill_group(process: "subprocess.Popen[Any]") -> None:
    """Kills a program, which is the leader of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def fleet(folder: Path, environment: dict[str, str], *options: str) -> "subprocess.Popen[str]":
    command = [MOBPACK, "fleet", "--json", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, process_group=0)


def ended(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 3, err  # of the file that is not a model
    found: dict[str, Any] = json.loads(out)
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that `mobpack build` makes of one of the projects, in a store of its own."""
    folder = tmp_path_factory.mktemp("alone")
    environment = project(folder)
    command = [MOBPACK, "build"]
    subprocess.run(command, cwd=folder / "alone", env=environment, check=True, capture_output=True, timeout=HANGS_S)
    return files(folder / "alone" / "dist")


def refuse_wrong(folder: Path, found: dict[str, Any], out: str, alone: dict[str, bytes]) -> None:
    """The states of all projects; the bytes of one beside those of `mobpack build`."""
    states = {each["name"]: each["state"] for each in found["projects"]}
    assert states == {"broken": "failed", "broken-int8": "failed", "one": "built", "one-int8": "built"}
    assert "not a complete ONNX file" in found["projects"][0]["message"]
    assert files(folder / out / "one-int8") == alone


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def stored(folder: Path) -> set[str]:
    """`step/key` of every result in the store."""
    root = folder / "cache" / "mobpack" / "store"
    steps = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "scratch"))]
    return {f"{step.name}/{entry.name}" for step in steps for entry in step.iterdir()}
