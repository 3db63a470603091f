"""Providers of ONNX Runtime for other machines: what they lack here, and sessions where they do not."""

import ctypes.util
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from packager.core import parsing
from packager.engines.environments import CHILD, SIGNED
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Runnable, Session, job
from packager.files.processes import children
from packager.files.processes.children import python
from packager.files.processes.inherited import MODELS

KFD = Path("/dev/kfd")
"""AMD's driver for computing on its GPUs."""
PROBE = "import json, onnxruntime as ort; print(json.dumps([ort.__version__, ort.get_available_providers()]))"


def lacks_amd_gpu() -> str:
    if sys.platform != "linux":
        return f"ROCm is used on Linux only; this is {sys.platform}"
    return "" if KFD.exists() else f"no AMD GPU: {KFD} does not exist; use a machine with one, and its driver amdgpu"


def lacks_libraries(*names: str) -> str:
    """The first of the shared libraries, named without `lib` and `.so`, that is missing; empty if all are there."""
    lost = [name for name in names if not ctypes.util.find_library(name)]
    return f"lib{lost[0]}.so is not found: install AMD's ROCm, which contains it" if lost else ""


def lacks_provider(interpreter: str, provider: str, package: str) -> str:
    """Why ONNX Runtime in the interpreter, or in this Python, has no `provider`; empty if it has it."""
    version, providers, error = _examined(interpreter)
    where = interpreter or "this Python"
    get = f"install {package} in a Python of its own and name that in [parity.interpreters]"
    if error:
        return f"{where} cannot import onnxruntime ({error}): {get}"
    return "" if provider in providers else f"onnxruntime {version} in {where} has no {provider}: {get}"


@cache
def _examined(interpreter: str) -> tuple[str, tuple[str, ...], str]:
    """Version and providers of ONNX Runtime in the interpreter, or the error."""
    done = children.run([*([interpreter] if interpreter else python()), "-c", PROBE], inherits=MODELS)
    if done.returncode:
        return "", (), (done.stderr.strip().splitlines() or ["no message"])[-1]
    try:
        version, providers = parsing.json_of(done.stdout.splitlines()[-1])
        return str(version), tuple(map(str, providers)), ""
    except parsing.DAMAGE as error:
        return "", (), f"it is not Python: {parsing.reason_of(error)}"


def cannot_open(model: Runnable) -> str:
    return "it opens only ONNX graphs" if model.path.suffix == ".ort" else ""


def opened(
    interpreter: str, provider: str, options: Mapping[str, str], words: str, model: Runnable, folder: Path
) -> Session:
    """The nodes that the provider leaves run on the CPU and are counted; a model that it leaves as a whole is
    refused."""
    command = (interpreter,) if interpreter else ()
    host = Host(program=CHILD, command=command, words=f"ONNX Runtime {{version}}, {words}")
    return ProcessSession(host, job(model, provider, SIGNED, options), folder)
