"""Cost of the parity gate beside the inferences that it needs: `python -m benchmarks.parity [MODEL...]`.

The bare inferences are those that nobody can leave out: the original without optimizations and the file that ships,
both by onnxruntime alone on the same samples, each in a process of its own, outputs thrown away. The gate does the same
and compares. Both are whole processes in turns, so that both see the same weather. What starting Python, importing and
opening models takes is measured with one sample, and taken off for the figures "above one sample".
"""

import argparse
import json
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks import models
from benchmarks.measure import Cost, interleaved, run

SAMPLES = 64
REPETITIONS = 5
MODELS = (models.MOBILENET, models.RESNET, models.MINILM)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = arguments.models or models.made(models.default_folder(), MODELS)
        print(f"{arguments.samples} samples, medians of {arguments.repetitions}; gate / bare inferences")
        print("| model | CPU | wall | CPU above one sample | wall above one sample | gate's peak MB | bare MB |")
        print("|---|---|---|---|---|---|---|")
        for number, path in enumerate(paths):
            scratch = Path(folder, str(number))
            scratch.mkdir()
            print(row(path, scratch, arguments.samples, arguments.repetitions), flush=True)
    return 0


def row(model: Path, scratch: Path, count: int, repetitions: int) -> str:
    folders = {size: prepared(model, scratch / str(size), size) for size in (1, count)}
    sides = {(what, size): side(what, folder) for size, folder in folders.items() for what in ("gate", "bare")}
    costs = interleaved(repetitions, {f"{what} {size}": each for (what, size), each in sides.items()})
    gate, bare = costs[f"gate {count}"], costs[f"bare {count}"]
    more, needed = (minus(costs[f"{what} {count}"], costs[f"{what} 1"]) for what in ("gate", "bare"))
    return (
        f"| {model.name} | {gate.cpu_s / bare.cpu_s:.2f} | {gate.wall_s / bare.wall_s:.2f} "
        f"| {more.cpu_s / needed.cpu_s:.2f} | {more.wall_s / needed.wall_s:.2f} "
        f"| {gate.largest_process_bytes / 1e6:.0f} | {bare.largest_process_bytes / 1e6:.0f} |"
    )


def prepared(path: Path, folder: Path, count: int) -> Path:
    """Converts the model and makes samples; neither is measured."""
    from packager import models as ours
    from packager.compile.compile import compile_variant
    from packager.core.values import baseline
    from packager.files.store import Store
    from packager.verification.parity import random_inputs

    folder.mkdir(parents=True)
    model = ours.hashed(ours.load(path, "model"))
    compiled = compile_variant(baseline(model), Store(folder / "store"))
    random_inputs(baseline(model), folder, count=count, seed=0)  # in `samples`
    (folder / "compiled.pickle").write_bytes(pickle.dumps(compiled))
    (folder / "job.json").write_text(json.dumps({"original": str(path), "file": str(compiled.path)}))
    return folder


def side(what: str, folder: Path) -> Callable[[], Cost]:
    command = [sys.executable, "-m", "benchmarks.parity_sides", what, str(folder)]
    return lambda: run(command, environment={"OPENBLAS_NUM_THREADS": "1"})  # as the command line has it


def minus(whole: Cost, start: Cost) -> Cost:
    return replace(
        whole,
        user_s=whole.user_s - start.user_s,
        system_s=whole.system_s - start.system_s,
        wall_s=whole.wall_s - start.wall_s,
    )


if __name__ == "__main__":
    sys.exit(main())
