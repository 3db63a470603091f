"""Runs engines other than ONNX Runtime on ONNX's test cases: `python conformance_engine.py JOB.json FOLDER...`.

It is started by path, so that an engine's own environment can run it. The job names `program`, the file
`packager/engines/session/engine_child.py`, and `engine`, as for that. A FOLDER holds `inputs.pkl` and `engine.json`,
the description of the graph. The outputs go to `graph.pkl`, and a line of JSON is printed for each folder, as by
conformance_run.py.
"""

import json
import os
import pickle
import signal
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

LIMIT_S = 60


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    program = loaded(Path(job["program"]))
    _, answers = program.taken_over()
    engine = program.loaded(Path(job["engine"]))
    for name in sys.argv[2:]:
        signal.alarm(LIMIT_S)
        folder = Path(name)
        answers.write(json.dumps({"case": folder.name, "errors": ran(program, engine, job, folder)}) + "\n")
        answers.flush()


def loaded(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ran(program: Any, engine: Any, settings: dict[str, Any], folder: Path) -> dict[str, str]:
    described = folder / "engine.json"
    if not described.is_file():
        return {}
    scratch = folder / "made"
    scratch.mkdir(exist_ok=True)
    os.chdir(scratch)
    job = {**settings, **json.loads(described.read_text(encoding="utf-8")), "converted": str(scratch / "model.mnn")}
    inputs = pickle.loads((folder / "inputs.pkl").read_bytes())
    try:
        refuse(inputs)
        program.refuse_strings(job)
        model, _ = engine.opened(job)
        outputs = [program.declared(*each) for each in zip(model(inputs), job["outputs"], strict=True)]
    except Exception as error:  # engines raise classes of their own, and RuntimeError
        return {"graph": program.in_words(error)}
    (folder / "graph.pkl").write_bytes(pickle.dumps(outputs))
    return {}


def refuse(inputs: dict[str, Any]) -> None:
    """Raises ValueError for inputs that engines cannot get as arrays."""
    for name, value in inputs.items():
        if value is None or isinstance(value, list):
            raise ValueError(f"'{name}' is no tensor")
        if isinstance(value, tuple):
            raise ValueError(f"'{name}' is of a type that numpy does not have")


if __name__ == "__main__":
    main()
