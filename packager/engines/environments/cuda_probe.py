"""Reports NVIDIA software of a machine and an interpreter: `python cuda_probe.py JOB`. Needs only Python.

It is started by path, so that any interpreter can run it, in a process of its own, because libraries may crash it. JOB
is JSON: `libraries`, loaded in this order, and `modules`, imported in this order. Prints one line of JSON: see `main`.
"""

import ctypes
import json
import os
import re
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

# A file beside this one has the name of NVIDIA's module `cuda`.
HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]

PACKAGES = ("onnxruntime", "onnxruntime-gpu")
LIBRARY_FOLDERS = ("nvidia/*/lib", "tensorrt_libs", "tensorrt_rtx_libs")
"""library folders of wheels, below the folders of modules"""
TENSORRT_MAJORS = range(8, 15)
"""versions looked for by name in the loader's folders"""
MAJOR, MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of cuda.h"""


def driver() -> dict[str, Any]:
    """`{"error": text}` if no GPU is usable; otherwise `cuda` (13000 for 13.0), `release` and `gpus`."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"error": str(error), "is_loaded": False}
    code = cuda.cuInit(0)
    if code:
        return {"error": f"cuInit says {error_name(cuda, code)}", "is_loaded": True}
    version, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    gpus = [gpu(cuda, index) for index in range(count.value)]
    return {"error": "", "is_loaded": True, "cuda": version.value, "release": release(), "gpus": gpus}


def error_name(cuda: Any, code: int) -> str:
    name = ctypes.c_char_p()
    cuda.cuGetErrorName(code, ctypes.byref(name))
    return f"{(name.value or b'error').decode()} ({code})"


def gpu(cuda: Any, index: int) -> dict[str, Any]:
    device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    capability = [ctypes.c_int(), ctypes.c_int()]
    for value, attribute in zip(capability, (MAJOR, MINOR), strict=True):
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    return {"name": name.value.decode(), "capability": [value.value for value in capability]}


def release() -> str:
    """Release of the driver: `580.95.05`; empty if unknown."""
    try:
        management = ctypes.CDLL("libnvidia-ml.so.1")
        text = ctypes.create_string_buffer(96)
        if management.nvmlInit_v2() == 0 and management.nvmlSystemGetDriverVersion(text, len(text)) == 0:
            return text.value.decode()
    except (OSError, AttributeError):
        pass  # a driver without its management library can still compute
    return ""


def library_folders() -> list[str]:
    """Library folders of this interpreter's wheels, in the order of its modules."""
    found = [str(folder) for entry in sys.path for part in LIBRARY_FOLDERS for folder in sorted(Path(entry).glob(part))]
    return list(dict.fromkeys(found))


def load(library: str, folders: list[str]) -> str:
    """Loads a library and keeps it for those that depend on it; returns the error, or an empty text."""
    problem = ""
    for place in [*(str(Path(folder, library)) for folder in folders if Path(folder, library).exists()), library]:
        try:
            ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            problem = str(error)
        else:
            return ""
    return problem


def tensorrt_libraries(folders: list[str]) -> list[str]:
    """The available `libnvinfer.so.N` of any version."""
    searched = [*folders, *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
    found = {path.name for folder in searched for path in Path(folder).glob("libnvinfer.so.*")}
    found |= {name for name in (f"libnvinfer.so.{major}" for major in TENSORRT_MAJORS) if not load(name, [])}
    return sorted(name for name in found if re.fullmatch(r"libnvinfer\.so\.\d+", name))


def tensorrt_version(libraries: dict[str, str]) -> str:
    """Version of the requested and loaded libnvinfer; its number is 101601 for 10.16.1."""
    for name, problem in libraries.items():
        if name.startswith("libnvinfer.so") and not problem:
            number = ctypes.CDLL(name).getInferLibVersion()
            return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    return ""


def module(name: str) -> dict[str, str]:
    """Imports a module and returns `{"version", "error"}`; the module stays imported."""
    try:
        imported = import_module(name)
    except Exception as error:  # an unusable module may raise anything: the text explains it
        text = " ".join(str(error).split()) or type(error).__name__
        is_absent = isinstance(error, ModuleNotFoundError) and (error.name or "") in (name, name.split(".")[0])
        return {"version": "", "error": "" if is_absent else text}
    return {"version": version_of(imported), "error": ""}


def version_of(imported: Any) -> str:
    """Version of a module, or of its package; pycuda has it under another name."""
    parent = sys.modules[imported.__name__.partition(".")[0]]
    for text in (getattr(imported, "__version__", ""), getattr(parent, "__version__", "")):
        if isinstance(text, str) and text:
            return text
    return str(getattr(parent, "VERSION_TEXT", ""))


def package(name: str) -> str:
    """Version of a package; empty if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def main() -> int:
    job = json.loads(sys.argv[1])
    folders = library_folders()
    answer: dict[str, Any] = {"python": sys.executable, "driver": driver(), "folders": folders}
    answer["packages"] = {name: package(name) for name in PACKAGES}
    answer["libraries"] = {name: load(name, folders) for name in job["libraries"]}
    answer["modules"] = {name: module(name) for name in job["modules"]}
    answer["tensorrt"] = tensorrt_libraries(folders)
    answer["tensorrt_version"] = tensorrt_version(answer["libraries"])
    print("\n" + json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
