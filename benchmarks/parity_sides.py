"""One side of `benchmarks.parity` in a process of its own: `python -m benchmarks.parity_sides gate|bare|run FOLDER`.

`gate` compares the file with its original by `packager.verification.parity`. `bare` runs the original and the file by
onnxruntime alone, each in a process of its own (`run`), and throws the outputs away.
"""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

ENTRIES = {"session.qdqisint8allowed": "1", "session.x64quantprecision": "1"}


def gate(folder: Path) -> None:
    from packager.engines.runners.cpu import Cpu
    from packager.verification.parity import ParitySettings, Subject, check

    compiled = pickle.loads((folder / "compiled.pickle").read_bytes())
    settings = ParitySettings(samples=folder / "samples")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        subject = Subject(variant=compiled.variant, compiled=compiled)
        found = check(subject, Cpu(), settings, Path(scratch)).parity
    if found.has_failed or not found.outputs:
        raise RuntimeError(f"the gate did not compare: {found}")


def bare(folder: Path) -> None:
    for which in ("original", "file"):
        command = [sys.executable, "-m", "benchmarks.parity_sides", "run", str(folder), which]
        subprocess.run(command, check=True)


def run(folder: Path, which: str) -> None:
    import numpy
    import onnxruntime

    job = json.loads((folder / "job.json").read_text())
    options = onnxruntime.SessionOptions()
    if which == "original":
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in ENTRIES.items():
        options.add_session_config_entry(key, value)
    session = onnxruntime.InferenceSession(job[which], options, providers=["CPUExecutionProvider"])
    for sample in sorted((folder / "samples").iterdir()):
        with numpy.load(sample) as arrays:
            session.run(None, {name: arrays[name] for name in arrays.files})


if __name__ == "__main__":
    sides = {"gate": gate, "bare": bare, "run": run}
    sides[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])  # type: ignore[operator]
