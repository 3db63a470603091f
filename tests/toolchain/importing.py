"""Many imports in one process of a framework's environment, for the tests of `mobpack import`.

A program of the tests saves its models there and calls `write_answers`; `answers_of` runs it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packager.core.errors import MobpackError, ToolError
from packager.engines.environments.environment import make_once
from packager.importers import FRAMEWORKS, IMPORTERS, Framework, ImportSource
from packager.workflows.importing.request import ImportJob
from tests.toolchain.unpacking import unpack

ROOT = Path(__file__).parents[2]
ANSWERS = "answers.json"
IMPORTING = ("core", "importers", "workflows/importing")
"""folders of mobpack whose code runs in environments of frameworks"""


def quickly(framework: Framework) -> dict[str, str]:
    """Variables with which XLA compiles without its optimizer, and once, what programs of the environment jax have in
    common: jax2onnx imports all that it can convert, of which Equinox computes 130 small functions meanwhile."""
    from tests.toolchain.kept import place

    if framework.name != "jax":
        return {}
    return {
        "XLA_FLAGS": "--xla_backend_optimization_level=0",
        "JAX_COMPILATION_CACHE_DIR": str(place("jax", framework.lock)),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def answers_of(program: str, name: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Runs `python -m program FOLDER` in the environment `name`, unless what it made is kept for the same code, and has
    all of it in `folder`; answers of the child process by source. Skips the test if the environment cannot be
    installed."""
    from tests.toolchain.kept import kept, linked  # the framework's environment lacks what this imports
    from tests.toolchain.require import require

    framework = FRAMEWORKS[name]
    code = code_of(program, framework)
    try:
        place = kept(f"imports-{name}", lambda made: make_answers(program, framework, made), *code)
        install(framework)  # also where answers are kept
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    shutil.copytree(place, folder, copy_function=linked, dirs_exist_ok=True)
    found: dict[str, dict[str, Any]] = json.loads((folder / ANSWERS).read_text(encoding="utf-8"))
    return found


def code_of(program: str, framework: Framework) -> list[Path]:
    """All that decides what the program makes."""
    importing = sorted(path for name in IMPORTING for path in (ROOT / "packager" / name).rglob("*.py"))
    return [ROOT / f"{program.replace('.', '/')}.py", Path(__file__), framework.lock, *importing]


def make_answers(program: str, framework: Framework, folder: Path) -> None:
    """Runs the program, which fills `folder`, and installs the environment where it is missing."""
    code = f"""
import os, runpy, sys
os.chdir({str(folder)!r})
sys.argv = ["", "."]
runpy.run_module({program!r}, run_name="__main__")
"""
    install(framework, code)
    if not (folder / ANSWERS).is_file():
        run_there(code, framework, framework.folder())


def install(framework: Framework, code: str = "") -> None:
    """Installs the environment, unless it is there. The process that tries a new one out goes on with `code`: both
    import the framework, which takes seconds. Raises ToolError."""

    def make(site: Path) -> None:
        unpack(framework.lock, site)
        run_there(f"{framework.trial}\n{code}", framework, site)

    make_once(framework.folder(), make)


def run_there(code: str, framework: Framework, site: Path) -> None:
    """Runs Python code in the environment in `site`, which keeps the modules that it compiles."""
    variables = {**os.environ, **framework.variables_in(site), **quickly(framework), "PYTHONDONTWRITEBYTECODE": ""}
    variables["PYTHONPATH"] = os.pathsep.join((variables["PYTHONPATH"], *borrowed(framework), str(ROOT)))
    command = [*framework.command(), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=site.parent)
    assert done.returncode == 0, done.stderr[-4000:]


def borrowed(framework: Framework) -> list[str]:
    """The folder with PyTorch, for a framework that borrows it."""
    if framework.borrowed != "torch":
        return []
    from tests.toolchain import torch

    return [torch.variables()["PYTHONPATH"].split(os.pathsep)[0]]


def write_answers(folder: Path, sources: Iterable[str]) -> None:
    """Imports each of the files or folders `sources` in `folder`, in this process; what an import writes lies in
    `folder / imported / SOURCE`."""
    found = {name: imported(job_of(name, folder, folder / "imported" / name)) for name in sources}
    (folder / ANSWERS).write_text(json.dumps(found), encoding="utf-8")


def imported(job: ImportJob) -> dict[str, Any]:
    """The answer of the child process to one job."""
    from packager.workflows.importing import child

    try:
        return child.imported(job, lambda text: None)
    except MobpackError as error:
        return {"failed": type(error).__name__, "message": error.message, "hint": error.hint}


def source_in(name: str, folder: Path) -> ImportSource:
    """A file or folder in `folder`, or `module:function` of a module there."""
    return ImportSource(text=name, path=folder if ":" in name else folder / name)


def importer_of(source: ImportSource) -> str:
    return next(name for name, each in IMPORTERS.items() if each().reads(source))


def job_of(name: str, folder: Path, place: Path) -> ImportJob:
    """The import of `name` in `folder`, which writes to `place`."""
    place.mkdir(parents=True)
    source = source_in(name, folder)
    return ImportJob(
        importer=importer_of(source),
        text=source.text,
        path=str(source.path),
        folder=str(place),
        samples="",
        sample_count=4,
        sizes={},
    )
