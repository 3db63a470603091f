"""Gives an ORT-format file the same bytes every time.

ONNX Runtime writes the table that maps kernels to type names (KernelTypeStrResolver, the first few hundred bytes of the
file) in the order of a salted hash map, so two conversions of one model differ. The model after it does not (schema:
onnxruntime/core/flatbuffers/schema/ort.fbs). Here the front of the file is written again in sorted order and the model
region is copied unchanged.
"""

import mmap
import os
import struct
from functools import cache
from pathlib import Path
from typing import Any

from packager.core.errors import ToolError
from packager.files.atomic import copy_rest
from packager.files.processes import children

ALIGNMENT = 64
MODEL_FIELD = 1
"""Index of `model` in table InferenceSession of ort.fbs."""


def canonicalize(source: Path, destination: Path) -> None:
    """Writes the canonical form of the ORT-format file `source` to `destination`. Raises ToolError if it is not one."""
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content[4:8] != b"ORTM":
            raise ToolError(f"{source}: not an ORT-format file", hint="this is a bug: please report it with the model")
        model_table, model_region = _model_offsets(content)
        front = _front(content)
        # FlatBuffers aligns from a file's end, and the start of the model in a raw file depends on the salted order.
        front += bytes(-(len(front) + len(content) - model_region) % ALIGNMENT)
        _point_to_model(front, len(front) + model_table - model_region)
        with destination.open("wb") as out:
            out.write(front)
            file.seek(model_region)
            copy_rest(file, out)


def _model_offsets(content: mmap.mmap) -> tuple[int, int]:
    """Offset of the model's table, and of the first byte that belongs to the model (its vtable may come first)."""
    fbs = flatbuffer_classes()
    session = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0)
    table: int = session.Model()._tab.Pos
    vtable = table - struct.unpack_from("<i", content, table)[0]
    return table, min(table, vtable)


def _front(content: mmap.mmap) -> bytearray:
    """A root table with version and sorted resolver; its model offset is a placeholder."""
    import flatbuffers

    fbs = flatbuffer_classes()
    session = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0)
    builder = flatbuffers.Builder(4096)
    resolver = _resolver(builder, fbs, session.KernelTypeStrResolver())
    version = builder.CreateString(session.OrtVersion().decode())
    table = fbs.InferenceSession
    table.InferenceSessionStart(builder)
    table.InferenceSessionAddOrtVersion(builder, version)
    builder.PrependUint32Slot(MODEL_FIELD, 0xDEADBEEF, 0)
    table.InferenceSessionAddKernelTypeStrResolver(builder, resolver)
    builder.Finish(table.InferenceSessionEnd(builder), file_identifier=b"ORTM")
    return bytearray(builder.Output())


def _resolver(builder: Any, fbs: Any, resolver: Any) -> int:
    operators = sorted(
        (resolver.OpKernelTypeStrArgs(i) for i in range(resolver.OpKernelTypeStrArgsLength())), key=lambda op: op.OpId()
    )
    entries = [_operator(builder, fbs, operator) for operator in operators]
    table = fbs.KernelTypeStrResolver
    vector = _vector(builder, table.KernelTypeStrResolverStartOpKernelTypeStrArgsVector, entries)
    table.KernelTypeStrResolverStart(builder)
    table.KernelTypeStrResolverAddOpKernelTypeStrArgs(builder, vector)
    end: int = table.KernelTypeStrResolverEnd(builder)
    return end


def _operator(builder: Any, fbs: Any, operator: Any) -> int:
    kernel_types = sorted(
        (operator.KernelTypeStrArgs(i) for i in range(operator.KernelTypeStrArgsLength())),
        key=lambda e: e.KernelTypeStr(),
    )
    entries = [_kernel_type(builder, fbs, entry) for entry in kernel_types]
    table = fbs.OpIdKernelTypeStrArgsEntry
    vector = _vector(builder, table.OpIdKernelTypeStrArgsEntryStartKernelTypeStrArgsVector, entries)
    name = builder.CreateString(operator.OpId().decode())
    table.OpIdKernelTypeStrArgsEntryStart(builder)
    table.OpIdKernelTypeStrArgsEntryAddOpId(builder, name)
    table.OpIdKernelTypeStrArgsEntryAddKernelTypeStrArgs(builder, vector)
    end: int = table.OpIdKernelTypeStrArgsEntryEnd(builder)
    return end


def _kernel_type(builder: Any, fbs: Any, entry: Any) -> int:
    arguments = []
    for i in range(entry.ArgsLength()):
        argument = entry.Args(i)
        table = fbs.ArgTypeAndIndex
        table.ArgTypeAndIndexStart(builder)
        table.ArgTypeAndIndexAddArgType(builder, argument.ArgType())
        table.ArgTypeAndIndexAddIndex(builder, argument.Index())
        arguments.append(table.ArgTypeAndIndexEnd(builder))
    table = fbs.KernelTypeStrArgsEntry
    vector = _vector(builder, table.KernelTypeStrArgsEntryStartArgsVector, arguments)
    name = builder.CreateString(entry.KernelTypeStr().decode())
    table.KernelTypeStrArgsEntryStart(builder)
    table.KernelTypeStrArgsEntryAddKernelTypeStr(builder, name)
    table.KernelTypeStrArgsEntryAddArgs(builder, vector)
    end: int = table.KernelTypeStrArgsEntryEnd(builder)
    return end


def _vector(builder: Any, start: Any, offsets: list[int]) -> int:
    start(builder, len(offsets))
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    end: int = builder.EndVector()
    return end


def _point_to_model(front: bytearray, model_table: int) -> None:
    """Writes the offset of the model's table into the root table's placeholder."""
    root = struct.unpack_from("<I", front, 0)[0]
    vtable = root - struct.unpack_from("<i", front, root)[0]
    position = root + struct.unpack_from("<H", front, vtable + 4 + 2 * MODEL_FIELD)[0]
    struct.pack_into("<I", front, position, model_table - position)


@cache
def flatbuffer_classes() -> Any:
    """The classes that flatc generated from ort.fbs, as the onnxruntime wheel ships them."""
    os.environ.update(children.QUIET)  # the wheel includes onnxruntime itself, which starts when it is imported
    import onnxruntime.tools.ort_format_model  # noqa: F401  (puts ort_flatbuffers_py on sys.path)
    from ort_flatbuffers_py import fbs
    from ort_flatbuffers_py.fbs import (  # noqa: F401
        ArgTypeAndIndex,
        InferenceSession,
        KernelTypeStrArgsEntry,
        KernelTypeStrResolver,
        OpIdKernelTypeStrArgsEntry,
        TensorTypeAndShape,
    )

    return fbs
