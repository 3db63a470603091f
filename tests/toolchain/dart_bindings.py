"""Writes the Dart bindings of ONNX Runtime's C API from its header.

`python -m tests.toolchain.dart_bindings --write` renews `templates/flutter/lib/src/runtime/onnxruntime_api.dart`.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.files.installed import templates_folder

HEADER = Path("ios/onnxruntime/include/onnxruntime_c_api.h")
PLACE = Path("flutter/lib/src/runtime/onnxruntime_api.dart")
"""below templates/"""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
MEMBER = re.compile(
    r"ORT_API2_STATUS\s*\(\s*(?P<status>\w+)\s*,?(?P<arguments>[^;]*)\)"
    r"|ORT_API_T\s*\(\s*(?P<returned>[\w\s*]+?)\s*,\s*(?P<returning>\w+)\s*,?(?P<taken>[^;]*)\)"
    r"|ORT_CLASS_RELEASE\s*\(\s*(?P<released>\w+)\s*\)"
    r"|(?P<type>[\w\s*]+?)\s*\(\s*ORT_API_CALL\s*\*\s*(?P<name>\w+)\s*\)\s*\((?P<given>[^;]*?)\)"
)
ANNOTATIONS = re.compile(r"\b(_\w+_\s*\([^)]*\)|_\w+_|ORT_\w+|NO_EXCEPTION|enum|const)\b")
NUMBERS = {
    "int": ("Int32", "int"),
    "int64_t": ("Int64", "int"),
    "size_t": ("Size", "int"),
    "uint32_t": ("Uint32", "int"),
    "OrtErrorCode": ("Int32", "int"),
    "OrtLoggingLevel": ("Int32", "int"),
    "OrtAllocatorType": ("Int32", "int"),
    "OrtMemType": ("Int32", "int"),
    "ONNXTensorElementDataType": ("Int32", "int"),
    "GraphOptimizationLevel": ("Int32", "int"),
}
"""C -> the type of a native function, and that of Dart"""
POINTER = ("Pointer<Void>", "Pointer<Void>")
NOTHING = ("Void", "void")
API_VERSION = 18
"""The oldest table that has all functions of `USED`; the last to come was AddExternalInitializersFromFilesInMemory."""
USED = (
    "GetErrorCode",
    "GetErrorMessage",
    "CreateEnv",
    "CreateSessionFromArray",
    "Run",
    "CreateSessionOptions",
    "SetIntraOpNumThreads",
    "SessionGetInputCount",
    "SessionGetOutputCount",
    "SessionGetInputTypeInfo",
    "SessionGetOutputTypeInfo",
    "SessionGetInputName",
    "SessionGetOutputName",
    "CreateRunOptions",
    "RunOptionsSetTerminate",
    "CreateTensorAsOrtValue",
    "CreateTensorWithDataAsOrtValue",
    "IsTensor",
    "GetTensorMutableData",
    "FillStringTensor",
    "GetStringTensorDataLength",
    "GetStringTensorContent",
    "CastTypeInfoToTensorInfo",
    "GetTensorElementType",
    "GetDimensionsCount",
    "GetDimensions",
    "GetTensorShapeElementCount",
    "GetTensorTypeAndShape",
    "CreateCpuMemoryInfo",
    "AllocatorFree",
    "GetAllocatorWithDefaultOptions",
    "ReleaseEnv",
    "ReleaseStatus",
    "ReleaseMemoryInfo",
    "ReleaseSession",
    "ReleaseValue",
    "ReleaseRunOptions",
    "ReleaseTypeInfo",
    "ReleaseTensorTypeAndShapeInfo",
    "ReleaseSessionOptions",
    "AddSessionConfigEntry",
    "SessionOptionsAppendExecutionProvider",
    "AddExternalInitializersFromFilesInMemory",
    "EnableProfiling",
    "SessionEndProfiling",
    "SessionGetModelMetadata",
    "ModelMetadataLookupCustomMetadataMap",
    "ReleaseModelMetadata",
)
ASSIGNMENT_VERSION = 24
"""The first table with all functions of `ASSIGNMENT`."""
ASSIGNMENT = (
    "Session_GetEpGraphAssignmentInfo",
    "EpAssignedSubgraph_GetEpName",
    "EpAssignedSubgraph_GetNodes",
    "EpAssignedNode_GetName",
)
"""Functions that only tables from that version on have: each use asks for such a table first."""
FINALIZERS = ("ReleaseSession", "ReleaseValue")
"""Functions that run when an object of Dart is gone: their addresses are needed, too."""


@dataclass(frozen=True)
class Function:
    """A member of the table `OrtApi`."""

    name: str
    place: int
    """from 0 on"""
    result: tuple[str, str]
    arguments: tuple[tuple[str, tuple[str, str]], ...]
    """name -> type"""


def functions(header: str) -> tuple[Function, ...]:
    """All functions of `OrtApi`, in its order."""
    bare = COMMENT.sub(" ", header)
    begin = bare.index("struct OrtApi {")
    body = bare[begin : bare.index("\n};", begin)]
    found = []
    for place, member in enumerate(MEMBER.finditer(body)):
        if released := member["released"]:
            found.append(Function(f"Release{released}", place, NOTHING, (("input", POINTER),)))
        elif status := member["status"]:
            found.append(Function(status, place, POINTER, _arguments(member["arguments"])))
        elif returning := member["returning"]:
            found.append(Function(returning, place, _type(member["returned"]), _arguments(member["taken"])))
        else:
            found.append(Function(member["name"], place, _type(member["type"]), _arguments(member["given"])))
    return tuple(found)


def _arguments(text: str) -> tuple[tuple[str, tuple[str, str]], ...]:
    plain = ANNOTATIONS.sub(" ", text)
    return tuple(_argument(each) for each in plain.split(",") if each.strip() and each.strip() != "void")


def _argument(text: str) -> tuple[str, tuple[str, str]]:
    name = re.search(r"(\w+)\s*(\[\])?\s*$", text)
    if not name:
        return ("value", _type(text))
    type_ = text[: name.start()] + ("*" if name[2] else "")
    return (_camel(name[1]), _type(type_))


def _type(text: str) -> tuple[str, str]:
    """Types of other structs and enums are pointers here: no function of `USED` has them by value."""
    plain = ANNOTATIONS.sub(" ", text).strip()
    if "*" in plain:
        return POINTER
    return NOTHING if plain == "void" else NUMBERS.get(plain, POINTER)


def _camel(name: str) -> str:
    words = [each for each in name.split("_") if each]
    return words[0][:1].lower() + words[0][1:] + "".join(word[:1].upper() + word[1:] for word in words[1:])


def source(header: str, used: Sequence[str] = (*USED, *ASSIGNMENT)) -> str:
    """The Dart file with the functions of `used`. Raises KeyError for a function that the header lacks."""
    known = {each.name: each for each in functions(header)}
    chosen = sorted((known[name] for name in used), key=lambda each: each.place)
    return "\n".join([HEAD, *(_member(each) for each in chosen), "}", ""])


HEAD = f"""\
// Generated by mobpack from onnxruntime_c_api.h: functions of ONNX Runtime's C API, by their places in its table.
// dart format off

import 'dart:ffi';

/// The oldest version of the table that has all functions used here: every later ONNX Runtime gives it too.
const int apiVersion = {API_VERSION};

/// The oldest version of the table with the functions that tell which provider runs which node.
const int assignmentVersion = {ASSIGNMENT_VERSION};

/// The table of functions that `OrtApiBase.GetApi` gives.
final class OrtApi {{
  /// The table at an address.
  OrtApi(this._table);

  final Pointer<Pointer<Void>> _table;
"""


def _member(function: Function) -> str:
    dart_name = _camel(function.name)
    native = ", ".join(type_[0] for _, type_ in function.arguments)
    plain = ", ".join(f"{type_[1]} {name}" for name, type_ in function.arguments)
    return (
        f"  /// `{function.name}`.\n"
        f"  late final {function.result[1]} Function({plain}) {dart_name} =\n"
        f"      (_table + {function.place}).value\n"
        f"          .cast<NativeFunction<{function.result[0]} Function({native})>>()\n"
        f"          .asFunction();\n{_address(function, dart_name)}"
    )


def _address(function: Function, dart_name: str) -> str:
    if function.name not in FINALIZERS:
        return ""
    return (
        f"\n  /// The address of `{function.name}`.\n"
        f"  NativeFinalizer get {dart_name}Finalizer => NativeFinalizer((_table + {function.place}).value.cast());\n"
    )


def main() -> None:
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.toolchain.dart_bindings --write")
    header = (templates_folder() / HEADER).read_text(encoding="utf-8")
    (templates_folder() / PLACE).write_text(source(header), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
