"""Runs models with engines other than ONNX Runtime: `python engine_child.py JOB.json`. Needs numpy and the engine;
nothing of mobpack.

The job is JSON: `engine` (a Python file with `opened`: job -> the open model, and a description of the engine), `model`
(a file that the engine reads), `inputs` and `outputs` (`[{"name", "type", "shape"}]` in the model's order, types in
numpy's names or empty, sizes null if unknown), `threads` (0 where numbers count, else for times), and what the engine
needs besides.

It prints `{"about": text, "placed": null, "nodes": null}` once the model is open, `{"refused": text}` if the engine
does not open it. Then it reads lines `{"sample": .npz keyed by input name, "folder": path}`, writes `folder/0.npy` and
so on, one for each output, and prints `{"error": ""}`, or the engine's reason for not running that sample. A line with
`pace` in place of `folder` asks for times: the answer is that of `measured` in timing.py.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy

NOISE = re.compile(r"Exception from \S+:\d+:|Check '.*?' failed at \S+:\d+:|^-- ", re.MULTILINE)
"""Places in the engine's own source, in its messages."""
TIMING = Path(__file__).with_name("timing.py")
LONGEST = 400
"""Maximum length of a message."""
Feed = dict[str, "numpy.ndarray[Any, Any]"]
Model = Callable[[Feed], "Sequence[numpy.ndarray[Any, Any]]"]
"""Inputs by name -> outputs in the model's order."""


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    requests, answers = taken_over()

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    timing = loaded(TIMING)
    base = timing.resident_bytes()
    start = time.perf_counter_ns()
    try:
        refuse_strings(job)
        model, about = loaded(Path(job["engine"])).opened(job)
    except Exception as error:  # engines raise classes of their own, and RuntimeError
        say({"refused": in_words(error)})
        return 0
    load_ns = time.perf_counter_ns() - start
    say({"about": about, "placed": None, "nodes": None, "load_ns": load_ns, "base_bytes": base})
    for line in requests:
        request = json.loads(line)
        if "pace" in request:
            say(times_of(model, Path(request["sample"]), request["pace"], timing))
        else:
            say({"error": run_sample(model, job, Path(request["sample"]), Path(request["folder"]))})
    return 0


def loaded(path: Path) -> Any:
    """The module in a file, which is on no module path: files beside it have the names of engines."""
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def taken_over() -> tuple[Any, Any]:
    """Standard input and output; engines print to standard error from now on."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def run_sample(model: Model, job: Mapping[str, Any], sample: Path, folder: Path) -> str:
    """Writes the outputs; returns the engine's reason if it does not run the sample, else an empty string."""
    feed = feed_of(sample)
    try:
        found = model(feed)
        results = [declared(array, spec) for array, spec in zip(found, job["outputs"], strict=True)]
    except Exception as error:
        return in_words(error)
    for index, array in enumerate(results):
        numpy.save(folder / f"{index}.npy", array)
    return ""


def times_of(model: Model, sample: Path, pace: Mapping[str, Any], timing: Any) -> Mapping[str, Any]:
    """Times of runs of the sample; the engine's reason if it does not run it."""
    feed = feed_of(sample)
    try:
        found: Mapping[str, Any] = timing.measured(lambda: model(feed), pace)
    except Exception as error:
        return {"error": in_words(error)}
    return found


def feed_of(sample: Path) -> Feed:
    with numpy.load(sample) as arrays:
        return {name: arrays[name] for name in arrays.files}


def declared(array: Any, spec: Mapping[str, Any]) -> "numpy.ndarray[Any, Any]":
    """An output in the type that the model declares: engines compute in fewer types, and return those. Raises
    ValueError if that changes a value."""
    found = numpy.asarray(array)
    if spec["type"] in ("", str(found.dtype)):
        return found
    made = found.astype(spec["type"])
    is_kept = found.dtype.kind == "f" or numpy.array_equal(made.astype(found.dtype), found)
    if not is_kept or (found.dtype.kind == "f") != (made.dtype.kind == "f"):
        raise ValueError(f"it returns {found.dtype} for output '{spec['name']}', which is {spec['type']}")
    return made


def refuse_strings(job: Mapping[str, Any]) -> None:
    """Raises ValueError for a model with strings as inputs or outputs."""
    for spec in [*job["inputs"], *job["outputs"]]:
        if spec["type"] == "str":
            raise ValueError(f"it has no strings, and '{spec['name']}' is one")


def in_words(error: Exception) -> str:
    """The error's message, in one line; that of its cause where a library in C hides it."""
    if isinstance(error, SystemError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    text = " ".join(NOISE.sub("", str(error).partition("Stack backtrace:")[0]).split())[:LONGEST]
    return text if type(error) is ValueError else f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    sys.exit(main())
