"""Results that machines share through S3: moto's server with real s3fs, steady and unsteady, and processes that are
killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cases.waiting import HANGS_S, until
from tests.toolchain import stores
from tests.toolchain.unsteady import Behaviour, before

COUNT = 12


@dataclass(frozen=True)
class Bucket:
    """A bucket, and how the server before it behaves."""

    folder: Path
    variables: Mapping[str, str]
    behaviour: Behaviour

    def started(self, **variables: str) -> "subprocess.Popen[str]":
        """A machine in the background, in a group of processes of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.toolchain.shared_life"],
            env={**stores.environment_of(), **self.variables, **variables},
            cwd=stores.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )

    def request(self, name: str, prefix: str, count: int | None = COUNT) -> str:
        """Has a machine ask for results; `name` is its cache. Without a count it damages the store."""
        url = prefix if "://" in prefix else f"s3://models/{prefix}"
        return json.dumps([url, str(self.folder / name), count]) + "\n"


class Machine:
    """A machine that runs as long as it is asked."""

    def __init__(self, bucket: Bucket, **variables: str) -> None:
        self.bucket, self.process = bucket, bucket.started(**variables)

    def live(self, name: str, prefix: str, count: int | None = COUNT) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(self.bucket.request(name, prefix, count))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1][-3000:]
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        _, err = self.process.communicate()
        assert self.process.returncode == 0, err[-3000:]


@contextmanager
def machine(bucket: Bucket, **variables: str) -> Iterator[Machine]:
    made = Machine(bucket, **variables)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    folder = tmp_path_factory.mktemp("s3")
    with stores.s3(folder) as store:
        behaviour = Behaviour()
        with before(store.variables["AWS_ENDPOINT_URL"], behaviour) as address:
            yield Bucket(folder, {**store.variables, "AWS_ENDPOINT_URL": address}, behaviour)


@pytest.fixture(scope="module")
def one(bucket: Bucket) -> Iterator[Machine]:
    """A machine for all tests, with the credentials of the bucket."""
    with machine(bucket) as made:
        yield made


@pytest.fixture(autouse=True)
def _steady(bucket: Bucket) -> Iterator[None]:
    yield
    bucket.behaviour.fails_every, bucket.behaviour.delay_s, bucket.behaviour.denies_writing = 0, 0.0, False


def test_results_are_made_once_and_survive_a_store_that_fails_every_tenth_time(bucket: Bucket, one: Machine) -> None:
    bucket.behaviour.fails_every = 10
    first = one.live("first", "unsteady")
    assert (first["made"], first["sent"], first["unsent"], first["warnings"]) == ([*range(COUNT)], COUNT, 0, [])
    second = one.live("second", "unsteady")
    assert (second["made"], second["hits"], second["warnings"]) == ([], COUNT, [])
    assert bucket.behaviour.failures > 5
    third = one.live("second", "unsteady")
    assert (third["made"], third["hits"] + third["misses"]) == ([], 0)


def test_what_is_damaged_in_the_store_is_made_again_and_replaced(one: Machine) -> None:
    one.live("writer", "poisoned")
    assert one.live("", "poisoned", None)["damaged"] > 5
    found = one.live("careful", "poisoned")
    assert found["refused"] == len(found["made"]) > 3
    assert found["warnings"]
    assert one.live("after", "poisoned")["made"] == []


def test_slow_writers_at_the_same_moment_leave_whole_results(bucket: Bucket, one: Machine) -> None:
    bucket.behaviour.delay_s = 0.02
    running = [bucket.started() for _ in range(3)]
    for number, process in enumerate(running):
        assert process.stdin
        process.stdin.write(bucket.request(f"twin {number}", "twins"))
        process.stdin.flush()
    said = [process.communicate(timeout=HANGS_S) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    found = [json.loads(out) for out, _ in said]
    assert all(each["warnings"] == [] and each["refused"] == each["unsent"] == 0 for each in found)
    assert one.live("reader", "twins")["made"] == []


def has_begun(behaviour: Behaviour, process: "subprocess.Popen[str]", requests: int) -> bool:
    return behaviour.requests >= requests or process.poll() is not None


def test_a_killed_writer_leaves_nothing_that_is_half_there(bucket: Bucket, one: Machine) -> None:
    """SIGKILL after every few requests, until one gets through; readers in between find whole results or none."""
    behaviour = bucket.behaviour
    known: set[int] = set()
    kills = 0
    with machine(bucket, MOBPACK_CACHE_MODE="read") as reader:
        for requests in (3, 14, 30):
            behaviour.requests, behaviour.holds_from = 0, requests
            behaviour.gate.clear()
            process = bucket.started()
            assert process.stdin
            process.stdin.write(bucket.request(f"killed {requests}", "killed"))
            process.stdin.flush()
            until(partial(has_begun, behaviour, process, requests))
            if process.poll() is None:
                kills += 1
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            behaviour.holds_from = 0
            behaviour.gate.set()
            assert process.returncode in (-signal.SIGKILL, 0)
            there = reader.live(f"reader {requests}", "killed")
            assert there["refused"] == 0, there["warnings"]
            missing = set(there["made"])
            assert not known & missing, "what was there is still there"
            known = set(range(COUNT)) - missing
    assert kills >= 2
    assert one.live("last", "killed")["unsent"] == 0
    assert one.live("reader", "killed")["made"] == []


def test_a_machine_that_may_not_write_reads(bucket: Bucket, one: Machine) -> None:
    one.live("owner", "denied", 6)
    bucket.behaviour.denies_writing = True
    guest = one.live("guest", "denied")
    assert guest["made"] == [*range(6, COUNT)]
    assert (guest["hits"], guest["sent"], guest["unsent"]) == (6, 0, 6)
    (warning,) = guest["warnings"]
    assert "does not accept results: PermissionError" in warning


@pytest.mark.parametrize(
    ("prefix", "variables", "reason"),
    [
        ("s3://missing/x", {}, "bucket does not exist"),
        ("any", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "Could not connect"),
        ("any", {"AWS_ACCESS_KEY_ID": "", "AWS_EC2_METADATA_DISABLED": "true"}, "credentials"),
    ],
)
def test_a_store_that_is_not_there_is_one_warning(
    bucket: Bucket, prefix: str, variables: dict[str, str], reason: str
) -> None:
    with machine(bucket, **variables) as alone:
        found = alone.live(f"alone {reason}", prefix, 3)
    assert (found["made"], found["hits"], found["unsent"]) == ([0, 1, 2], 0, 3)
    (warning,) = found["warnings"]
    assert reason in warning
    assert "uses what is on this machine" in warning
