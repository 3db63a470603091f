"""A stand-in for TensorRT's Python module that computes with onnx.reference: the calls are TensorRT's, and those that
TensorRT would refuse fail. `gpu.py` lays it where a program imports it as `tensorrt`.

`test_gpu_bindings.py` holds it, and the program it serves, against the real modules.
"""

import ctypes
import io
import os
import pickle
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.external_data_helper
from onnx.reference import ReferenceEvaluator

__version__ = os.environ.get("STAND_IN_TENSORRT", "10.16.1.11")
LOG = Path(os.environ["STAND_IN_LOG"])
"""One line for each fact that a test checks."""
LARGEST = 1 << 20
"""size that an engine can be built for"""
DRIVER = ctypes.CDLL("libcuda.so.1") if os.environ.get("STAND_IN_FOR") == "gpu" else None
"""of a real GPU, whose memory only it can copy"""


def note(line: str) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def copy(target: int, source: int, size: int) -> None:
    if DRIVER is None:
        ctypes.memmove(target, source, size)
        return
    assert DRIVER.cuCtxSynchronize() == 0
    assert not size or DRIVER.cuMemcpy(*map(ctypes.c_uint64, (target, source, size))) == 0


class Severity(IntEnum):
    INTERNAL_ERROR = 0
    ERROR = 1
    WARNING = 2


class ILogger:
    Severity = Severity

    def __init__(self) -> None:
        self.is_made = True

    def log(self, severity: IntEnum, message: str) -> None:
        raise NotImplementedError


class NetworkDefinitionCreationFlag(IntEnum):
    STRONGLY_TYPED = 1


class BuilderFlag(IntEnum):
    FP16 = 0
    INT8 = 1
    TF32 = 2


class TensorIOMode(IntEnum):
    INPUT = 1
    OUTPUT = 2


class TensorLocation(IntEnum):
    DEVICE = 0
    HOST = 1


def nptype(data_type: int) -> Any:
    if data_type == onnx.TensorProto.BFLOAT16:
        raise TypeError("Could not resolve TensorRT datatype to an equivalent numpy datatype.")
    return onnx.helper.tensor_dtype_to_np_dtype(data_type)


def init_libnvinfer_plugins(logger: ILogger, namespace: str) -> bool:
    return logger.is_made and not namespace


class Tensor:
    def __init__(self, value: onnx.ValueInfoProto, shape_inputs: set[str]) -> None:
        kind = value.type.tensor_type
        self.name, self.dtype = value.name, kind.elem_type
        self.shape = tuple(size.dim_value if size.HasField("dim_value") else -1 for size in kind.shape.dim)
        self.is_shape_tensor = value.name in shape_inputs


class Network:
    def __init__(self) -> None:
        self.proto = onnx.ModelProto()

    @property
    def num_inputs(self) -> int:
        return len(self.proto.graph.input)

    def get_input(self, index: int) -> Tensor:
        return Tensor(self.proto.graph.input[index], shape_inputs(self.proto))


def shape_inputs(proto: onnx.ModelProto) -> set[str]:
    return {node.input[1] for node in proto.graph.node if node.op_type in ("Expand", "Reshape")}


class ParserError:
    def __init__(self, index: int, node: onnx.NodeProto) -> None:
        self.at, self.of = index, node

    def node(self) -> int:
        return self.at

    def node_name(self) -> str:
        return str(self.of.name)

    def node_operator(self) -> str:
        return str(self.of.op_type)

    def func(self) -> str:
        return "checkNode"

    def desc(self) -> str:
        return "not\n supported"


class OnnxParser:
    def __init__(self, network: Network, logger: ILogger) -> None:
        self.network, self.errors = network, list[ParserError]()

    def parse(self, model: bytes, path: str) -> bool:
        self.network.proto.ParseFromString(model)
        onnx.external_data_helper.load_external_data_for_model(self.network.proto, str(Path(path).parent))
        nodes = enumerate(self.network.proto.graph.node)
        self.errors = [ParserError(index, node) for index, node in nodes if node.op_type == "Det"]
        return not self.errors

    @property
    def num_errors(self) -> int:
        return len(self.errors)

    def get_error(self, index: int) -> ParserError:
        return self.errors[index]


class Profile:
    def __init__(self) -> None:
        self.shapes: dict[str, tuple[Any, ...]] = {}

    def set_shape(self, name: str, low: Any, best: Any, high: Any) -> None:
        self.shapes[name] = (tuple(low), tuple(best), tuple(high))

    def set_shape_input(self, name: str, low: Any, best: Any, high: Any) -> None:
        note(f"values of {name}: {tuple(low)} {tuple(best)} {tuple(high)}")


class Config:
    def __init__(self) -> None:
        self.flags, self.profiles = {"TF32"}, list[Profile]()

    def set_flag(self, flag: BuilderFlag) -> None:
        self.flags.add(flag.name)

    def clear_flag(self, flag: BuilderFlag) -> None:
        self.flags.discard(flag.name)

    def add_optimization_profile(self, profile: Profile) -> None:
        self.profiles.append(profile)


class Builder:
    def __init__(self, logger: ILogger) -> None:
        assert logger.is_made
        self.logger = logger

    def create_network(self, flags: int) -> Network:
        note(f"network {flags}")
        return Network()

    def create_builder_config(self) -> Config:
        return Config()

    def create_optimization_profile(self) -> Profile:
        return Profile()

    def build_serialized_network(self, network: Network, config: Config) -> bytes | None:
        profile = config.profiles[0].shapes if config.profiles else {}
        for tensor in (network.get_input(index) for index in range(network.num_inputs)):
            if -1 in tensor.shape and tensor.name not in profile:
                self.logger.log(Severity.ERROR, f"{tensor.name} has no\n profile")
                return None
        if any(max(high) > LARGEST for _, _, high in profile.values()):
            self.logger.log(Severity.ERROR, "too\n large")
            return None
        note(f"build {sorted(config.flags)} {profile}")
        return pickle.dumps((network.proto.SerializeToString(), profile))


class Runtime:
    def __init__(self, logger: ILogger) -> None:
        self.logger = logger

    def deserialize_cuda_engine(self, plan: bytes) -> "Engine":
        return Engine(*pickle.load(io.BytesIO(plan)))


class Engine:
    def __init__(self, model: bytes, profile: dict[str, Any]) -> None:
        self.proto, self.profile = onnx.ModelProto.FromString(model), profile
        graph = self.proto.graph
        self.tensors = {value.name: value for value in (*graph.output, *graph.input)}

    def create_execution_context(self) -> "Context":
        return Context(self)

    @property
    def num_io_tensors(self) -> int:
        return len(self.tensors)

    def get_tensor_name(self, index: int) -> str:
        return str(sorted(self.tensors)[index])

    def get_tensor_mode(self, name: str) -> TensorIOMode:
        is_input = any(value.name == name for value in self.proto.graph.input)
        return TensorIOMode.INPUT if is_input else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name: str) -> int:
        return int(self.tensors[name].type.tensor_type.elem_type)

    def get_tensor_location(self, name: str) -> TensorLocation:
        return TensorLocation.HOST if name in shape_inputs(self.proto) else TensorLocation.DEVICE


class Context:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.addresses: dict[str, int] = {}
        self.allocators: dict[str, Any] = {}

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        low, _, high = self.engine.profile.get(name, (shape, shape, shape))
        self.shapes[name] = tuple(shape)
        return all(a <= size <= b for a, size, b in zip(low, shape, high, strict=True))

    def set_tensor_address(self, name: str, memory: int) -> bool:
        self.addresses[name] = memory
        return True

    def set_output_allocator(self, name: str, allocator: Any) -> bool:
        self.allocators[name] = allocator
        return True

    def infer_shapes(self) -> list[str]:
        inputs = [value.name for value in self.engine.proto.graph.input]
        return [name for name in inputs if name not in self.shapes or name not in self.addresses]

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        if any(node.op_type == "NonZero" for node in self.engine.proto.graph.node):
            return Tensor(self.engine.tensors[name], set()).shape
        return tuple(self.computed()[name].shape)

    def execute_async_v3(self, stream: int) -> bool:
        assert stream == 7 or DRIVER
        for name, array in self.computed().items():
            content = numpy.ascontiguousarray(array)
            address = self.addresses.get(name, 0)
            if name in self.allocators:
                address = self.allocators[name].reallocate_output_async(name, 0, content.nbytes, 256, stream)
                self.allocators[name].notify_shape(name, content.shape)
            copy(address, content.ctypes.data, content.nbytes)
        return True

    def computed(self) -> dict[str, Any]:
        """Outputs of the model for the inputs in memory."""
        feed = {}
        for value in self.engine.proto.graph.input:
            array = numpy.empty(self.shapes[value.name], nptype(value.type.tensor_type.elem_type))
            copy(array.ctypes.data, self.addresses[value.name], array.nbytes)
            feed[value.name] = array
        names = [value.name for value in self.engine.proto.graph.output]
        return dict(zip(names, ReferenceEvaluator(self.engine.proto).run(None, feed), strict=True))


class IOutputAllocator:
    pass
