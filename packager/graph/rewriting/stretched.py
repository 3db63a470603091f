"""Sessions that run a graph in stretches, for processes that observe its values."""

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.rewriting.stretches import Stretch, keep, stretches

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

ONE_ARENA = {"session.use_env_allocators": "1"}
"""Session configuration to share memory, so that a stretch reuses what earlier ones freed."""
FLOATS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64"}
"""ONNX Runtime's name of a float tensor -> numpy's type of its elements."""
ELEMENTS = {
    "tensor(float)": 1,
    "tensor(uint8)": 2,
    "tensor(int8)": 3,
    "tensor(uint16)": 4,
    "tensor(int16)": 5,
    "tensor(int32)": 6,
    "tensor(int64)": 7,
    "tensor(string)": 8,
    "tensor(bool)": 9,
    "tensor(float16)": 10,
    "tensor(double)": 11,
    "tensor(uint32)": 12,
    "tensor(uint64)": 13,
    "tensor(bfloat16)": 16,
}
"""ONNX Runtime's name of a tensor type -> ONNX's number of its element type."""

Open = Callable[[bytes, Mapping[str, str]], Any]
"""Serialized ModelProto, and configuration entries -> session."""


class Stretched:
    """Sessions of the stretches of a model, one for each group of values to observe."""

    def __init__(self, proto: "ModelProto", groups: Sequence[Sequence[str]], open_session: Open) -> None:
        """Opens them; raises the exceptions of `open_session`."""
        self.types: dict[str, str] = {}
        """ONNX Runtime's name of the type of every output of a stretch"""
        self.stretches = stretches(proto.graph, groups)
        if not self._open(proto, open_session):
            self.stretches = stretches(proto.graph, groups, is_whole=True)
            self._open(proto, open_session)

    def _open(self, proto: "ModelProto", open_session: Open) -> bool:
        """Whether all could be opened: only tensors can pass from one stretch to another."""
        self.sessions: list[Any] = []
        is_cut = sum(bool(stretch.nodes) for stretch in self.stretches) > 1
        entries = ONE_ARENA if is_cut else {}
        if is_cut:
            _share_memory()
        known: dict[str, Any] = {value.name: value for value in proto.graph.input}
        for stretch in self.stretches:
            if not stretch.nodes:
                self.sessions.append(None)
                continue
            if not known.keys() >= set(stretch.takes):
                return False
            session = open_session(_part(proto, stretch, known, has_all_inputs=not is_cut), entries)
            given = session.get_outputs()
            known.update((value.name, _as_input(value)) for value in given if value.type in ELEMENTS)
            self.types.update((value.name, value.type) for value in given)
            self.sessions.append(session)
        return True

    def run(self, feeds: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The values to observe after every stretch, as OrtValues; the caller empties the dictionary, so that the next
        stretch can reuse the memory."""
        live = dict(feeds)
        is_cut = sum(session is not None for session in self.sessions) > 1
        for stretch, session in zip(self.stretches, self.sessions, strict=True):
            if session is not None:
                # All inputs, if there is one stretch: ONNX Runtime reports missing or surplus ones.
                taken = {name: live[name] for name in stretch.takes if name in live} if is_cut else live
                given = session.run_with_ort_values(list(stretch.gives), taken)
                live.update(zip(stretch.gives, given, strict=True))
                del taken, given
            seen = {name: live[name] for name in stretch.seen}
            for name in stretch.ends:
                live.pop(name, None)
            yield seen


class UncutError(Exception):
    """A value that is no tensor would have to pass from one stretch to another."""


def in_turn(proto: "ModelProto", groups: Sequence[Sequence[str]], open_session: Open) -> Iterator[tuple[Stretch, Any]]:
    """Each stretch with nodes, and its session, opened when the caller asks for it. Raises UncutError."""
    known: dict[str, Any] = {value.name: value for value in proto.graph.input}
    for stretch in stretches(proto.graph, groups):
        if not known.keys() >= set(stretch.takes):
            raise UncutError
        session = open_session(_part(proto, stretch, known, has_all_inputs=False), {}) if stretch.nodes else None
        for value in session.get_outputs() if session else ():
            if value.type in ELEMENTS:
                known[value.name] = _as_input(value)
        yield stretch, session


def values_of(value: Any) -> "NDArray[Any]":
    """The content of the float OrtValue `value`, valid as long as `value` lives: OrtValue.numpy() would copy it."""
    import numpy

    dtype = numpy.dtype(FLOATS[value.data_type()])
    shape = value.shape()
    size = math.prod(shape)
    if not size:
        return numpy.empty(shape, dtype)
    held = (ctypes.c_char * (size * dtype.itemsize)).from_address(value.data_ptr())
    return numpy.frombuffer(held, dtype).reshape(shape)


def _part(proto: "ModelProto", stretch: Stretch, known: Mapping[str, Any], *, has_all_inputs: bool) -> bytes:
    """The serialized model of one stretch; `known` are the values that it may take."""
    import onnx

    part = onnx.ModelProto()
    part.CopyFrom(proto)
    graph = part.graph
    nodes = [proto.graph.node[number] for number in stretch.nodes]
    used = {name for node in nodes for name in traversal.taken_by(node)}
    constants = {tensor.name for tensor in proto.graph.initializer} & used
    taken = set(known) if has_all_inputs else set(stretch.takes) | constants  # old models have them as inputs, too
    described = {name for node in nodes for name in node.output} - set(stretch.gives)
    keep(graph.node, nodes)
    keep(graph.initializer, [tensor for tensor in proto.graph.initializer if tensor.name in used])
    keep(graph.input, [value for name, value in known.items() if name in taken])
    keep(graph.output, [onnx.ValueInfoProto(name=name) for name in stretch.gives])
    keep(graph.value_info, [value for value in proto.graph.value_info if value.name in described])
    return bytes(part.SerializeToString(deterministic=True))


def _as_input(value: Any) -> Any:
    """A session's output as an input of another model."""
    from onnx import helper

    return helper.make_tensor_value_info(value.name, ELEMENTS[value.type], value.shape or None)


@cache
def _share_memory() -> None:
    """Creates the memory that sessions with ONE_ARENA share; it grows by the requested size, not by powers of two."""
    import onnxruntime

    kind, place = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, onnxruntime.OrtMemType.DEFAULT
    info = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, place)
    onnxruntime.create_and_register_allocator(info, onnxruntime.OrtArenaCfg(0, 1, -1, -1))
