"""Runners whose times are known, and results made of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from packager.engines.runners import ANY, RUNNERS, Runnable, Runner, Session
from packager.engines.runners.process import Host, ProcessSession
from packager.measuring.bench.document import BenchDocument, InputEntry, MachineEntry, MethodEntry, RoundEntry, RowEntry

CHILD = """
import json, shutil, sys, time
from pathlib import Path
from packager.engines.session import timing

job = json.loads(Path(sys.argv[1]).read_text())
starts = Path(job["starts"])
number = len(starts.read_text()) if starts.exists() else 0
starts.write_text("." * (number + 1))
say = lambda answer: print(json.dumps(answer), flush=True)
say({"about": "scripted", "placed": 3, "nodes": 4, "load_ns": 2_000_000, "base_bytes": 10})
for line in sys.stdin:
    request = json.loads(line)
    if "pace" not in request:
        import numpy
        with numpy.load(request["sample"]) as arrays:
            numpy.save(Path(request["folder"]) / "0.npy", arrays["x"] * job["factor"])
        say({"error": ""})
    elif job["sleeps"]:
        say(timing.measured(lambda: time.sleep(job["sleeps"]), {**request["pace"], "runs": 5, "warm_up_seconds": 0}))
    elif job["refuses"]:
        say({"error": "no room for the sample"})
    else:
        times = job["rounds"][number % len(job["rounds"])]
        say({"error": "", "warm_up_ns": [9], "times_ns": times, "cpu_ns": sum(times), "peak_bytes": 5_000_000})
"""


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """Answers with the times of a list, another one in each round, or sleeps."""

    NAME: ClassVar[str] = "scripted"
    OPENS: ClassVar[str] = ANY
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "times of a list"

    folder: Path
    name: str = NAME
    rounds: tuple[tuple[int, ...], ...] = ((1_000_000,) * 20,)
    sleeps: float = 0.0
    refuses: bool = False
    factor: float = 1.0
    lacks: str = ""

    def label(self) -> str:
        return self.name

    def identity(self) -> str:
        return ""

    def missing(self) -> str:
        return self.lacks

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        program = self.folder / f"{self.name}.py"
        program.write_text(CHILD, encoding="utf-8", newline="\n")
        job = {
            "rounds": self.rounds,
            "sleeps": self.sleeps,
            "refuses": self.refuses,
            "factor": self.factor,
            "starts": str(self.folder / f"{self.name}.starts"),
        }
        return ProcessSession(Host(program=program), job, folder)


def add(patch: pytest.MonkeyPatch, *runners: Scripted) -> None:
    """Makes mobpack know `runners` by their names."""
    for runner in runners:
        patch.setitem(RUNNERS, runner.name, _always(runner))


def _always(runner: Runner) -> Callable[[str], tuple[Runner, ...]]:
    return lambda interpreter: (runner,)


def row(number: int = 1, *, rounds: Sequence[Sequence[float]] = ((1.0,) * 100,), **changes: object) -> RowEntry:
    """A row whose `rounds` are milliseconds."""
    times = [each for one in rounds for each in one]
    middle = sorted(times)[len(times) // 2]
    known: dict[str, object] = {
        "number": number,
        "model": "net",
        "variant": "source",
        "file": "graph",
        "is_original": True,
        "sha256": "0" * 64,
        "size_bytes": 1000,
        "ships_for": (),
        "runner": "cpu",
        "about": "ONNX Runtime 1.31.1",
        "placed": None,
        "nodes": None,
        "threads": 1,
        "p50_ms": middle,
        "p50_low_ms": middle,
        "p50_high_ms": middle,
        "p90_ms": max(times),
        "p99_ms": max(times),
        "slowest_ms": max(times),
        "runs": len(times),
        "outliers": 0,
        "round_medians_ms": tuple(sorted(each)[len(each) // 2] for each in rounds),
        "is_noisy": False,
        "items_per_second": 1000 / middle,
        "load_ms": 20.0,
        "peak_bytes": 80_000_000,
        "base_bytes": 50_000_000,
        "cpu_ms": middle,
        "ratio": 1.0,
        "ratio_low": 1.0,
        "ratio_high": 1.0,
        "error": 1e-7,
        "differs": False,
        "rounds": tuple(_round(each) for each in rounds),
    }
    return RowEntry(**{**known, **changes})  # type: ignore[arg-type]


def _round(times: Sequence[float]) -> RoundEntry:
    return RoundEntry(
        times_ns=tuple(int(each * 1e6) for each in times),
        warm_up_ns=(9_000_000,),
        cpu_ns=int(sum(times) * 1e6),
        load_ms=20.0,
        peak_bytes=80_000_000,
        base_bytes=50_000_000,
    )


def results(*rows: RowEntry, **changes: object) -> BenchDocument:
    known: dict[str, object] = {
        "schema_version": 1,
        "mobpack": "1.0.0",
        "is_partial": False,
        "machine": MachineEntry(
            processor="A processor",
            architecture="x86_64",
            system="Linux 6",
            cores=4,
            governor="performance",
            load_before=0.1,
            steal=0.0,
            disturbances=(),
        ),
        "method": MethodEntry(
            threads=1,
            pinned_cores=(3,),
            rounds=5,
            rounds_done=5,
            seconds=1.0,
            runs=500,
            warm_up_seconds=0.5,
            confidence=0.95,
        ),
        "inputs": (InputEntry(model="net", samples="random, seed 0", shapes=("x: 1 x 3",), batch=1),),
        "rows": rows,
        "skipped": (),
        "baseline": "",
        "comparisons": (),
        "failed_gates": (),
    }
    return BenchDocument(**{**known, **changes})  # type: ignore[arg-type]


def jittered(middle: float, *, seed: int, count: int = 60) -> Iterator[float]:
    """Times around `middle`, up to 2 % away, the same for the same seed."""
    import random

    draw = random.Random(seed)
    return (middle * (1 + draw.uniform(-0.02, 0.02)) for _ in range(count))
