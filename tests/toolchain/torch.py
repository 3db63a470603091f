"""PyTorch for the tests of `mobpack export`: an environment beside this one, and many exports in one process of it.

`python -m tests.toolchain.torch JOBS.json` is that process: starting PyTorch takes longer than exporting a small net.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from packager.environments.environment import folder_for, install_locked, make_once
from packager.errors import MobpackError, ToolError
from packager.export.request import Job, Request, parse_dynamic
from tests.toolchain.require import require

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_suffix(".txt")
NETS = Path(__file__).with_name("nets.py")


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
    """What became of it."""

    folder: Path
    answer: Mapping[str, Any]
    warnings: tuple[str, ...]

    @property
    def message(self) -> str:
        """Of the error; empty when it went well."""
        return str(self.answer.get("message", ""))


def variables() -> dict[str, str]:
    """Environment variables with which a Python finds PyTorch; or the end of the test where it cannot be had."""
    folder = folder_for("torch", LOCK.read_text(encoding="utf-8"))
    try:
        make_once(folder, _make)
    except ToolError as error:
        require(False, f"PyTorch's CPU build for this Python: {error.message} ({error.hint})")
    paths = [str(folder), str(ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


def _make(folder: Path) -> None:
    install_locked(LOCK, folder)
    for part in ("include", "test"):  # what exporting never reads
        shutil.rmtree(folder / "torch" / part, ignore_errors=True)


def nets(folder: Path) -> Path:
    """A folder of a user's with `nets.py` in it."""
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


def _job(case: Case, code: Path, folder: Path) -> Job:
    folder.mkdir()
    request = Request(
        factory=f"nets:{case.factory}",
        code_folder=code,
        output=folder / "model.onnx",
        dynamic=parse_dynamic(case.dynamic),
        opset=case.opset,
        input_names=case.input_names,
        output_names=case.output_names,
    )
    return Job.of(request, folder)


def answers(jobs: Iterable[tuple[str, Job]]) -> dict[str, Any]:
    """What `packager.export.child` says of each job."""
    from packager.export.child import export

    found: dict[str, Any] = {}
    for name, job in jobs:
        warnings: list[str] = []
        try:
            answer = export(job, warnings.append)
        except MobpackError as error:
            answer = {"failed": type(error).__name__, "message": error.message, "hint": error.hint}
        found[name] = {"answer": answer, "warnings": warnings}
    return found


def main() -> None:
    request = Path(sys.argv[1])
    jobs = {name: Job.read(each) for name, each in json.loads(request.read_text(encoding="utf-8")).items()}
    request.with_name("answers.json").write_text(json.dumps(answers(jobs.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
