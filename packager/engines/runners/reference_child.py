"""Runs a model with onnx's reference implementation: `python reference_child.py JOB.json`.

It uses the protocol of `serve` in session/session_child.py. It reads `model`, `data_folder` and `memory_bytes` of the
job, and never exceeds the latter if the system lets programs limit themselves.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.files.processes.channel import Channel

if TYPE_CHECKING:
    from onnx.reference import ReferenceEvaluator

MIB = 2**20


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    channel = Channel.taken_over()
    limit_memory(job["memory_bytes"])
    try:
        evaluator = opened(Path(job["model"]), job["data_folder"])
    except Exception as error:  # operators raise any exception of numpy or Python
        channel.say({"refused": in_words(error, job)})
        return 0
    about = f"onnx {version('onnx')}'s reference implementation, numpy {version('numpy')}"
    channel.say({"about": about, "placed": None, "nodes": None})
    for line in channel.requests:
        request = json.loads(line)
        try:
            run_sample(evaluator, Path(request["sample"]), Path(request["folder"]))
        except OSError:
            raise  # a full disk is not the model's fault
        except Exception as error:
            channel.say({"error": in_words(error, job)})
        else:
            channel.say({"error": ""})
    return 0


def limit_memory(size_bytes: int) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, size_bytes))


def opened(path: Path, data_folder: str | None) -> "ReferenceEvaluator":
    from onnx import load_model_from_string
    from onnx.external_data_helper import load_external_data_for_model
    from onnx.reference import ReferenceEvaluator

    proto = load_model_from_string(path.read_bytes())
    load_external_data_for_model(proto, data_folder or str(path.parent))
    return ReferenceEvaluator(proto)


def run_sample(evaluator: "ReferenceEvaluator", sample: Path, folder: Path) -> None:
    import numpy

    with numpy.load(sample) as arrays:
        feed = {name: arrays[name] for name in arrays.files}
    feed = {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in feed.items()}
    for index, result in enumerate(evaluator.run(None, feed)):
        array = numpy.asarray(result)
        numpy.save(folder / f"{index}.npy", array.astype(str) if array.dtype.kind == "O" else array)


def in_words(error: Exception, job: dict[str, Any]) -> str:
    if isinstance(error, MemoryError):
        return f"onnx's reference implementation needs more than {job['memory_bytes'] // MIB} MiB of memory"
    return " ".join(f"{type(error).__name__}: {error}".split())


if __name__ == "__main__":
    sys.exit(main())
