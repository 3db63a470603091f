"""Checks the NVIDIA software of this machine; messages say what is missing and how to get it."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from packager.core import parsing
from packager.core.errors import ToolError
from packager.core.parsing import Json
from packager.engines.environments.cuda import locked_version
from packager.engines.environments.environment import Environment
from packager.files.processes import commands
from packager.files.processes.children import python
from packager.files.processes.inherited import MODELS

PROBE = Path(__file__).with_name("cuda_probe.py")
CUDA = 13000
"""oldest CUDA version that the driver must support, in the format of cuDriverGetVersion: that of onnxruntime-gpu and
the wheels"""
DRIVER = "580"
"""oldest driver release that supports CUDA 13"""
CUDA_LIBRARIES = {
    "libcudart.so.13": "nvidia-cuda-runtime",
    "libcublasLt.so.13": "nvidia-cublas",
    "libcublas.so.13": "nvidia-cublas",
    "libcurand.so.10": "nvidia-curand",
    "libcudnn.so.9": "nvidia-cudnn-cu13",
}
"""libraries that onnxruntime-gpu's CUDA provider is linked with or computes convolutions with -> their wheels"""
TENSORRT_LIBRARIES = ("libnvinfer.so.10", "libnvonnxparser.so.10")
"""libraries that its TensorRT provider needs in addition"""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    """compute capability: (9, 0) on an H100"""


@dataclass(frozen=True, kw_only=True)
class Module:
    version: str = ""
    """empty if it cannot be imported"""
    error: str = ""
    """the error of importing it; empty if it is not installed"""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Findings of `cuda_probe.py` on this machine, in one interpreter."""

    driver_error: str = ""
    """why no GPU can be used"""
    has_driver: bool = True
    release: str = ""
    """release of the driver; empty if unknown"""
    cuda: int = 0
    """newest CUDA version that the driver supports: 13000 is 13.0"""
    gpus: tuple[Gpu, ...] = ()
    folders: tuple[str, ...] = ()
    """library folders of wheels"""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """requested libraries -> why they cannot be loaded, empty for those that can"""
    modules: Mapping[str, Module] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    """onnxruntime and onnxruntime-gpu -> version, empty if not installed"""
    tensorrt: tuple[str, ...] = ()
    """`libnvinfer.so.N` of any version"""
    tensorrt_version: str = ""
    """version of the one among `libraries`, if it can be loaded"""
    failure: str = ""
    """why the interpreter could not be examined"""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """An interpreter that runs models on a GPU."""

    command: tuple[str, ...]
    variables: Mapping[str, str]
    is_own: bool = False
    """whether it is the isolated environment `cuda`"""

    @property
    def name(self) -> str:
        return "the environment cuda" if self.is_own else self.command[0]

    def how_to_get(self, packages: str) -> str:
        """How to install `packages` there."""
        return "`mobpack doctor --install cuda`" if self.is_own else f"`{self.command[0]} -m pip install {packages}`"


def place(interpreter: str, environment: Environment | None = None) -> Interpreter:
    """The user's `interpreter`, if set; otherwise `environment`, or this Python."""
    if interpreter:
        return Interpreter(command=(interpreter,), variables={"PYTHONSAFEPATH": "1"})
    if environment:
        variables = dict(environment.variables())
        known = (variables.get("LD_LIBRARY_PATH", ""), os.environ.get("LD_LIBRARY_PATH", ""))
        variables["LD_LIBRARY_PATH"] = ":".join(
            filter(None, known)
        )  # TensorRT is where the user's LD_LIBRARY_PATH points
        return Interpreter(command=environment.command(), variables=variables, is_own=True)
    return Interpreter(command=python(), variables={})


def probe(where: Interpreter, *, libraries: Sequence[str] = (), modules: Sequence[str] = ()) -> Facts:
    """The NVIDIA software of an interpreter. Raises nothing: an interpreter that cannot run is a `failure`."""
    return _probe(where.command, tuple(sorted(where.variables.items())), tuple(libraries), tuple(modules))


@cache
def _probe(
    command: tuple[str, ...],
    variables: tuple[tuple[str, str], ...],
    libraries: tuple[str, ...],
    modules: tuple[str, ...],
) -> Facts:
    """Cached, because drivers take a second to start."""
    request = json.dumps({"libraries": libraries, "modules": modules})
    try:
        printed = commands.run(
            [*command, PROBE, request],
            what="looking for NVIDIA's software",
            inherits=MODELS,
            environment=dict(variables),
        )
        return facts_of(parsing.json_of(printed.splitlines()[-1]))
    except ToolError as error:
        return Facts(failure=f"{command[0]} cannot be examined: {commands.last_lines(error.message, 1)}")
    except parsing.DAMAGE:
        return Facts(failure=f"{command[0]} is not a working Python")


def facts_of(answer: Json) -> Facts:
    """The program's output as a value."""
    driver = answer["driver"]
    return Facts(
        driver_error=driver["error"],
        has_driver=driver["is_loaded"],
        release=driver.get("release", ""),
        cuda=driver.get("cuda", 0),
        gpus=tuple(
            Gpu(name=gpu["name"], capability=(gpu["capability"][0], gpu["capability"][1]))
            for gpu in driver.get("gpus", ())
        ),
        folders=tuple(answer["folders"]),
        libraries=answer["libraries"],
        modules={name: Module(**module) for name, module in answer["modules"].items()},
        packages=answer["packages"],
        tensorrt=tuple(answer["tensorrt"]),
        tensorrt_version=answer["tensorrt_version"],
    )


def lacks_gpu(facts: Facts) -> str:
    """Why no GPU can be used; empty if one can."""
    if facts.failure:
        return f"{facts.failure}: name a Python that works in [parity.interpreters]"
    if not facts.has_driver:
        return (
            f"this machine has no NVIDIA driver ({facts.driver_error}): run on a machine with an NVIDIA GPU and driver "
            f"{DRIVER} or later; in a container, start it with --gpus all"
        )
    if facts.driver_error:
        return (
            f"the NVIDIA driver finds no GPU that it can use ({facts.driver_error}): see what nvidia-smi says; in a "
            "container, start it with --gpus all"
        )
    if not facts.gpus:
        return "the NVIDIA driver sees no GPU: check CUDA_VISIBLE_DEVICES, which hides them when it is empty or -1"
    return ""


def lacks_driver_for_cuda_13(facts: Facts) -> str:
    if facts.cuda >= CUDA:
        return ""
    return (
        f"{f'NVIDIA driver {facts.release}'.strip()} supports CUDA {version(facts.cuda)}, but onnxruntime-gpu "
        f"{locked_version()} needs {version(CUDA)}: install driver {DRIVER} or later"
    )


def lacks_onnxruntime_gpu(facts: Facts, where: Interpreter) -> str:
    """Problem of ONNX Runtime in the interpreter; empty if there is none."""
    gpu, cpu = facts.packages.get("onnxruntime-gpu", ""), facts.packages.get("onnxruntime", "")
    wanted = locked_version()
    if gpu and cpu:
        return (
            f"{where.name} has both onnxruntime {cpu} and onnxruntime-gpu {gpu}, which overwrite each other's files: "
            f"uninstall both there, then {where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
        )
    if not gpu:
        has = f"has onnxruntime {cpu}, which supports CPUs only" if cpu else "has no onnxruntime-gpu"
        first = "onnxruntime cannot stay beside it; uninstall it, then " if cpu else ""
        return f"{where.name} {has}: {first}{where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
    if gpu != wanted:
        return (
            f"{where.name} has onnxruntime-gpu {gpu}, but the supported version is {wanted}: "
            f"{where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
        )
    error = facts.modules.get("onnxruntime", Module()).error
    return (
        f"{where.name} cannot import onnxruntime ({error}): {where.how_to_get('--force-reinstall onnxruntime-gpu')}"
        if error
        else ""
    )


def lacks_cuda_libraries(facts: Facts, where: Interpreter) -> str:
    """The CUDA_LIBRARIES that cannot be loaded; empty if all can."""
    lost = [name for name in CUDA_LIBRARIES if facts.libraries.get(name, "")]
    if not lost:
        return ""
    packages = " ".join(dict.fromkeys(CUDA_LIBRARIES[name] for name in lost))
    return (
        f"onnxruntime-gpu needs {', '.join(lost)}, which {where.name} cannot load ({facts.libraries[lost[0]]}): "
        f"{where.how_to_get(packages)}, or add the folder that has {'it' if len(lost) == 1 else 'them'} to "
        "LD_LIBRARY_PATH"
    )


def lacks_tensorrt_libraries(facts: Facts) -> str:
    """Problem of the libraries for ONNX Runtime's TensorRT provider; empty if there is none."""
    lost = [name for name in TENSORRT_LIBRARIES if facts.libraries.get(name, "")]
    if not lost:
        return ""
    get = "install TensorRT 10 for CUDA 13 from NVIDIA and add its lib folder to LD_LIBRARY_PATH"
    if TENSORRT_LIBRARIES[0] in facts.tensorrt:
        return f"{lost[0]} is there but cannot be loaded ({facts.libraries[lost[0]]}): {get}"
    if facts.tensorrt:
        return f"found {', '.join(facts.tensorrt)}; ONNX Runtime {locked_version()} needs {lost[0]}: {get}"
    return f"{lost[0]} not found, which ONNX Runtime {locked_version()} needs: {get}"


def loading(where: Interpreter, facts: Facts) -> dict[str, str]:
    """Environment variables with which the interpreter's programs find the libraries of its wheels.

    NVIDIA_TF32_OVERRIDE prevents libraries from rounding float32 numbers to 19 bits, whatever their own options.
    """
    known = where.variables.get("LD_LIBRARY_PATH") or os.environ.get("LD_LIBRARY_PATH", "")
    folders = list(dict.fromkeys(filter(None, (*facts.folders, *known.split(":")))))
    return {**where.variables, "LD_LIBRARY_PATH": ":".join(folders), "NVIDIA_TF32_OVERRIDE": "0"}


def in_words(facts: Facts) -> str:
    """The GPU and its driver: `NVIDIA H100 (driver 580.95.05)`."""
    return f"{facts.gpus[0].name} (driver {driver_in_words(facts)})"


def driver_in_words(facts: Facts) -> str:
    """The driver's release, or its newest CUDA version: `580.95.05`, `for CUDA 13.0`."""
    return facts.release or f"for CUDA {version(facts.cuda)}"


def version(number: int) -> str:
    """`13.0` for 13000, CUDA's encoding."""
    return f"{number // 1000}.{number % 1000 // 10}"
