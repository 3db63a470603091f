"""Speaks with ONNX Runtime in any interpreter: `python session_child.py JOB.json`. Needs onnxruntime and numpy alone.

It is started by path, so that the interpreters of `environments` and those of users can run it. The job is JSON:
`task` and `model`; for `export`, which writes the graph of an ORT-format file as it stands, `output`; for the other
tasks also `provider`, `provider_options`, `entries` (session configuration), `data_folder` (of external data, or null),
`optimize` and, where it is not 1, `threads` (0: as many as there are cores).

`assign` (which nodes does the provider take), `load` and `export` print one JSON line: what the task gives, or
`{"error": text, "is_usable": bool}` where ONNX Runtime refuses: false when the provider opens no model at all here.

`serve` prints `{"version", "plugin", "placed", "nodes"}` once the model is open, the last two being how many of its
nodes are the provider's, where ONNX Runtime says so. Else it prints `{"refused": text}` for a model that does not open,
`{"idle": text}` for one of which the provider takes no node, `{"unusable": text}` where the provider does not work
here. Then it reads lines `{"sample": .npz keyed by input name, "folder": path}`, writes `folder/0.npy` and so on, one
for each output, and prints `{"error": ""}`, or what ONNX Runtime says against that sample.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import onnxruntime

PLUGINS = {"qnn": "onnxruntime_qnn", "webgpu": "onnxruntime_ep_webgpu"}
"""Provider -> the module that carries its library."""
BUILT_IN = {
    "cpu": "CPUExecutionProvider",
    "xnnpack": "XnnpackExecutionProvider",
    "nnapi": "NnapiExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
}
RELU = bytes.fromhex(
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08"
    "080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
"""y = Relu(x) on float[1], as a ModelProto: something every provider takes."""
RECORD = "session.record_ep_graph_assignment_info"
PLACED = re.compile(rb"ode(?:s|\(s\)) placed on \[(\w+)\]\. Number of nodes: (\d+)")
"""How the log says which provider has how many nodes."""


def assign(job: dict[str, Any]) -> dict[str, Any]:
    """`{"subgraphs": [{"provider", "nodes": [{"name", "op", "domain"}]}]}`.

    ONNX Runtime records nothing for ORT-format files: give it what `export` wrote.
    """
    found = recorded(open_session(job, recording(job)))
    if job["provider"] in PLUGINS and not takes_any(job, found) and not is_usable(job):
        # A library or an option that fails is logged, not raised.
        raise ValueError("the provider does not work on this machine or with these options: it takes no Relu")
    return {"subgraphs": found}


def is_usable(job: dict[str, Any]) -> bool:
    """Whether the provider takes what every provider takes."""
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
    """What ONNX Runtime calls it."""
    if provider in PLUGINS:
        return str(import_module(PLUGINS[provider]).get_ep_name())
    return BUILT_IN.get(provider, provider)


def load(job: dict[str, Any]) -> dict[str, Any]:
    open_session(job, session_options(job))
    return {}


def export(job: dict[str, Any]) -> dict[str, Any]:
    """The same nodes with the same names, weights inside; the CPU changes nothing where optimizers are off."""
    options = session_options({**job, "optimize": False, "entries": {}, "data_folder": None})
    options.optimized_model_filepath = job["output"]
    options.add_session_config_entry("session.save_model_format", "ONNX")
    onnxruntime.InferenceSession(job["model"], options, providers=["CPUExecutionProvider"], enable_fallback=0)
    return {}


def session_options(job: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.get("threads", 1)
    options.log_severity_level = 4  # providers explain each node that they leave; what counts comes as an exception
    if not job["optimize"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if job["data_folder"]:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", job["data_folder"])
    for key, value in job["entries"].items():
        options.add_session_config_entry(key, value)
    return options


def open_session(job: dict[str, Any], options: Any) -> Any:
    """A session of the provider, with the CPU behind it. Raises ValueError where it would be of the CPU alone."""
    provider = job["provider"]
    if provider in PLUGINS:
        name = add_plugin(provider, job["provider_options"], options)
        providers = None
    else:
        name = BUILT_IN.get(provider, provider)
        if name not in onnxruntime.get_available_providers():
            raise ValueError(f"this ONNX Runtime has no provider {name}")
        providers = [(name, job["provider_options"]), *([] if provider == "cpu" else ["CPUExecutionProvider"])]
    # The Python wrapper tries again on the CPU alone, and only prints so, unless told otherwise.
    session = onnxruntime.InferenceSession(model_of(job), options, providers=providers, enable_fallback=0)
    if name not in session.get_providers():
        raise ValueError(f"ONNX Runtime opened the model without {name}")
    return session


def model_of(job: dict[str, Any]) -> Any:
    """Bytes where the weights lie in another folder: that entry counts for models from memory alone."""
    return Path(job["model"]).read_bytes() if job["data_folder"] else job["model"]


def add_plugin(provider: str, provider_options: dict[str, str], options: Any) -> str:
    """Has `options` use the plug-in provider; its name to ONNX Runtime."""
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
    """What ONNX Runtime said; raises `error` again when it is not ONNX Runtime's.

    Its own exceptions share no base class but their module; its Python wrapper raises ValueError and RuntimeError.
    """
    if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
        raise error
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())


Opener = Callable[[dict[str, Any]], tuple[Any, dict[str, int | None]]]
"""Job -> a session, and how many nodes of the model are the provider's, where somebody says so."""


class IdleError(Exception):
    """The model is open, and all of it runs on the CPU."""


def serve(job: dict[str, Any], open_model: Opener | None = None) -> None:
    """Runs samples until there are no more requests."""
    requests, answers = taken_over()

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        session, placement = (open_model or opened)(job)
    except IdleError as error:
        say({"idle": str(error)})
        return
    except Exception as error:
        text = refusal(error)
        say({"refused" if job["provider"] == "cpu" or is_usable(job) else "unusable": text})
        return
    say({**versions(job), **placement})
    for line in requests:
        request = json.loads(line)
        say({"error": run_sample(session, Path(request["sample"]), Path(request["folder"]))})


def taken_over() -> tuple[Any, Any]:
    """Standard input and output; what libraries print from now on goes to standard error."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def opened(job: dict[str, Any]) -> tuple[Any, dict[str, int | None]]:
    """A session, and how many nodes of the model are the provider's: ONNX Runtime does not say it of ORT format.

    Raises ValueError where none is: what the CPU computes must not be taken for the provider's numbers.
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
    """A session, how many nodes the provider takes, and of how many."""
    session = open_session(job, recording(job))
    found = recorded(session)
    name = name_of(job["provider"])
    placed = sum(len(each["nodes"]) for each in found if each["provider"] == name)
    return session, placed, sum(len(each["nodes"]) for each in found)


def opened_and_logged(job: dict[str, Any]) -> tuple[Any, int, int]:
    """The same of an ORT-format file, from the log, where everything that a provider takes in one piece is one node."""
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


def run_sample(session: Any, sample: Path, folder: Path) -> str:
    """Writes the outputs; what ONNX Runtime says when it refuses the sample, else nothing."""
    import numpy

    with numpy.load(sample) as arrays:
        feed = {name: arrays[name] for name in arrays.files}
    feed = {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in feed.items()}
    try:
        results = [numpy.asarray(result) for result in session.run(None, feed)]
    except Exception as error:  # ValueError of numpy's for sequences, which are no array
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
