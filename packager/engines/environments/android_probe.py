"""Loads a model in ONNX Runtime for Android and reports the result: `python android_probe.py JOB.json`.

It calls libonnxruntime.so, found on LD_LIBRARY_PATH, through its C interface, and needs only the standard library. The
positions of functions in that interface are read from the header beside the library.

The job is `ProbeJob` of android.py with `registered_name` of the provider, `model` and `folder` (for outputs).

Prints one JSON line. `{"error": text}` is ONNX Runtime's error. Otherwise `version` is the runtime's and `load_ms` the
loading time; `before_kib`, `loaded_kib` and `run_kib` are the memory use before and after loading and after the runs:
total (`resident`), neither shared nor a clean page of a file (`private`), and maximum so far (`peak`). With inputs
there are also `run_ms` of each run and `outputs`, in the form of inputs.

On request, `subgraphs` are the nodes of each provider: `{"provider", "nodes": [{"name", "op", "domain"}]}`, one per
partition or fused group, and one per other node. ONNX Runtime reports the contents of a partition for ONNX files only:
for ORT format the partition itself is listed as one node, and `supported` names the nodes that NNAPI took. A model that
one provider takes as a whole is listed for ONNX files only; `all_on` names that provider.
"""

import ctypes
import json
import mmap
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Pointer = ctypes.c_void_p

NNAPI = "NnapiExecutionProvider"
NNAPI_FLAGS = {"USE_FP16": 1, "USE_NCHW": 2, "CPU_DISABLED": 4, "CPU_ONLY": 8}
"""nnapi_provider_factory.h"""
ELEMENTS = [""]
ELEMENTS += ["float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double"]
ELEMENTS += ["uint32", "uint64"]
"""ONNXTensorElementDataType of onnxruntime_c_api.h, from its first number on"""
LEVELS = {"disabled": 0, "basic": 1, "all": 99}
"""GraphOptimizationLevel"""
LOG_VERBOSE, LOG_ERROR = 0, 3
LOGGER = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, *[ctypes.c_char_p] * 4)
"""OrtLoggingFunction: parameter, severity, category, log id, code location, message"""


class RefusedError(Exception):
    """An error reported by ONNX Runtime."""


class Base(ctypes.Structure):
    """OrtApiBase of onnxruntime_c_api.h."""

    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(Pointer, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(ctypes.c_char_p)),
    )


class Api:
    """The functions of one OrtApi table, by their names in the header."""

    def __init__(self, library: Path) -> None:
        header = library.with_name("onnxruntime_c_api.h").read_text(encoding="utf-8")
        self.library = ctypes.CDLL(str(library))
        self.library.OrtGetApiBase.restype = ctypes.POINTER(Base)
        base = self.library.OrtGetApiBase().contents
        self.version = str(base.get_version().decode())
        (number,) = re.findall(r"#define ORT_API_VERSION (\d+)", header)
        if number != self.version.split(".")[1]:
            raise RuntimeError(f"a header of version {number} beside a library of version {self.version}")
        self.places = places(header)
        self.table = int(base.get_api(int(number)))

    def function(self, name: str, result: Any) -> Callable[..., Any]:
        address = Pointer.from_address(self.table + self.places[name] * ctypes.sizeof(Pointer)).value
        return lambda *arguments: ctypes.CFUNCTYPE(result, *map(_kind, arguments))(address or 0)(*arguments)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function. Raises RefusedError if it returns an error status."""
        self.check(self.function(name, Pointer)(*arguments))

    def check(self, status: int | None) -> None:
        if status:
            text = self.function("GetErrorMessage", ctypes.c_char_p)(Pointer(status)).decode("utf-8", "replace")
            raise RefusedError(" ".join(text.split()))

    def made(self, name: str, *arguments: Any) -> Pointer:
        """The object that the function writes to its last argument."""
        out = Pointer()
        self.call(name, *arguments, ctypes.byref(out))
        return out

    def number(self, name: str, *arguments: Any) -> int:
        out = ctypes.c_size_t()
        self.call(name, *arguments, ctypes.byref(out))
        return out.value

    def text(self, name: str, *arguments: Any) -> str:
        out = ctypes.c_char_p()
        self.call(name, *arguments, ctypes.byref(out))
        return (out.value or b"").decode()

    def items(self, name: str, *arguments: Any) -> list[Pointer]:
        """An array owned by the session."""
        array, count = ctypes.POINTER(Pointer)(), ctypes.c_size_t()
        self.call(name, *arguments, ctypes.byref(array), ctypes.byref(count))
        return [Pointer(array[index]) for index in range(count.value)]


def _kind(argument: Any) -> Any:
    if isinstance(argument, bytes):
        return ctypes.c_char_p
    return type(argument) if isinstance(argument, ctypes._SimpleCData) else Pointer


def places(header: str) -> dict[str, int]:
    """Function name -> its index in `struct OrtApi`, whose members are all function pointers."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header, flags=re.DOTALL)
    (body,) = re.findall(r"^struct OrtApi \{(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    members = re.findall(
        r"ORT_API2_STATUS\(\s*(\w+)|ORT_API_T\([^,]*,\s*(\w+)|ORT_CLASS_RELEASE\(\s*(\w+)|\(ORT_API_CALL\s*\*\s*(\w+)\)",
        body,
    )
    names = [
        status or returning or (f"Release{freed}" if freed else plain) for status, returning, freed, plain in members
    ]
    return {name: place for place, name in enumerate(names)}


def find_library() -> Path:
    for folder in os.environ["LD_LIBRARY_PATH"].split(":"):
        if (path := Path(folder, "libonnxruntime.so")).is_file():
            return path
    raise RuntimeError("LD_LIBRARY_PATH has no libonnxruntime.so")


def session_options(api: Api, job: dict[str, Any]) -> Pointer:
    options = api.made("CreateSessionOptions")
    api.call("SetIntraOpNumThreads", options, ctypes.c_int(1))
    api.call("SetSessionGraphOptimizationLevel", options, ctypes.c_int(LEVELS[job["level"]]))
    entries = dict(job["entries"])
    if job["is_explained"]:
        entries["session.record_ep_graph_assignment_info"] = "1"
    if job["data_folder"]:
        entries["session.model_external_initializers_file_folder_path"] = job["data_folder"]
    for key, value in entries.items():
        api.call("AddSessionConfigEntry", options, key.encode(), value.encode())
    append_provider(api, options, job["registered_name"], job["options"])
    return options


def append_provider(api: Api, options: Pointer, name: str, settings: dict[str, str]) -> None:
    """Adds a provider; the CPU provider always comes last."""
    if name == "NNAPI":
        flags = sum(NNAPI_FLAGS[name] for name, value in settings.items() if value == "1")
        append = api.library.OrtSessionOptionsAppendExecutionProvider_Nnapi
        append.restype = Pointer
        api.check(append(options, ctypes.c_uint32(flags)))
    elif name != "CPU":
        texts = ctypes.c_char_p * len(settings)
        keys, values = texts(*map(str.encode, settings)), texts(*map(str.encode, settings.values()))
        count = ctypes.c_size_t(len(settings))
        api.call("SessionOptionsAppendExecutionProvider", options, name.encode(), keys, values, count)


def create_session(api: Api, environment: Pointer, options: Pointer, job: dict[str, Any]) -> tuple[Pointer, Any]:
    """The session, and the memory that must outlive it."""
    if not job["is_mapped"]:
        return api.made("CreateSession", environment, os.fsencode(job["model"]), options), None
    with Path(job["model"]).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # ctypes gives no address of a read-only buffer
    size = ctypes.c_size_t(len(content))
    address = Pointer(ctypes.addressof(ctypes.c_char.from_buffer(content)))
    return api.made("CreateSessionFromArray", environment, address, size, options), content


def explained(api: Api, session: Pointer, log: list[str]) -> dict[str, Any]:
    """Nodes of each provider.

    The interface for this question omits nodes whose layout a provider changed, and does not support files in ORT
    format; the log of placements has every node, but not the contents of a partition or fused group. Such a group has a
    name that starts with the provider's.
    """
    recorded = assigned(api, session)
    if all_on := next((match[1] for line in log if (match := re.search(r"All nodes placed on \[(\w+)\]", line))), ""):
        return {"subgraphs": recorded, "supported": supported(log), "all_on": all_on}
    groups = [group for group in recorded if len(group["nodes"]) > 1 or group["provider"] == NNAPI]
    grouped = {group["provider"] for group in groups}
    domains = {node["name"]: node["domain"] for group in recorded for node in group["nodes"]}
    singles = [
        {"provider": provider, "nodes": [{"name": name, "op": op, "domain": domains.get(name, "")}]}
        for provider, op, name in placed(log)
        if not (provider in grouped and name.startswith(f"{provider}_"))
    ]
    return {"subgraphs": [*groups, *singles], "supported": supported(log), "all_on": ""}


def placed(log: list[str]) -> list[tuple[str, str, str]]:
    """Provider, operator and name of each node."""
    found, provider = [], ""
    for line in log:
        if match := re.search(r"Node\(s\) placed on \[(\w+)\]", line):
            provider = match[1]
        elif provider and (match := re.fullmatch(r"\s+(\w+) \((.*)\)\s*", line)):
            found.append((provider, match[1], match[2]))
    return found


def supported(log: list[str]) -> list[dict[str, str]]:
    """Nodes that NNAPI reported as supported when it was first asked, before layout changes."""
    found = {}
    for line in log:
        if "number of partitions supported by NNAPI" in line:
            break
        match = re.match(r"Node supported: \[(\d)\] Operator type: \[(\w+)\] index: \[(\d+)\] name: \[(.*?)\] as", line)
        if match:
            found[match[3]] = (match[1] == "1", {"name": match[4], "op": match[2]})
    return [node for is_supported, node in found.values() if is_supported]


def assigned(api: Api, session: Pointer) -> list[dict[str, Any]]:
    return [
        {
            "provider": api.text("EpAssignedSubgraph_GetEpName", subgraph),
            "nodes": [
                {
                    "name": api.text("EpAssignedNode_GetName", node),
                    "op": api.text("EpAssignedNode_GetOperatorType", node),
                    "domain": api.text("EpAssignedNode_GetDomain", node),
                }
                for node in api.items("EpAssignedSubgraph_GetNodes", subgraph)
            ],
        }
        for subgraph in api.items("Session_GetEpGraphAssignmentInfo", session)
    ]


def run(api: Api, session: Pointer, job: dict[str, Any]) -> dict[str, Any]:
    """Runs the model 1 + `warm_runs` times; returns the outputs of the last run."""
    memory = api.made("CreateCpuMemoryInfo", ctypes.c_int(1), ctypes.c_int(0))  # OrtArenaAllocator, OrtMemTypeDefault
    buffers = [bytearray(Path(each["file"]).read_bytes()) for each in job["inputs"]]
    values = [tensor(api, memory, each, buffer) for each, buffer in zip(job["inputs"], buffers, strict=True)]
    allocator = api.made("GetAllocatorWithDefaultOptions")
    count = api.number("SessionGetOutputCount", session)
    outputs = [api.text("SessionGetOutputName", session, ctypes.c_size_t(i), allocator) for i in range(count)]
    input_names = (ctypes.c_char_p * len(values))(*(each["name"].encode() for each in job["inputs"]))
    input_values = (Pointer * len(values))(*(value.value for value in values))
    output_names = (ctypes.c_char_p * count)(*map(str.encode, outputs))
    milliseconds = []
    for _ in range(1 + job["warm_runs"]):
        results = (Pointer * count)()
        start = time.perf_counter()
        api.call(
            "Run",
            session,
            Pointer(),
            input_names,
            input_values,
            ctypes.c_size_t(len(values)),
            output_names,
            ctypes.c_size_t(count),
            results,
        )
        milliseconds.append((time.perf_counter() - start) * 1000)
    folder = Path(job["folder"])
    return {
        "run_ms": milliseconds,
        "outputs": [
            saved(api, name, Pointer(results[index]), folder / f"output-{index}.bin")
            for index, name in enumerate(outputs)
        ],
    }


def tensor(api: Api, memory: Pointer, spec: dict[str, Any], buffer: bytearray) -> Pointer:
    shape = (ctypes.c_int64 * len(spec["shape"]))(*spec["shape"])
    return api.made(
        "CreateTensorWithDataAsOrtValue",
        memory,
        Pointer(ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))),
        ctypes.c_size_t(len(buffer)),
        shape,
        ctypes.c_size_t(len(shape)),
        ctypes.c_int(ELEMENTS.index(spec["type"])),
    )


def saved(api: Api, name: str, value: Pointer, path: Path) -> dict[str, Any]:
    info = api.made("GetTensorTypeAndShape", value)
    rank = api.number("GetDimensionsCount", info)
    shape = (ctypes.c_int64 * rank)()
    api.call("GetDimensions", info, shape, ctypes.c_size_t(rank))
    element = ctypes.c_int()
    api.call("GetTensorElementType", info, ctypes.byref(element))
    size, data = api.number("GetTensorSizeInBytes", value), api.made("GetTensorMutableData", value)
    path.write_bytes(ctypes.string_at(data.value or 0, size))
    return {"name": name, "type": ELEMENTS[element.value], "shape": list(shape), "file": str(path)}


def memory_kib() -> dict[str, int]:
    """Memory use from /proc/self/status."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = {key: int(value) for key, value in re.findall(r"^(VmHWM|VmRSS|RssAnon):\s+(\d+) kB", status, re.MULTILINE)}
    return {"peak": found["VmHWM"], "resident": found["VmRSS"], "private": found["RssAnon"]}


def probe(job: dict[str, Any]) -> dict[str, Any]:
    api = Api(find_library())
    log: list[str] = []
    keep = LOGGER(lambda *line: log.append(line[5].decode("utf-8", "replace")))
    level = ctypes.c_int(LOG_VERBOSE if job["is_explained"] else LOG_ERROR)
    environment = api.made("CreateEnvWithCustomLogger", ctypes.cast(keep, Pointer), Pointer(), level, b"mobpack")
    before = memory_kib()
    start = time.perf_counter()
    options = session_options(api, job)
    session, content = create_session(api, environment, options, job)
    milliseconds = (time.perf_counter() - start) * 1000
    answer = {"version": api.version, "load_ms": milliseconds, "before_kib": before, "loaded_kib": memory_kib()}
    if job["is_explained"]:
        answer |= explained(api, session, log)
    if job["inputs"]:
        answer |= {**run(api, session, job), "run_kib": memory_kib()}
    api.function("ReleaseSession", None)(session)
    del content  # the session may read it until here
    return answer


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        answer = probe(job)
    except RefusedError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
