"""Runs ONNX Runtime in any interpreter: `python session_child.py JOB.json`. Needs only onnxruntime and numpy.

It is started by path, so that the interpreters of `environments` and those of users can run it. The job is JSON: `task`
and `model`; for `export`, which writes the graph of an ORT-format file unchanged, `output`; for the other tasks also
`provider`, `provider_options`, `entries` (session configuration), `data_folder` (of external data, or null), `optimize`
and, if they are not 1 and unlimited, `threads` (0: one per core) and `limit_s`, the longest time of a run.

`assign` (which nodes does the provider take), `load` and `export` print one JSON line: the task's result, or `{"error":
text, "is_usable": bool}` if ONNX Runtime refuses, with false if the provider opens no model at all here.

`serve` prints `{"version", "plugin", "placed", "nodes", "load_ns", "base_bytes"}` once the model is open: the
provider's number of nodes, if ONNX Runtime reports it, the time that opening took, and the memory before. Otherwise it
prints `{"refused": text}` for a model that does not open, `{"idle": text}` for one of which the provider takes no node,
`{"unusable": text}` if the provider does not work here. Then it reads lines `{"sample": .npz keyed by input name,
"folder": path}`, writes `folder/0.npy` and so on, one for each output, and prints `{"error": ""}`, or ONNX Runtime's
refusal of that sample; `over_s` is the limit, if the run took longer. A line `{"sample": path, "pace": {...}}` asks for
the times of that sample: the answer is that of `measured` in timing.py.
"""

import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import onnxruntime

PLUGINS = {"qnn": "onnxruntime_qnn", "webgpu": "onnxruntime_ep_webgpu"}
"""Provider -> the Python module with its library."""
BUILT_IN = {"cpu": "CPUExecutionProvider"}
RELU = bytes.fromhex(
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08"
    "080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
"""y = Relu(x) on float[1], as a ModelProto: every provider takes it."""
RECORD = "session.record_ep_graph_assignment_info"
TIMING = Path(__file__).with_name("timing.py")
PLACED = re.compile(rb"ode(?:s|\(s\)) placed on \[(\w+)\]\. Number of nodes: (\d+)")
"""Line of the log with a provider's number of nodes."""


def assign(job: dict[str, Any]) -> dict[str, Any]:
    """`{"subgraphs": [{"provider", "nodes": [{"name", "op", "domain"}]}]}`.

    ONNX Runtime records nothing for ORT-format files: pass the result of `export` instead.
    """
    found = recorded(open_session(job, recording(job)))
    if job["provider"] in PLUGINS and not takes_any(job, found) and not is_usable(job):
        # ONNX Runtime logs a library or an option that fails; it raises nothing.
        raise ValueError("the provider does not work on this machine or with these options: it takes no Relu")
    return {"subgraphs": found}


def is_usable(job: dict[str, Any]) -> bool:
    """Whether the provider takes the model that every provider takes."""
    simplest = {**job, "model": RELU, "data_folder": None}
    try:
        return takes_any(simplest, recorded(open_session(simplest, recording(simplest))))
    except Exception as error:
        refusal(error)
        return False


def versions(job: dict[str, Any]) -> dict[str, str]:
    module = PLUGINS.get(job.get("provider", ""))
    plugin = metadata.version(module.replace("_", "-")) if module else ""
    return {"version": onnxruntime.__version__, "plugin": plugin}


def recording(job: dict[str, Any]) -> Any:
    options = session_options(job)
    options.add_session_config_entry(RECORD, "1")
    return options


def recorded(session: Any) -> list[dict[str, Any]]:
    return [
        {
            "provider": subgraph.ep_name,
            "nodes": [{"name": node.name, "op": node.op_type, "domain": node.domain} for node in subgraph.get_nodes()],
        }
        for subgraph in session.get_provider_graph_assignment_info()
    ]


def takes_any(job: dict[str, Any], subgraphs: list[dict[str, Any]]) -> bool:
    return any(subgraph["provider"] == name_of(job["provider"]) for subgraph in subgraphs)


def name_of(provider: str) -> str:
    """ONNX Runtime's name of the provider."""
    if provider in PLUGINS:
        return str(import_module(PLUGINS[provider]).get_ep_name())
    return BUILT_IN.get(provider, provider)


def load(job: dict[str, Any]) -> dict[str, Any]:
    open_session(job, session_options(job))
    return {}


def export(job: dict[str, Any]) -> dict[str, Any]:
    """Writes the same nodes with the same names, weights inside; the CPU provider changes nothing without
    optimizers."""
    options = session_options({**job, "optimize": False, "entries": {}, "data_folder": None})
    options.optimized_model_filepath = job["output"]
    options.add_session_config_entry("session.save_model_format", "ONNX")
    onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"], enable_fallback=0)
    return {}


def session_options(job: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.get("threads", 1)
    options.log_severity_level = 4  # providers log each node that they leave; errors arrive as exceptions
    if not job["optimize"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if job["data_folder"]:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", job["data_folder"])
    for key, value in job["entries"].items():
        options.add_session_config_entry(key, value)
    return options


def open_session(job: dict[str, Any], options: Any) -> Any:
    """A session of the provider, with the CPU as fallback. Raises ValueError if it would be of the CPU alone."""
    provider = job["provider"]
    if provider in PLUGINS:
        name = add_plugin(provider, job["provider_options"], options)
        providers = None
    else:
        name = BUILT_IN.get(provider, provider)
        if name not in onnxruntime.get_available_providers():
            raise ValueError(f"this ONNX Runtime has no provider {name}")
        providers = [(name, job["provider_options"]), *([] if provider == "cpu" else ["CPUExecutionProvider"])]
    # By default the Python wrapper only prints a message and tries again on the CPU alone.
    session = onnxruntime.InferenceSession(model_of(job), options, providers=providers, enable_fallback=0)
    if name not in session.get_providers():
        raise ValueError(f"ONNX Runtime could not load {name}, and opened the model without it")
    return session


def model_of(job: dict[str, Any]) -> Any:
    """The model as bytes if the weights lie in another folder: that entry only applies to models from memory."""
    return Path(job["model"]).read_bytes() if job["data_folder"] else job["model"]


def add_plugin(provider: str, provider_options: dict[str, str], options: Any) -> str:
    """Adds the plug-in provider to `options`; returns its name in ONNX Runtime."""
    module = import_module(PLUGINS[provider])
    name = str(module.get_ep_name())
    if not any(device.ep_name == name for device in onnxruntime.get_ep_devices()):
        onnxruntime.register_execution_provider_library(name, module.get_library_path())
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == name]
    if not devices:
        raise ValueError(f"{name} finds no device on this machine")
    options.add_provider_for_devices(devices[:1], provider_options)
    return name


def refusal(error: Exception) -> str:
    """ONNX Runtime's message; raises `error` again if it is not ONNX Runtime's.

    Its own exceptions share no base class but their module; its Python wrapper raises ValueError and RuntimeError.
    """
    if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
        raise error
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())


Opener = Callable[[dict[str, Any]], tuple[Any, dict[str, Any]]]
"""Job -> a session, and the provider's number of nodes of the model, if known; `about` says how it was opened, if not
as always."""


class IdleError(Exception):
    """The model is open, and all of it runs on the CPU."""


def serve(job: dict[str, Any], open_model: Opener | None = None) -> None:
    """Runs samples until there are no more requests."""
    requests, answers = taken_over()

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    timing = timing_module()
    base = timing.resident_bytes()
    start = time.perf_counter_ns()
    try:
        session, placement = (open_model or opened)(job)
    except IdleError as error:
        say({"idle": str(error)})
        return
    except Exception as error:
        text = refusal(error)
        say({"refused" if job["provider"] == "cpu" or is_usable(job) else "unusable": text})
        return
    load_ns = time.perf_counter_ns() - start
    say({**versions(job), **placement, "load_ns": load_ns, "base_bytes": base})
    for line in requests:
        request = json.loads(line)
        if "pace" in request:
            say(times_of(session, Path(request["sample"]), request["pace"], timing))
        else:
            limit = Limit(job.get("limit_s"))
            text = run_sample(session, Path(request["sample"]), Path(request["folder"]), limit)
            say({"error": text, **({"over_s": limit.seconds} if limit.is_over else {})})


def timing_module() -> Any:
    """The module that times runs, from its path: this program's folder is on no module path."""
    spec = spec_from_file_location("mobpack_timing", TIMING)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def taken_over() -> tuple[Any, Any]:
    """Standard input and output; libraries print to standard error from now on."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def opened(job: dict[str, Any]) -> tuple[Any, dict[str, int | None]]:
    """A session, and the provider's number of nodes, which ONNX Runtime does not report for ORT format.

    Raises ValueError if it has none: results of the CPU must not be taken for the provider's.
    """
    if job["provider"] == "cpu":
        return open_session(job, session_options(job)), {"placed": None, "nodes": None}
    is_ort = job["model"].endswith(".ort")
    session, placed, nodes = opened_and_logged(job) if is_ort else opened_and_recorded(job)
    if not placed and not is_usable(job):
        raise ValueError("the provider does not work on this machine or with these options: it takes no Relu")
    if not placed:
        raise IdleError(f"{name_of(job['provider'])} takes no node of it")
    return session, {"placed": None, "nodes": None} if is_ort else {"placed": placed, "nodes": nodes}


def opened_and_recorded(job: dict[str, Any]) -> tuple[Any, int, int]:
    """A session, the number of nodes the provider takes, and the total."""
    session = open_session(job, recording(job))
    found = recorded(session)
    name = name_of(job["provider"])
    placed = sum(len(each["nodes"]) for each in found if each["provider"] == name)
    return session, placed, sum(len(each["nodes"]) for each in found)


def opened_and_logged(job: dict[str, Any]) -> tuple[Any, int, int]:
    """Like `opened_and_recorded`, for an ORT-format file: from the log, where a partition is one node."""
    options = session_options(job)
    options.log_severity_level = 0
    with tempfile.TemporaryFile() as log:
        before = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            session = open_session(job, options)
        finally:
            os.dup2(before, 2)
            os.close(before)
        log.seek(0)
        found = [match.groups() for line in log if (match := PLACED.search(line))]
    name = name_of(job["provider"]).encode()
    return (
        session,
        sum(int(count) for provider, count in found if provider == name),
        sum(int(each[1]) for each in found),
    )


def times_of(session: Any, sample: Path, pace: Mapping[str, Any], timing: Any) -> Mapping[str, Any]:
    """Times of runs of the sample, from inputs in memory to outputs in memory; the refusal if ONNX Runtime refuses
    it."""
    feed = feed_of(sample)
    try:
        answer: Mapping[str, Any] = timing.measured(lambda: session.run(None, feed), pace)
    except Exception as error:
        return {"error": refusal(error)}
    return answer


def feed_of(sample: Path) -> dict[str, Any]:
    """The inputs in a file, as ONNX Runtime takes them."""
    import numpy

    with numpy.load(sample) as arrays:
        feed = {name: arrays[name] for name in arrays.files}
    return {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in feed.items()}


class Limit:
    """The longest time of a run: None for any."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.options = None if seconds is None else onnxruntime.RunOptions()

    @property
    def is_over(self) -> bool:
        return bool(self.options and self.options.terminate)

    def run(self, session: Any, feed: dict[str, Any]) -> Any:
        """The outputs. ONNX Runtime ends between two nodes, and raises, when the time is over."""
        if self.seconds is None:
            return session.run(None, feed)
        timer = threading.Timer(self.seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            return session.run(None, feed, self.options)
        finally:
            timer.cancel()

    def _end(self) -> None:
        assert self.options
        self.options.terminate = True


UNLIMITED = Limit()


def run_sample(session: Any, sample: Path, folder: Path, limit: Limit = UNLIMITED) -> str:
    """Writes the outputs; returns ONNX Runtime's message if it refuses the sample, else an empty string."""
    import numpy

    feed = feed_of(sample)
    try:
        results = [numpy.asarray(result) for result in limit.run(session, feed)]
    except Exception as error:  # numpy raises ValueError for sequences, which are not arrays
        return refusal(error)
    for index, array in enumerate(results):
        numpy.save(folder / f"{index}.npy", array.astype(str) if array.dtype.kind == "O" else array)
    return ""


TASKS = {"assign": assign, "load": load, "export": export}


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if job["task"] == "serve":
        serve(job)
        return 0
    try:
        answer = TASKS[job["task"]](job)
    except Exception as error:
        answer = {"error": refusal(error), "is_usable": job["task"] == "export" or is_usable(job)}
    print("\n" + json.dumps({**versions(job), **answer}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
