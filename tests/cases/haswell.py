"""Runs Python on an emulated Haswell, which saturates 8-bit products: `python -m tests.cases.haswell FILE ...`.

`FILE ...` are arguments for pytest. Programs that the tests start with `sys.executable` are emulated as well, so that
whole commands of mobpack are.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from packager.engines.environments.environment import ensure
from packager.engines.environments.x86_64 import OlderX86

EMULATED = "MOBPACK_TESTS_EMULATED"
"""Environment variable of an emulated Python: /proc/cpuinfo still shows the machine's processor."""


def interpreter(folder: Path) -> Path:
    """This Python on an emulated Haswell, in `folder`: a program that starts it under its own name.

    Python takes that name for `sys.executable`, and finds its packages beside it as in any virtual environment.
    """
    environment = OlderX86()
    ensure(environment)
    base = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    program = folder / "bin" / "python"
    program.parent.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    (folder / "lib").symlink_to(Path(sys.prefix, "lib"))
    emulator = " ".join(environment.emulator())
    program.write_text(f'#!/bin/sh\nexec {emulator} -0 "{program}" "{base}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        command: list[str | Path] = [interpreter(Path(scratch)), "-m", "pytest", *sys.argv[1:]]
        return subprocess.run(command, check=False, env={**os.environ, EMULATED: "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
