"""Runs graphs in the processes that measure: one thread for each run, so that results never depend on the number of
threads."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.engines.session import exact
from packager.engines.session.refusals import is_refusal
from packager.samples import Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 0
NO_ENTRIES: Mapping[str, str] = {}


def opened(graph: bytes, data_folder: str, entries: Mapping[str, str] = NO_ENTRIES) -> Any:
    """A session of `graph`, which computes the same on every x86 processor. Raises ModelError if ONNX Runtime refuses
    it. `entries` are session configuration."""
    import onnxruntime

    onnxruntime.set_seed(SEED)  # operators that draw random numbers draw the same ones in every session
    try:
        return exact.opened(graph, data_folder, lambda: _options(entries))
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime refuses the graph: {in_one_line(error)}", hint="check that the model itself runs"
        ) from error


def _options(entries: Mapping[str, str]) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = not entries  # a single block for the whole run could not be shared value by value
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return options


def run(session: Any, names: Sequence[str], inputs: "Mapping[str, NDArray[Any]]") -> "list[NDArray[Any]]":
    """The outputs `names`. Raises ModelError if ONNX Runtime refuses to run."""
    feeds = {name: as_runtime_wants(array) for name, array in inputs.items()}
    try:
        return list(session.run(list(names), feeds))
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime cannot run the graph: {in_one_line(error)}", hint="check that the model runs on the samples"
        ) from error


def read(samples: Samples) -> "Iterator[dict[str, NDArray[Any]]]":
    """The samples, from their reader. Raises ConfigError if there are not as many as there should be."""
    module, function = samples.reader.split(":")
    found = 0
    for sample in getattr(import_module(module), function)(samples.description):
        found += 1
        yield sample
    if found != samples.count:
        raise ConfigError(
            f"{found} samples could be read, {samples.count} were expected",
            hint="do not change the samples while they are read, and run again",
        )


def as_runtime_wants(array: "NDArray[Any]") -> "NDArray[Any]":
    return array.astype(object) if array.dtype.kind == "U" else array


def in_one_line(error: Exception) -> str:
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())
