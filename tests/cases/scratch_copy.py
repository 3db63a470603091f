"""A copy of mobpack to which tests add what is made up, and a project that is built with it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.files.installed import PACKAGE, templates_folder


@dataclass(frozen=True)
class ScratchCopy:
    """The copy, and the folder of the project."""

    root: Path
    project: Path

    def edit(self, name: str, *edits: Sequence[str]) -> None:
        """Replaces texts, each of which occurs once, in the module `name` of packager/."""
        module = self.root / "packager" / name
        text = module.read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        write(module, text)

    def run(self, *arguments: str) -> str:
        """Prints of `mobpack` with `arguments`, in the project."""
        done = subprocess.run(
            [sys.executable, "-m", "packager", *arguments],
            cwd=self.project,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def scratch_copy(folder: Path, project: str) -> ScratchCopy:
    """Copies mobpack to `folder`; `project` is the text of mobpack.toml."""
    copy = ScratchCopy(folder / "mobpack", folder / "project")
    shutil.copytree(PACKAGE, copy.root / "packager", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(templates_folder(), copy.root / "templates")
    copy.project.mkdir()
    write(copy.project / "mobpack.toml", project)
    return copy


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
