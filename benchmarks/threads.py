"""Latency and processor time of a run, by whose threads it uses and whether they spin: `python -m benchmarks.threads`.

Measured with `threads.c` over ONNX Runtime's C API, on this machine and on an emulated arm64 processor: one model and
three models in turn, as camera frames come and one run right after the other, alone and beside programs that
keep every core busy. An emulator's latencies are no phone's; its processor times tell the forms apart.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

from packager.engines.environments import zig
from packager.engines.environments.arm64 import Arm64
from packager.engines.environments.environment import ensure
from packager.files.installed import templates_folder
from packager.files.processes import commands
from tests.toolchain import models

SOURCE = Path(__file__).with_name("threads.c")
HEADERS = templates_folder() / "ios" / "onnxruntime" / "include"
FRAME_US = 50_000
"""pause between frames"""


@dataclass(frozen=True, kw_only=True)
class Form:
    name: str
    is_shared: bool
    is_spinning: bool


FORMS = (
    Form(name="own threads, spinning (ONNX Runtime's default)", is_shared=False, is_spinning=True),
    Form(name="own threads", is_shared=False, is_spinning=False),
    Form(name="shared threads, spinning", is_shared=True, is_spinning=True),
    Form(name="shared threads (packages' default)", is_shared=True, is_spinning=False),
)


@dataclass(frozen=True, kw_only=True)
class Machine:
    name: str
    program: tuple[str, ...]
    variables: Mapping[str, str]
    threads: int
    runs: int


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    models: int
    pause_us: int
    is_busy: bool


CASES = (
    Case(name="one model, run after run", models=1, pause_us=0, is_busy=False),
    Case(name="one model, frames", models=1, pause_us=FRAME_US, is_busy=False),
    Case(name="three models, frames", models=3, pause_us=FRAME_US, is_busy=False),
    Case(name="one model, run after run, busy cores", models=1, pause_us=0, is_busy=True),
    Case(name="three models, frames, busy cores", models=3, pause_us=FRAME_US, is_busy=True),
)


@dataclass(frozen=True, kw_only=True)
class Cost:
    latency_ms: float
    """median"""
    slow_ms: float
    """95th percentile"""
    cpu_ms: float
    """of a run, with what threads spend between runs"""


def cost(machine: Machine, form: Form, case: Case, model: Path) -> Cost:
    settings = [machine.threads, int(form.is_shared), int(form.is_spinning), case.models, machine.runs, case.pause_us]
    command = [*machine.program, str(model), "x", "1,3,224,224", *map(str, settings)]
    with busy_cores(case.is_busy):
        output = commands.run(command, what="measuring threads", environment=machine.variables).split("\n")
    took = sorted(float(line) / 1000 for line in output if line.isdigit())
    [cpu] = [float(line.removeprefix("cpu ")) / 1000 for line in output if line.startswith("cpu ")]
    return Cost(latency_ms=statistics.median(took), slow_ms=took[int(0.95 * len(took))], cpu_ms=cpu / machine.runs)


@contextmanager
def busy_cores(is_busy: bool) -> Iterator[None]:
    """A program on every core that does nothing but compute."""
    count = (os.cpu_count() or 1) if is_busy else 0
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in programs:
            each.kill()
            each.wait()


def machines(folder: Path) -> Iterator[Machine]:
    threads = min(4, os.cpu_count() or 1)
    [library] = Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*")
    yield Machine(
        name=f"this machine, {threads} threads",
        program=(str(built(folder, "x86_64-linux-gnu.2.34", library)),),
        variables={"LD_LIBRARY_PATH": str(library_folder(folder / "x86_64", library))},
        threads=threads,
        runs=200,
    )
    arm64 = Arm64(runtime="shipped")
    ensure(arm64)
    emulator = arm64.command()
    [library] = Path(arm64.variables()["PYTHONPATH"].split(os.pathsep)[1]).glob("onnxruntime/capi/libonnxruntime.so.*")
    path = str(library_folder(folder / "arm64", library))
    yield Machine(
        name=f"emulated arm64, {threads} threads",
        program=(
            *emulator[:-2],
            "-E",
            f"LD_LIBRARY_PATH={path}",
            str(built(folder, "aarch64-linux-gnu.2.31", library)),
        ),
        variables={},
        threads=threads,
        runs=12,
    )


def library_folder(folder: Path, library: Path) -> Path:
    """A folder in which the loader finds `library` by the name that programs are linked with."""
    folder.mkdir()
    (folder / "libonnxruntime.so.1").symlink_to(library)
    return folder


def built(folder: Path, target: str, library: Path) -> Path:
    program = folder / f"threads-{target}"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}"]
    commands.run(
        [zig.compiler(), "cc", "-target", target, *flags, SOURCE, library, "-o", program], what="compiling threads.c"
    )
    return program


def rows(machine: Machine, model: Path) -> Iterator[Sequence[str]]:
    for case in CASES:
        for form in FORMS:
            found = cost(machine, form, case, model)
            numbers = (found.latency_ms, found.slow_ms, found.cpu_ms)
            yield (case.name, form.name, *(f"{number:.1f}" for number in numbers))


def main() -> int:
    model = models.orientation()
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines(Path(folder)):
            print(f"{machine.name}, {model.name}, {machine.runs} runs")
            print("| runs | threads | median ms | 95 % ms | processor ms per run |")
            print("|---|---|---|---|---|")
            for row in rows(machine, model):
                print("| " + " | ".join(row) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
