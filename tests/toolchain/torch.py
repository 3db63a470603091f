"""PyTorch for the tests of `mobpack export`: an environment beside this one, and many exports in one process of it.

`python -m tests.toolchain.torch JOBS.json` is that process: starting PyTorch takes longer than exporting a small net.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from packager.core.errors import MobpackError, ToolError
from packager.engines.environments import bionic, zig
from packager.engines.environments.environment import folder_for, make_once
from packager.files import elf
from packager.files.processes import commands
from packager.workflows.export.request import ExportJob, ExportRequest, parse_dynamic
from tests.toolchain.require import require
from tests.toolchain.unpacking import unpack

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_suffix(".txt")
CPU_LOCK = LOCK.with_name("torch_cpu.txt")
PYPI_LOCK = LOCK.with_name("torch_pypi.txt")
"""Separate from CPU_LOCK: with both hashes in one file pip takes this build, since its index lists this hash."""
NETS = Path(__file__).with_name("nets.py")
NEVER_READ = ("include", "test", "lib/libcaffe2_nvrtc.so", "lib/libtorch_cuda_linalg.so")
"""Parts of PyTorch's folder that exporting does not need."""
NVIDIA = re.compile(r"lib(cu|nccl|nv)")
"""First letters of the names of CUDA's libraries."""
NVIDIA_FUNCTION = re.compile(r"_*cu|nccl|nv")
GIVES_TEXT = re.compile(r"(String|Name)$|^ncclGetLastError$")
"""Functions whose result is read as text; for others, any number but 0 is an error."""
NO_GPU = 100
"""cudaErrorNoDevice, and an error of the other libraries."""
VERSIONS = {"libnvshmem_host.so.3": "NVSHMEM"}
"""Library -> version of its functions, if that is not the library's own name."""


@dataclass(frozen=True)
class Case:
    """One export of a factory of `nets.py`."""

    factory: str
    dynamic: tuple[str, ...] = ()
    opset: int = 18
    input_names: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exported:
    """Result of an export."""

    folder: Path
    answer: Mapping[str, Any]
    warnings: tuple[str, ...]

    @property
    def message(self) -> str:
        """The error's message; empty if there was none."""
        return str(self.answer.get("message", ""))


def variables() -> dict[str, str]:
    """Environment variables with which a Python finds PyTorch; skips the test if it is not available."""
    folder = folder_for("torch", [lock.read_text(encoding="utf-8") for lock in (LOCK, CPU_LOCK, PYPI_LOCK)])
    try:
        make_once(folder, _make)
    except ToolError as error:
        require(False, f"PyTorch for this Python: {error.message} ({error.hint})")
    paths = [str(folder), str(ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}  # modules are compiled when they are first imported


def _make(folder: Path) -> None:
    unpack(CPU_LOCK if _knows_cpu_build() else PYPI_LOCK, folder)
    for part in NEVER_READ:
        path = folder / "torch" / part
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    stand_in_for_cuda(folder / "torch" / "lib")


def _knows_cpu_build() -> bool:
    """Whether pip finds the build of CPU_LOCK for this Python."""
    [version] = re.findall(r"^torch==(\S+)", CPU_LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, "-m", "pip", "index", "versions", "torch"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return version in re.split(r"[\s,]+", listed)


@dataclass(frozen=True)
class Linked:
    needed: tuple[str, ...]
    symbols: tuple[elf.Symbol, ...]

    @classmethod
    def of(cls, path: Path) -> Self:
        content = path.read_bytes()
        return cls(elf.read(content, path.name).needed, elf.symbols(content, path.name))


def stand_in_for_cuda(folder: Path) -> None:
    """Puts small libraries beside those in `folder` where they need CUDA's: to them the machine has no GPU.

    Python loads no library that lacks a function; what exporting calls of these may fail, as without a GPU.
    """
    libraries = {path.name: Linked.of(path) for path in folder.glob("lib*.so*")}
    defined = {each.name for library in libraries.values() for each in library.symbols if each.is_defined}
    imports = {
        each
        for library in libraries.values()
        for each in library.symbols
        if not each.is_defined and each.name not in defined
    }
    needed = {name for library in libraries.values() for name in library.needed if NVIDIA.match(name)}
    unversioned = {name.name for name in imports if not name.library and NVIDIA_FUNCTION.match(name.name)}
    for soname in sorted(needed - libraries.keys()):
        build_stand_in(folder / soname, {name.name for name in imports if name.library == soname} | unversioned)


def build_stand_in(library: Path, functions: Collection[str]) -> None:
    """Builds `library` with `functions` that do nothing but give NO_GPU, or a text where GIVES_TEXT says so."""
    lines = ['.data\ntext: .asciz "a stand-in for CUDA"\n.text']
    for name in sorted(functions):
        code = "lea text(%rip), %rax" if GIVES_TEXT.search(name) else f"mov ${NO_GPU}, %eax"
        lines += [f".globl {name}", f".type {name}, @function", f"{name}: {code}", "ret"]
    with tempfile.TemporaryDirectory() as scratch:
        assembly, versions = Path(scratch, "functions.S"), Path(scratch, "versions.map")
        assembly.write_text("\n".join([*lines, '.section .note.GNU-stack, "", @progbits', ""]), encoding="utf-8")
        versions.write_text(f"{VERSIONS.get(library.name, library.name)} {{ global: *; }};\n", encoding="utf-8")
        options = ["-target", bionic.ZIG_TARGET, "-shared", "-nostdlib", f"-Wl,-soname,{library.name}"]
        options += [f"-Wl,--version-script={versions}", "-o", str(library), str(assembly)]
        commands.run([zig.compiler(), "cc", *options], what=f"building a stand-in for {library.name}")


def nets(folder: Path) -> Path:
    """A user's folder with `nets.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(NETS, folder / "nets.py")
    return folder


def exported(cases: Mapping[str, Case], folder: Path) -> dict[str, Exported]:
    """All `cases`, each in a folder of its own."""
    code = nets(folder / "code")
    jobs = {name: _job(case, code, folder / name) for name, case in cases.items()}
    request = folder / "jobs.json"
    request.write_text(json.dumps({name: asdict(job) for name, job in jobs.items()}), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "tests.toolchain.torch", str(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables(), cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    return {name: Exported(folder / name, each["answer"], tuple(each["warnings"])) for name, each in found.items()}


def _job(case: Case, code: Path, folder: Path) -> ExportJob:
    folder.mkdir()
    request = ExportRequest(
        factory=f"nets:{case.factory}",
        code_folder=code,
        output=folder / "model.onnx",
        dynamic=parse_dynamic(case.dynamic),
        opset=case.opset,
        input_names=case.input_names,
        output_names=case.output_names,
    )
    return ExportJob.of(request, folder)


def answers(jobs: Iterable[tuple[str, ExportJob]]) -> dict[str, Any]:
    """Answers of `packager.workflows.export.child` to each job."""
    from packager.workflows.export.child import export

    share_operators()
    found: dict[str, Any] = {}
    for name, job in jobs:
        warnings: list[str] = []
        try:
            answer = export(job, warnings.append)
        except MobpackError as error:
            answer = {"failed": type(error).__name__, "message": error.message, "hint": error.hint}
        found[name] = {"answer": answer, "warnings": warnings}
    return found


def share_operators() -> None:
    """Has all exports of this process use one table of ONNX's functions for PyTorch's operators, for each opset.

    PyTorch makes one for each export, from the source of 500 functions: 0.4 s, most of what a small net takes.
    """
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    setattr(ONNXRegistry, "from_torchlib", staticmethod(cache(ONNXRegistry.from_torchlib)))  # noqa: B010


def main() -> None:
    request = Path(sys.argv[1])
    jobs = {name: ExportJob.read(each) for name, each in json.loads(request.read_text(encoding="utf-8")).items()}
    request.with_name("answers.json").write_text(json.dumps(answers(jobs.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
