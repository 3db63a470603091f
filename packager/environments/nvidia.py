"""What this machine lacks for NVIDIA's GPUs, in words that end with how to get it."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from packager.core.errors import ToolError
from packager.environments.cuda import locked_version
from packager.environments.environment import Environment
from packager.processes import commands
from packager.processes.children import python

PROBE = Path(__file__).with_name("cuda_probe.py")
CUDA = 13000
"""oldest CUDA that the driver has to know, as cuDriverGetVersion counts: that of onnxruntime-gpu and the wheels"""
DRIVER = "580"
"""oldest release of the driver that knows CUDA 13"""
CUDA_LIBRARIES = {
    "libcudart.so.13": "nvidia-cuda-runtime",
    "libcublasLt.so.13": "nvidia-cublas",
    "libcublas.so.13": "nvidia-cublas",
    "libcurand.so.10": "nvidia-curand",
    "libcudnn.so.9": "nvidia-cudnn-cu13",
}
"""What onnxruntime-gpu's CUDA provider is linked with or computes convolutions with, and the wheels that have it."""
TENSORRT_LIBRARIES = ("libnvinfer.so.10", "libnvonnxparser.so.10")
"""What its TensorRT provider is linked with besides."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    """compute capability: (9, 0) on an H100"""


@dataclass(frozen=True, kw_only=True)
class Module:
    version: str = ""
    """empty where it cannot be imported"""
    error: str = ""
    """what importing it says; empty where it is not installed at all"""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What `cuda_probe.py` found on this machine, in one interpreter."""

    driver_error: str = ""
    """why no GPU can be used"""
    has_driver: bool = True
    release: str = ""
    """of the driver; empty where nobody says so"""
    cuda: int = 0
    """newest that the driver knows: 13000 is 13.0"""
    gpus: tuple[Gpu, ...] = ()
    folders: tuple[str, ...] = ()
    """with the libraries of wheels"""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """those asked for -> why they cannot be loaded, empty for those that can"""
    modules: Mapping[str, Module] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    """onnxruntime and onnxruntime-gpu -> version, empty where not installed"""
    tensorrt: tuple[str, ...] = ()
    """`libnvinfer.so.N` of any version"""
    tensorrt_version: str = ""
    """of the one among `libraries`, where it can be loaded"""
    failure: str = ""
    """why the interpreter could not be asked"""


@dataclass(frozen=True, kw_only=True)
class Place:
    """An interpreter that runs models on a GPU."""

    command: tuple[str, ...]
    variables: Mapping[str, str]
    is_own: bool = False
    """True for the isolated environment `cuda`"""

    @property
    def name(self) -> str:
        return "the environment cuda" if self.is_own else self.command[0]

    def how_to_get(self, packages: str) -> str:
        """How to install `packages` there."""
        return "`mobpack doctor --install cuda`" if self.is_own else f"`{self.command[0]} -m pip install {packages}`"


def place(interpreter: str, environment: Environment | None = None) -> Place:
    """`interpreter`, where the user names one; else `environment`, or this Python."""
    if interpreter:
        return Place(command=(interpreter,), variables={"PYTHONSAFEPATH": "1"})
    if environment:
        variables = dict(environment.variables())
        known = (variables.get("LD_LIBRARY_PATH", ""), os.environ.get("LD_LIBRARY_PATH", ""))
        variables["LD_LIBRARY_PATH"] = ":".join(filter(None, known))  # TensorRT is where the user says
        return Place(command=environment.command(), variables=variables, is_own=True)
    return Place(command=python(), variables={})


def probe(where: Place, *, libraries: Sequence[str] = (), modules: Sequence[str] = ()) -> Facts:
    """What is there. Raises nothing: an interpreter that cannot be asked is a `failure`."""
    return _probe(where.command, tuple(sorted(where.variables.items())), tuple(libraries), tuple(modules))


@cache
def _probe(
    command: tuple[str, ...],
    variables: tuple[tuple[str, str], ...],
    libraries: tuple[str, ...],
    modules: tuple[str, ...],
) -> Facts:
    """Asked once: drivers take a second to start."""
    request = json.dumps({"libraries": libraries, "modules": modules})
    try:
        printed = commands.run(
            [*command, PROBE, request], what="looking for NVIDIA's software", environment=dict(variables)
        )
        return facts_of(json.loads(printed.splitlines()[-1]))
    except ToolError as error:
        return Facts(failure=f"{command[0]} cannot be asked: {commands.last_lines(error.message, 1)}")
    except (ValueError, IndexError, KeyError):
        return Facts(failure=f"{command[0]} did not answer as a Python does")


def facts_of(answer: Mapping[str, Any]) -> Facts:
    """What the program printed, as a value."""
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
    """Why no GPU can be used here; empty when one can."""
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
        f"{f'NVIDIA driver {facts.release}'.strip()} knows CUDA {version(facts.cuda)}, and onnxruntime-gpu "
        f"{locked_version()} needs {version(CUDA)}: install driver {DRIVER} or later"
    )


def lacks_onnxruntime_gpu(facts: Facts, where: Place) -> str:
    """What is wrong with ONNX Runtime in the interpreter; empty when nothing is."""
    gpu, cpu = facts.packages.get("onnxruntime-gpu", ""), facts.packages.get("onnxruntime", "")
    wanted = locked_version()
    if gpu and cpu:
        return (
            f"{where.name} has both onnxruntime {cpu} and onnxruntime-gpu {gpu}, which overwrite each other's files: "
            f"uninstall both there, then {where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
        )
    if not gpu:
        has = f"has onnxruntime {cpu}, which is for processors alone" if cpu else "has no onnxruntime-gpu"
        first = "onnxruntime cannot stay beside it; uninstall it, then " if cpu else ""
        return f"{where.name} {has}: {first}{where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
    if gpu != wanted:
        return (
            f"{where.name} has onnxruntime-gpu {gpu}, and results are compared with those of {wanted}: "
            f"{where.how_to_get(f'onnxruntime-gpu=={wanted}')}"
        )
    error = facts.modules.get("onnxruntime", Module()).error
    return (
        f"{where.name} cannot import onnxruntime ({error}): {where.how_to_get('--force-reinstall onnxruntime-gpu')}"
        if error
        else ""
    )


def lacks_cuda_libraries(facts: Facts, where: Place) -> str:
    """Which of CUDA_LIBRARIES cannot be loaded; empty when all can."""
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
    """What is wrong with the libraries that ONNX Runtime's TensorRT provider needs; empty when nothing is."""
    lost = [name for name in TENSORRT_LIBRARIES if facts.libraries.get(name, "")]
    if not lost:
        return ""
    get = "install TensorRT 10 for CUDA 13 from NVIDIA and add its lib folder to LD_LIBRARY_PATH"
    if TENSORRT_LIBRARIES[0] in facts.tensorrt:
        return f"{lost[0]} is there but cannot be loaded ({facts.libraries[lost[0]]}): {get}"
    if facts.tensorrt:
        return f"found {', '.join(facts.tensorrt)}; ONNX Runtime {locked_version()} needs {lost[0]}: {get}"
    return f"{lost[0]} not found, which ONNX Runtime {locked_version()} needs: {get}"


def loading(where: Place, facts: Facts) -> dict[str, str]:
    """Environment variables with which programs of the interpreter find the libraries of its wheels.

    NVIDIA_TF32_OVERRIDE: no library may round float32 numbers to 19 bits, whatever its own options are.
    """
    known = where.variables.get("LD_LIBRARY_PATH") or os.environ.get("LD_LIBRARY_PATH", "")
    folders = list(dict.fromkeys(filter(None, (*facts.folders, *known.split(":")))))
    return {**where.variables, "LD_LIBRARY_PATH": ":".join(folders), "NVIDIA_TF32_OVERRIDE": "0"}


def in_words(facts: Facts) -> str:
    """The GPU and its driver: `NVIDIA H100 (driver 580.95.05)`."""
    return f"{facts.gpus[0].name} (driver {driver_in_words(facts)})"


def driver_in_words(facts: Facts) -> str:
    """Its release, or the newest CUDA that it knows: `580.95.05`, `for CUDA 13.0`."""
    return facts.release or f"for CUDA {version(facts.cuda)}"


def version(number: int) -> str:
    """`13.0` for 13000, as CUDA counts."""
    return f"{number // 1000}.{number % 1000 // 10}"
