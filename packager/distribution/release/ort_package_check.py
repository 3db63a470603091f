"""Opens an ORT Model Package with ONNX Runtime's own C API: `python ort_package_check.py JOB.json`.

Needs only Python's standard library and the onnxruntime package. The job is `{"package": folder}`; the program prints
one JSON line: `{"ok": {...}}` with ONNX Runtime's results, or `{"error": text}` with its message.

ONNX Runtime accepts a package in which the model file of another provider's variant is missing, or a shared asset does
not match its digest. This program checks both.
"""

import ctypes
import hashlib
import importlib.util
import json
import os
import re
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

RUNTIME = "1.31.1"
"""The version whose function tables are known. OrtApi only grows, but GetModelPackageApi is new and its table still
changes."""
API_VERSION = 31

ORT_API = {
    "GetErrorMessage": 2,
    "CreateEnv": 3,
    "CreateSessionOptions": 10,
    "SessionGetInputCount": 30,
    "SessionGetOutputCount": 31,
    "SessionGetInputName": 36,
    "SessionGetOutputName": 37,
    "GetAllocatorWithDefaultOptions": 78,
    "ReleaseEnv": 92,
    "ReleaseSession": 95,
    "GetModelPackageApi": 427,
}
"""Function -> its index in OrtApi (onnxruntime_c_api.h; the last one found by calling it)."""

PACKAGE_API = {
    "CreateModelPackageOptionsFromSessionOptions": 0,
    "CreateModelPackageContext": 2,
    "GetSchemaVersion": 4,
    "GetComponentNames": 6,
    "GetVariantNames": 8,
    "GetVariantEpName": 9,
    "ResolveStringRef": 10,
    "SelectComponent": 11,
    "GetSelectedVariantName": 13,
    "CreateSession": 15,
}
"""Function -> its index in OrtModelPackageApi, which has 16; indices 1, 3 and 12 release its handles."""

LOG_ERRORS = 3
CPU = "CPUExecutionProvider"
MUST_EXIST = 1

SOURCE_LOCATION = re.compile(r"\S*\.cc:\d+ (?:onnxruntime::\S+\(.*?\)(?:::<lambda\(.*?\)>)?|[\w()]+) ")
"""`file.cc:12 function ` in messages of ONNX Runtime."""


class RefusedError(Exception):
    """The package, or this machine's ONNX Runtime, is unusable."""


class OrtApiBase(ctypes.Structure):
    _fields_ = [
        ("GetApi", ctypes.CFUNCTYPE(c_void_p, c_uint32)),
        ("GetVersionString", ctypes.CFUNCTYPE(c_char_p)),
    ]


class Runtime:
    """ONNX Runtime's function tables. Objects created here live until the process ends, except for sessions."""

    def __init__(self, library: Path) -> None:
        get_base = ctypes.CDLL(str(library)).OrtGetApiBase
        get_base.restype = POINTER(OrtApiBase)
        base = get_base().contents
        require_known_version(base.GetVersionString().decode())
        self._tables = {"OrtApi": (int(base.GetApi(API_VERSION)), ORT_API)}
        package_api = int(self.function("OrtApi", "GetModelPackageApi", c_void_p)())
        self._tables["OrtModelPackageApi"] = (package_api, PACKAGE_API)
        self.environment = self.create("OrtApi", "CreateEnv", (c_int, LOG_ERRORS), (c_char_p, b"mobpack"))
        self._allocator = self.create("OrtApi", "GetAllocatorWithDefaultOptions")

    def function(self, table: str, name: str, result: Any, *arguments: Any) -> Any:
        address, slots = self._tables[table]
        pointer = c_void_p.from_address(address + slots[name] * ctypes.sizeof(c_void_p)).value
        return ctypes.CFUNCTYPE(result, *arguments)(pointer or 0)

    def call(self, table: str, name: str, *arguments: tuple[Any, Any]) -> None:
        """Calls a function that returns a status, with (type, value) pairs. Raises RefusedError with its message."""
        status = self.function(table, name, c_void_p, *(kind for kind, _ in arguments))(
            *(each for _, each in arguments)
        )
        if status:
            raise RefusedError(words(self.function("OrtApi", "GetErrorMessage", c_char_p, c_void_p)(status).decode()))

    def create(self, table: str, name: str, *arguments: tuple[Any, Any]) -> c_void_p:
        """The object that a function writes to the pointer in its last argument."""
        made = c_void_p()
        self.call(table, name, *arguments, (POINTER(c_void_p), byref(made)))
        return made

    def text(self, table: str, name: str, *arguments: tuple[Any, Any]) -> str:
        found = c_char_p()
        self.call(table, name, *arguments, (POINTER(c_char_p), byref(found)))
        return (found.value or b"").decode()

    def names(self, table: str, name: str, *arguments: tuple[Any, Any]) -> list[str]:
        found, count = POINTER(c_char_p)(), c_size_t()
        last = ((POINTER(POINTER(c_char_p)), byref(found)), (POINTER(c_size_t), byref(count)))
        self.call(table, name, *arguments, *last)
        return [(found[index] or b"").decode() for index in range(count.value)]

    def session_names(self, session: c_void_p, kind: str) -> list[str]:
        """Names of the inputs or outputs of a session; `kind` is `Input` or `Output`."""
        count = c_size_t()
        self.call("OrtApi", f"SessionGet{kind}Count", (c_void_p, session), (POINTER(c_size_t), byref(count)))
        return [
            self.text(
                "OrtApi", f"SessionGet{kind}Name", (c_void_p, session), (c_size_t, i), (c_void_p, self._allocator)
            )
            for i in range(count.value)
        ]

    def release(self, kind: str, handle: c_void_p) -> None:
        self.function("OrtApi", f"Release{kind}", None, c_void_p)(handle)


def require_known_version(found: str) -> None:
    if found != RUNTIME:
        raise RefusedError(f"this is ONNX Runtime {found}, but the package API is known for {RUNTIME} only")


def words(message: str) -> str:
    """ONNX Runtime's message without its source locations."""
    return " ".join(SOURCE_LOCATION.sub("", message).split())


def find_library() -> Path:
    """The shared library in the onnxruntime package, found without importing it."""
    found = importlib.util.find_spec("onnxruntime")
    home = Path((found.origin if found else None) or "").parent / "capi"
    libraries = sorted(path for path in home.glob("libonnxruntime*") if RUNTIME in path.name)
    if not libraries:
        raise RefusedError(f"the onnxruntime package of this Python has no library of ONNX Runtime {RUNTIME}")
    return libraries[0]


def examine(runtime: Runtime, folder: Path) -> dict[str, Any]:
    package = runtime.create("OrtModelPackageApi", "CreateModelPackageContext", (c_char_p, os.fsencode(folder)))
    opened = (c_void_p, package)
    schema = c_int64()
    runtime.call("OrtModelPackageApi", "GetSchemaVersion", opened, (POINTER(c_int64), byref(schema)))
    check_assets(folder)
    components = [
        examine_component(runtime, package, folder, name)
        for name in runtime.names("OrtModelPackageApi", "GetComponentNames", opened)
    ]
    return {"runtime": RUNTIME, "schema": schema.value, "components": components}


def check_assets(folder: Path) -> None:
    for asset in sorted((folder / "shared_assets").glob("*")):
        found = f"sha256-{directory_digest(asset)}"
        if found != asset.name:
            raise RefusedError(f"shared asset {asset.name} does not match its digest: {found}")


def directory_digest(folder: Path) -> str:
    """The digest that names a shared asset, computed over one line, `<sha256>  <path>`, per file.

    Source: model_package/README.md of ONNX Runtime, "Canonical asset URI".
    """
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append((path.relative_to(folder).as_posix(), digest))
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in sorted(lines)).encode()).hexdigest()


def examine_component(runtime: Runtime, package: c_void_p, folder: Path, name: str) -> dict[str, Any]:
    component = ((c_void_p, package), (c_char_p, name.encode()))
    providers = {
        variant: runtime.text("OrtModelPackageApi", "GetVariantEpName", *component, (c_char_p, variant.encode()))
        for variant in runtime.names("OrtModelPackageApi", "GetVariantNames", *component)
    }
    check_model_files(runtime, package, folder / name)
    return {
        "name": name,
        "variants": [{"name": variant, "provider": provider} for variant, provider in providers.items()],
        **(open_for_cpu(runtime, component) if CPU in providers.values() else {}),
    }


def check_model_files(runtime: Runtime, package: c_void_p, component: Path) -> None:
    """Makes ONNX Runtime resolve the model file of each variant: by default it checks only the selected variant's."""
    variants = json.loads((component / "component.json").read_text(encoding="utf-8"))["variants"]
    for variant, body in variants.items():
        runtime.text(
            "OrtModelPackageApi",
            "ResolveStringRef",
            (c_void_p, package),
            (c_char_p, os.fsencode(component / body.get("variant_directory", variant))),
            (c_char_p, body["executor_info"]["ort"]["model_file"].encode()),
            (c_int, MUST_EXIST),
        )


def open_for_cpu(runtime: Runtime, component: tuple[tuple[Any, Any], ...]) -> dict[str, Any]:
    """The variant for an app that requests no provider, with the inputs and outputs of its session."""
    environment = (c_void_p, runtime.environment)
    session_options = runtime.create("OrtApi", "CreateSessionOptions")
    options = runtime.create(
        "OrtModelPackageApi",
        "CreateModelPackageOptionsFromSessionOptions",
        environment,
        (c_void_p, session_options),
    )
    selected = runtime.create("OrtModelPackageApi", "SelectComponent", *component, (c_void_p, options))
    variant = runtime.text("OrtModelPackageApi", "GetSelectedVariantName", (c_void_p, selected))
    # without session options, so that the package's apply
    arguments = (environment, (c_void_p, selected), (c_void_p, None))
    session = runtime.create("OrtModelPackageApi", "CreateSession", *arguments)
    inputs, outputs = runtime.session_names(session, "Input"), runtime.session_names(session, "Output")
    runtime.release("Session", session)
    return {"selected": variant, "inputs": inputs, "outputs": outputs}


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answer: dict[str, Any]
    try:
        runtime = Runtime(find_library())
        answer = {"ok": examine(runtime, Path(job["package"]).resolve())}
        runtime.release("Env", runtime.environment)
    except RefusedError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
