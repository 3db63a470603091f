"""Runs a model with TensorRT itself: `python tensorrt_child.py JOB.json`. Needs numpy, TensorRT's Python module and
pycuda or cuda-core; nothing of mobpack.

It is started by path, so that any interpreter can run it. The job is JSON: `model` (ONNX), `data_folder` (of its
external data, or null), `outputs` (names, in the model's order), `nodes` (number of nodes of the model), `module`
(`tensorrt` or `tensorrt_rtx`), `cuda` (`pycuda` or `cuda-core`), `fp16`, `is_quantized` and `driver` (in words).

Prints `{"about", "placed", "nodes", "load_ns", "base_bytes"}` once the model is open, `{"refused": text}` for a model
that TensorRT refuses, `{"unusable": text}` if it does not work on this machine. Then it reads lines `{"sample": .npz
keyed by input name, "folder": path}`, writes `folder/0.npy` and so on, one for each output, and prints `{"error": ""}`,
or the error of that sample. A line `{"sample": path, "pace": {...}}` asks for times: the answer is that of `measured`
in session/timing.py.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

# Files beside this one have the names of NVIDIA's modules `tensorrt` and `cuda`.
HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]

import numpy  # noqa: E402 - only now is it the interpreter's own

TIMING = HERE.parent / "session" / "timing.py"
ERRORS_KEPT = 3
"""Maximum number of TensorRT's errors to keep; the first are the cause."""


class RefusedError(Exception):
    """A model or sample that cannot run, in words."""


class UnusableError(Exception):
    """A part that does not work on this machine, in words."""


# Build choices, which need no GPU.


@dataclass(frozen=True)
class Choices:
    """The typing of a network, and the names of the builder's flags to set and to clear."""

    is_strongly_typed: bool
    flags: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ("TF32",)
    words: str = "strongly typed, TF32 off"


def choose(version: str, module: str, *, fp16: bool, is_quantized: bool) -> Choices:
    """The choices for a version. In a strongly typed network the graph alone determines the precision of each layer:
    TensorRT 11 and TensorRT for RTX support nothing else. Raises RefusedError for what a version cannot do."""
    if not fp16:
        return Choices(is_strongly_typed=True)
    if "rtx" in module or int(version.split(".")[0]) >= 11:
        raise RefusedError(
            f"{title(module)} {version} computes as precisely as the graph says: give it a graph in float16 instead of "
            "fp16 = true"
        )
    flags = ("FP16", "INT8") if is_quantized else ("FP16",)  # without INT8 it refuses QuantizeLinear
    return Choices(is_strongly_typed=False, flags=flags, words="fp16 allowed, TF32 off")


def title(module: str) -> str:
    return "TensorRT for RTX" if "rtx" in module else "TensorRT"


@dataclass(frozen=True)
class Span:
    """The smallest and the largest an input may be in each position, and what the engine is optimized for: sizes, or
    the numbers themselves for an input whose numbers are a shape."""

    low: tuple[int, ...]
    best: tuple[int, ...]
    high: tuple[int, ...]

    @classmethod
    def of(cls, numbers: Sequence[int]) -> "Span":
        return cls(tuple(numbers), tuple(numbers), tuple(numbers))

    def has(self, numbers: Sequence[int]) -> bool:
        return len(numbers) == len(self.low) and all(
            low <= number <= high for low, number, high in zip(self.low, numbers, self.high, strict=True)
        )

    def widened(self, numbers: Sequence[int]) -> "Span":
        """A span that also covers `numbers`; one of another rank starts again."""
        if len(numbers) != len(self.low):
            return Span.of(numbers)
        return Span(tuple(map(min, self.low, numbers)), tuple(numbers), tuple(map(max, self.high, numbers)))


def widened(spans: Mapping[str, Span], asked: Mapping[str, Sequence[int]]) -> dict[str, Span]:
    """Spans that cover everything so far and a sample's demands."""
    return {
        name: spans[name].widened(numbers) if name in spans else Span.of(numbers) for name, numbers in asked.items()
    }


def have(spans: Mapping[str, Span], asked: Mapping[str, Sequence[int]]) -> bool:
    return all(name in spans and spans[name].has(numbers) for name, numbers in asked.items())


# Calls to TensorRT.


def logger_of(trt: Any) -> Any:
    """A logger that collects TensorRT's errors in `errors`."""

    class Log(trt.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.errors: list[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity in (trt.ILogger.Severity.ERROR, trt.ILogger.Severity.INTERNAL_ERROR):
                self.errors.append(" ".join(message.split()))

    return Log()


def complaints(log: Any) -> str:
    """TensorRT's errors since the last call."""
    text = "; ".join(dict.fromkeys(log.errors[:ERRORS_KEPT]))
    log.errors.clear()
    return text or "TensorRT gives no reason"


@dataclass(frozen=True)
class Parsed:
    """A model as TensorRT parsed it. The parser owns the weights: it must live as long as the network."""

    builder: Any
    network: Any
    parser: Any
    choices: Choices


def parse(trt: Any, log: Any, job: Mapping[str, Any]) -> Parsed:
    """Raises RefusedError for a model that TensorRT refuses, UnusableError if there is no builder."""
    choices = choose(trt.__version__, job["module"], fp16=job["fp16"], is_quantized=job["is_quantized"])
    try:
        builder = trt.Builder(log)
    except TypeError as error:  # pybind11: the factory returned nothing
        raise UnusableError(f"TensorRT does not start: {complaints(log)}") from error
    flags = 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED) if choices.is_strongly_typed else 0
    network = builder.create_network(flags)
    trt.init_libnvinfer_plugins(log, "")  # some operators are plug-ins of its own: NonZero
    parser = trt.OnnxParser(network, log)
    # The path locates external data: beside it. The file itself may be elsewhere, and is not opened again.
    beside = Path(job["data_folder"] or Path(job["model"]).parent, "model.onnx")
    if not parser.parse(Path(job["model"]).read_bytes(), str(beside)):
        raise RefusedError("; ".join(parser_errors(parser)) or complaints(log))
    return Parsed(builder, network, parser, choices)


def parser_errors(parser: Any) -> list[str]:
    """Every error, with its node: those that TensorRT lists after the first are often its consequences."""
    found = []
    for index in range(parser.num_errors):
        error = parser.get_error(index)
        name = error.node_name()
        node = f"node {error.node()}" if error.node() >= 0 else "the model"
        operator = f" ({error.node_operator()}{f' {name}' if name else ''})" if error.node_operator() else ""
        found.append(f"{node}{operator}: {error.func()} says {' '.join(error.desc().split())}")
    return found


def configuration(trt: Any, parsed: Parsed, spans: Mapping[str, Span]) -> Any:
    """Build configuration: flags, and the ranges of dynamic dimensions."""
    config = parsed.builder.create_builder_config()
    for flag in parsed.choices.flags:
        config.set_flag(getattr(trt.BuilderFlag, flag))
    for flag in parsed.choices.cleared:
        config.clear_flag(getattr(trt.BuilderFlag, flag))
    profile = parsed.builder.create_optimization_profile()
    shape_inputs = {tensor.name for tensor in inputs_of(parsed.network) if tensor.is_shape_tensor}
    for name, span in spans.items():
        setter = profile.set_shape_input if name in shape_inputs else profile.set_shape
        setter(name, span.low, span.best, span.high)
    if spans:
        config.add_optimization_profile(profile)
    return config


def inputs_of(network: Any) -> list[Any]:
    return [network.get_input(index) for index in range(network.num_inputs)]


def asks(network: Any, feed: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """A sample's demands on a profile: shapes of dynamic inputs, numbers of inputs that are shapes."""
    asked = {}
    for tensor in inputs_of(network):
        if tensor.is_shape_tensor:
            asked[tensor.name] = tuple(int(number) for number in feed[tensor.name].reshape(-1))
        elif any(size < 0 for size in tensor.shape):
            asked[tensor.name] = tuple(feed[tensor.name].shape)
    return asked


def build(parsed: Parsed, config: Any, log: Any) -> Any:
    """The serialized engine. Raises RefusedError."""
    plan = parsed.builder.build_serialized_network(parsed.network, config)
    if plan is None:
        raise RefusedError(f"TensorRT cannot build an engine: {complaints(log)}")
    return plan


# Memory.


@dataclass(frozen=True)
class Memory:
    """A buffer on the GPU and one of the same size in pinned memory of this process."""

    address: int
    host_address: int
    size: int
    kept: tuple[Any, ...]
    """owners of both: they are freed with it"""

    def write(self, array: Any) -> None:
        ctypes.memmove(self.host_address, array.ctypes.data, array.nbytes)

    def read(self, dtype: Any, shape: tuple[int, ...]) -> Any:
        array = numpy.empty(shape, dtype)
        ctypes.memmove(array.ctypes.data, self.host_address, array.nbytes)
        return array


class PycudaGpu:
    """The first GPU through pycuda, in its primary context: the one that TensorRT uses."""

    def __init__(self) -> None:
        pycuda = import_module("pycuda")
        self._driver = import_module("pycuda.driver")
        self._driver.init()
        device = self._driver.Device(0)
        self._context = device.retain_primary_context()
        self._context.push()
        self._stream = self._driver.Stream()
        self.stream = int(self._stream.handle)
        self.name = str(device.name())
        self.through = f"pycuda {pycuda.VERSION_TEXT}"

    def memory(self, size: int) -> Memory:
        device = self._driver.mem_alloc(size)
        host = self._driver.pagelocked_empty(size, numpy.uint8)
        return Memory(int(device), host.ctypes.data, size, (device, host))

    def upload(self, memory: Memory, size: int) -> None:
        device, host = memory.kept
        self._driver.memcpy_htod_async(device, host[:size], self._stream)

    def download(self, memory: Memory, size: int) -> None:
        device, host = memory.kept
        self._driver.memcpy_dtoh_async(host[:size], device, self._stream)

    def wait(self) -> None:
        self._stream.synchronize()

    def free(self, memory: Memory) -> None:
        device, host = memory.kept
        device.free()
        host.base.free()

    def close(self) -> None:
        del self._stream
        self._context.pop()
        self._context.detach()


class CoreGpu:
    """The first GPU through cuda-core, in its primary context: the one that TensorRT uses."""

    def __init__(self) -> None:
        core = import_module("cuda.core")
        self._device = core.Device(0)
        self._device.set_current()
        self._pinned = core.LegacyPinnedMemoryResource()
        self._stream = self._device.create_stream()
        self.stream = int(self._stream.handle)
        self.name = str(self._device.name)
        self.through = f"cuda-core {core.__version__}"

    def memory(self, size: int) -> Memory:
        device = self._device.allocate(size, stream=self._stream)
        host = self._pinned.allocate(size, stream=self._stream)
        return Memory(int(device.handle), int(host.handle), size, (device, host))

    def upload(self, memory: Memory, size: int) -> None:
        device, host = memory.kept
        device.copy_from(host, stream=self._stream)

    def download(self, memory: Memory, size: int) -> None:
        device, host = memory.kept
        device.copy_to(host, stream=self._stream)

    def wait(self) -> None:
        self._stream.sync()

    def free(self, memory: Memory) -> None:
        for buffer in memory.kept:
            buffer.close(stream=self._stream)

    def close(self) -> None:
        self._stream.sync()
        self._stream.close()


Gpu = PycudaGpu | CoreGpu


# Running.


class Engine:
    """A built model with its memory."""

    def __init__(self, trt: Any, log: Any, plan: Any, spans: Mapping[str, Span], gpu: Gpu) -> None:
        """Raises UnusableError if the GPU cannot run the engine."""
        self.spans, self._trt, self._log, self._gpu = spans, trt, log, gpu
        self._runtime = trt.Runtime(log)
        engine = self._runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise UnusableError(f"the GPU does not take the engine: {complaints(log)}")
        context = engine.create_execution_context()
        if context is None:
            raise UnusableError(f"the GPU has no room for the engine: {complaints(log)}")
        self._engine, self._context = engine, context
        self._memory: dict[str, Memory] = {}

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Output name -> array. Raises RefusedError."""
        engine, context = self._engine, self._context
        names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
        inputs = [name for name in names if engine.get_tensor_mode(name) == self._trt.TensorIOMode.INPUT]
        for name in inputs:
            self._give(name, feed[name])
        if unknown := context.infer_shapes():
            raise RefusedError(f"TensorRT cannot determine the shapes of {', '.join(unknown)}")
        outputs = {name: self._expect(name) for name in names if name not in inputs}
        if not context.execute_async_v3(self._gpu.stream):
            raise RefusedError(f"TensorRT cannot run the sample: {complaints(self._log)}")
        return {name: self._take(name, allocator) for name, allocator in outputs.items()}

    def close(self) -> None:
        """Frees everything in the order that TensorRT requires: users before what they use."""
        self._gpu.wait()
        del self._context, self._engine, self._runtime
        for memory in self._memory.values():
            self._gpu.free(memory)
        self._memory.clear()

    def reserve(self, name: str, size: int) -> Memory:
        """A buffer for a tensor, of at least `size` bytes: the existing one if it is large enough."""
        known = self._memory.get(name)
        if known and known.size >= size:
            return known
        if known:
            self._gpu.wait()
            self._gpu.free(known)
        self._memory[name] = self._gpu.memory(max(size, 1))
        return self._memory[name]

    def _is_on_host(self, name: str) -> bool:
        return bool(self._engine.get_tensor_location(name) == self._trt.TensorLocation.HOST)

    def _give(self, name: str, array: Any) -> None:
        memory = self.reserve(name, array.nbytes)
        memory.write(array)
        context = self._context
        if not context.set_input_shape(name, array.shape):
            raise RefusedError(f"TensorRT does not take {list(array.shape)} for {name}: {complaints(self._log)}")
        if self._is_on_host(name):
            context.set_tensor_address(name, memory.host_address)
        else:
            self._gpu.upload(memory, array.nbytes)
            context.set_tensor_address(name, memory.address)

    def _expect(self, name: str) -> Any:
        """Provides memory for an output; returns the allocator if its shape depends on values, else None."""
        context = self._context
        shape = tuple(context.get_tensor_shape(name))
        if any(size < 0 for size in shape):
            allocator = allocator_of(self._trt, self)
            context.set_output_allocator(name, allocator)
            return allocator
        memory = self.reserve(name, size_of(shape, self._dtype(name)))
        context.set_tensor_address(name, memory.host_address if self._is_on_host(name) else memory.address)
        return None

    def _take(self, name: str, allocator: Any) -> Any:
        """The output as an array. A shape that depends on values is known once everything has run."""
        if allocator is not None:
            self._gpu.wait()
        shape = tuple(self._context.get_tensor_shape(name)) if allocator is None else allocator.shape
        dtype = self._dtype(name)
        memory = self.reserve(name, size_of(shape, dtype))
        if not self._is_on_host(name):
            self._gpu.download(memory, size_of(shape, dtype))
        self._gpu.wait()
        return memory.read(dtype, shape)

    def _dtype(self, name: str) -> Any:
        return dtype_of(self._trt, self._engine.get_tensor_dtype(name), f"output {name}")


def allocator_of(trt: Any, owner: Engine) -> Any:
    """An allocator through which TensorRT requests memory for an output of unknown size."""

    class Allocator(trt.IOutputAllocator):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IOutputAllocator.__init__(self)
            self.shape: tuple[int, ...] = ()

        def reallocate_output_async(self, tensor_name: str, memory: int, size: int, alignment: int, stream: int) -> int:
            return owner.reserve(tensor_name, size).address

        def notify_shape(self, tensor_name: str, shape: Any) -> None:
            self.shape = tuple(shape)

    return Allocator()


def size_of(shape: Iterable[int], dtype: Any) -> int:
    """Size in bytes."""
    size = int(numpy.dtype(dtype).itemsize)
    for each in shape:
        size *= each
    return size


def dtype_of(trt: Any, data_type: Any, what: str) -> Any:
    """numpy's data type. Raises RefusedError for those that numpy lacks."""
    try:
        return numpy.dtype(trt.nptype(data_type))
    except TypeError as error:
        raise RefusedError(f"{what} holds {data_type}, which numpy does not have") from error


class Model:
    """A model that is parsed once, and built again when a sample has a shape that the engine does not cover."""

    def __init__(self, trt: Any, gpu: Gpu, job: Mapping[str, Any]) -> None:
        self._trt, self._gpu, self._log = trt, gpu, logger_of(trt)
        self._outputs: list[str] = job["outputs"]
        self.parsed = parse(trt, self._log, job)
        self.dtypes = {
            tensor.name: dtype_of(trt, tensor.dtype, f"input {tensor.name}")
            for tensor in inputs_of(self.parsed.network)
        }
        is_dynamic = any(
            tensor.is_shape_tensor or any(size < 0 for size in tensor.shape)
            for tensor in inputs_of(self.parsed.network)
        )
        self._ready = None if is_dynamic else self._built({})

    def run(self, sample: Path, folder: Path) -> None:
        """Raises RefusedError."""
        feed = self._feed(sample)
        results = self._ready_for(asks(self.parsed.network, feed)).run(feed)
        for index, name in enumerate(self._outputs):
            numpy.save(folder / f"{index}.npy", results[name])

    def times(self, sample: Path, pace: Mapping[str, Any], timing: Any) -> Mapping[str, Any]:
        """Times of runs from inputs to outputs in this process's memory, copies included. Raises RefusedError."""
        feed = self._feed(sample)
        ready = self._ready_for(asks(self.parsed.network, feed))
        answer: Mapping[str, Any] = timing.measured(lambda: ready.run(feed), pace)
        return answer

    def _feed(self, sample: Path) -> dict[str, Any]:
        with numpy.load(sample) as arrays:
            return {name: fitting(name, arrays[name], dtype) for name, dtype in self.dtypes.items()}

    def close(self) -> None:
        if self._ready:
            self._ready.close()
        self._gpu.close()

    def _ready_for(self, asked: Mapping[str, Sequence[int]]) -> Engine:
        if self._ready and have(self._ready.spans, asked):
            return self._ready
        spans: Mapping[str, Span] = {}
        if self._ready:
            spans = self._ready.spans
            self._ready.close()
            self._ready = None  # if building fails, the next sample must not use a closed engine
        self._ready = self._built(widened(spans, asked))
        return self._ready

    def _built(self, spans: Mapping[str, Span]) -> Engine:
        plan = build(self.parsed, configuration(self._trt, self.parsed, spans), self._log)
        return Engine(self._trt, self._log, plan, spans, self._gpu)


def fitting(name: str, array: Any, dtype: Any) -> Any:
    """`array` in TensorRT's type. Raises RefusedError if it would have to be rounded."""
    if array.dtype != dtype:
        raise RefusedError(f"input {name} holds {array.dtype}, and TensorRT reads it as {dtype}")
    return numpy.ascontiguousarray(array).reshape(array.shape)


# The protocol.


def is_of_nvidia(error: Exception) -> bool:
    """Whether an NVIDIA library raised it: its classes share no base. Any other exception is a bug in this program."""
    module = type(error).__module__
    return module.startswith(("pycuda", "cuda.", "tensorrt")) or isinstance(error, RuntimeError | MemoryError)


def said(error: Exception) -> str:
    """The message of an NVIDIA exception; raises `error` again if it is a bug in this program."""
    if isinstance(error, RefusedError | UnusableError) or is_of_nvidia(error):
        return " ".join(str(error).split()) or type(error).__name__
    raise error


def gpu_of(job: Mapping[str, Any]) -> Gpu:
    """Raises UnusableError if there is no usable one."""
    try:
        return PycudaGpu() if job["cuda"] == "pycuda" else CoreGpu()
    except Exception as error:
        raise UnusableError(f"{job['cuda']} finds no GPU that it can use: {said(error)}") from error


def opened(job: Mapping[str, Any]) -> tuple[Model, str]:
    """The model, and what runs it in words. Raises RefusedError, UnusableError."""
    trt = import_module(job["module"])
    gpu = gpu_of(job)
    model = Model(trt, gpu, job)
    about = f"{title(job['module'])} {trt.__version__} on {gpu.name} (driver {job['driver']})"
    return model, f"{about}, {model.parsed.choices.words}, through {gpu.through}"


def serve(job: Mapping[str, Any]) -> None:
    """Runs samples until there are no more requests."""
    requests, answers = taken_over()

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    timing = timing_module()
    base = timing.resident_bytes()
    start = time.perf_counter_ns()
    try:
        model, about = opened(job)
    except Exception as error:
        text = said(error)
        say({"refused" if isinstance(error, RefusedError) else "unusable": text})
        return
    load_ns = time.perf_counter_ns() - start
    say({"about": about, "placed": job["nodes"], "nodes": job["nodes"], "load_ns": load_ns, "base_bytes": base})
    for line in requests:
        request = json.loads(line)
        try:
            if "pace" in request:
                say(model.times(Path(request["sample"]), request["pace"], timing))
                continue
            model.run(Path(request["sample"]), Path(request["folder"]))
            say({"error": ""})
        except Exception as error:
            say({"error": said(error)})
    model.close()


def timing_module() -> Any:
    """The module that times runs, from its path: mobpack is not a package of this interpreter."""
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


def main() -> int:
    serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
