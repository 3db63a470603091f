"""Results that machines share through S3: moto's server with real s3fs, steady and unsteady, and processes that are
killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import stores
from tests.toolchain.unsteady import Behaviour, before

COUNT = 12


@dataclass(frozen=True)
class Bucket:
    """A bucket, and how the server before it behaves."""

    folder: Path
    variables: Mapping[str, str]
    behaviour: Behaviour

    def live(self, name: str, prefix: str, count: int = COUNT, **variables: str) -> dict[str, Any]:
        """One machine's requests for results; `name` is its cache."""
        return answer_of(self.started(name, prefix, str(count), **variables))

    def damage(self, prefix: str) -> int:
        return int(answer_of(self.started("none", prefix, "--damage"))["damaged"])

    def started(self, name: str, prefix: str, what: str = str(COUNT), **variables: str) -> "subprocess.Popen[str]":
        """A machine in the background, in a group of processes of its own."""
        url = prefix if "://" in prefix else f"s3://models/{prefix}"
        return subprocess.Popen(
            [sys.executable, "-m", "tests.toolchain.shared_life", url, str(self.folder / name), what],
            env={**stores.environment_of(), **self.variables, **variables},
            cwd=stores.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )


def answer_of(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate()
    assert process.returncode == 0, err[-3000:]
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    folder = tmp_path_factory.mktemp("s3")
    with stores.s3(folder) as store:
        behaviour = Behaviour()
        with before(store.variables["AWS_ENDPOINT_URL"], behaviour) as address:
            yield Bucket(folder, {**store.variables, "AWS_ENDPOINT_URL": address}, behaviour)


@pytest.fixture(autouse=True)
def _steady(bucket: Bucket) -> Iterator[None]:
    yield
    bucket.behaviour.fails_every, bucket.behaviour.delay_s, bucket.behaviour.denies_writing = 0, 0.0, False


def test_results_are_made_once_and_survive_a_store_that_fails_every_tenth_time(bucket: Bucket) -> None:
    bucket.behaviour.fails_every = 10
    first = bucket.live("first", "unsteady")
    assert (first["made"], first["sent"], first["unsent"], first["warnings"]) == ([*range(COUNT)], COUNT, 0, [])
    second = bucket.live("second", "unsteady")
    assert (second["made"], second["hits"], second["warnings"]) == ([], COUNT, [])
    assert bucket.behaviour.failures > 5
    third = bucket.live("second", "unsteady")
    assert (third["made"], third["hits"] + third["misses"]) == ([], 0)


def test_what_is_damaged_in_the_store_is_made_again_and_replaced(bucket: Bucket) -> None:
    bucket.live("writer", "poisoned")
    assert bucket.damage("poisoned") > 5
    found = bucket.live("careful", "poisoned")
    assert found["refused"] == len(found["made"]) > 3
    assert found["warnings"]
    assert bucket.live("after", "poisoned")["made"] == []


def test_slow_writers_at_the_same_moment_leave_whole_results(bucket: Bucket) -> None:
    bucket.behaviour.delay_s = 0.02
    running = [bucket.started(f"twin {number}", "twins") for number in range(3)]
    said = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    found = [json.loads(out) for out, _ in said]
    assert all(each["warnings"] == [] and each["refused"] == each["unsent"] == 0 for each in found)
    assert bucket.live("reader", "twins")["made"] == []


def test_a_killed_writer_leaves_nothing_that_is_half_there(bucket: Bucket) -> None:
    """SIGKILL after every few requests, until one gets through; readers in between find whole results or none."""
    behaviour = bucket.behaviour
    known: set[int] = set()
    kills = 0
    for requests in (3, 14, 30):
        behaviour.requests, behaviour.holds_from = 0, requests
        behaviour.gate.clear()
        process = bucket.started(f"killed {requests}", "killed")
        end_s = time.monotonic() + 60
        while behaviour.requests < requests and process.poll() is None and time.monotonic() < end_s:
            time.sleep(0.002)
        if process.poll() is None:
            kills += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        behaviour.holds_from = 0
        behaviour.gate.set()
        assert process.returncode in (-signal.SIGKILL, 0)
        there = bucket.live(f"reader {requests}", "killed", MOBPACK_CACHE_MODE="read")
        assert there["refused"] == 0, there["warnings"]
        missing = set(there["made"])
        assert not known & missing, "what was there is still there"
        known = set(range(COUNT)) - missing
    assert kills >= 2
    assert bucket.live("last", "killed")["unsent"] == 0
    assert bucket.live("reader", "killed")["made"] == []


def test_a_machine_that_may_not_write_reads(bucket: Bucket) -> None:
    bucket.live("owner", "denied", 6)
    bucket.behaviour.denies_writing = True
    guest = bucket.live("guest", "denied")
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
    found = bucket.live(f"alone {reason}", prefix, 3, **variables)
    assert (found["made"], found["hits"], found["unsent"]) == ([0, 1, 2], 0, 3)
    (warning,) = found["warnings"]
    assert reason in warning
    assert "uses what is on this machine" in warning
