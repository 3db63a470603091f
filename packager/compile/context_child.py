"""Compiles a graph for a Qualcomm SoC: `python context_child.py JOB.json`. Needs only onnxruntime and onnxruntime-qnn.

It is started by path in the environment qnn. Prints one JSON line: `{}`, or `{"error": text}` if ONNX Runtime refuses
the graph or cannot open the file it wrote.

The job: `graph` (file with the serialized ModelProto), `data_folder` (of its external data), `output`,
`provider_options`; absolute paths.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import onnxruntime

QNN: Any = import_module("onnxruntime_qnn")


def compile_graph(job: dict[str, Any]) -> None:
    """Writes `output` and opens it."""
    os.chdir(job["data_folder"])
    compiler = onnxruntime.ModelCompiler(
        session_options(job),
        # Bytes, because a model compiled from a file has a hash of the file's path in the names of its nodes.
        Path(job["graph"]).read_bytes(),
        embed_compiled_data_into_model=True,
        graph_optimization_level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
    )
    compiler.compile_to_file(job["output"])
    onnxruntime.InferenceSession(job["output"], session_options(job), enable_fallback=0)


def session_options(job: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4  # the provider logs each node that it leaves
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    # A hash of this path is part of the names of the compiled nodes.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", ".")
    options.add_provider_for_devices(devices(), job["provider_options"])
    return options


def devices() -> list[Any]:
    """The simulated processor. Raises ValueError if the provider offers none."""
    name = QNN.get_ep_name()
    found = [device for device in onnxruntime.get_ep_devices() if device.ep_name == name]
    if not found:
        raise ValueError(f"{name} finds no device on this machine")
    return found[:1]


def refusal(error: Exception) -> str:
    """ONNX Runtime's message; raises `error` again if it is not ONNX Runtime's.

    Its own exceptions share no base class but their module; its Python wrapper raises ValueError and RuntimeError.
    """
    if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
        raise error
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    onnxruntime.register_execution_provider_library(QNN.get_ep_name(), QNN.get_library_path())
    answer: dict[str, str] = {}
    try:
        compile_graph(job)
    except Exception as error:
        answer = {"error": refusal(error)}
    print("\n" + json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
