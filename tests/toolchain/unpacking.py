"""Wheels of locks, unpacked by uv: a third of the work of pip, with which mobpack unpacks them for users, or less."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

from packager.engines.environments.environment import install_locked

ROOT = Path(__file__).parents[2]
INSTALLING = ("cuda", "framework", "qnn", "runtime", "webgpu", "wheels")
"""modules of `packager.engines.environments` that unpack locks"""


def unpack(lock: Path, site: Path, variables: Mapping[str, str] | None = None) -> None:
    """As `install_locked`, with the same hashes, but by uv as in scripts/environment. Where that fails, and in a Python
    other than that of .venv, as mobpack does it. Raises ToolError."""
    if not _unpacked(lock, site, variables or {}):
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        install_locked(lock, site, variables)


def _unpacked(lock: Path, site: Path, variables: Mapping[str, str]) -> bool:
    """Whether uv, which replaces no variables in a lock, has done it."""
    if Path(sys.prefix) != ROOT / ".venv":
        return False
    text = lock.read_text(encoding="utf-8")
    for name, value in variables.items():
        text = text.replace(f"${{{name}}}", value)
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(site)]
    options += ["-r", "-" if variables else str(lock)]  # a lock that is read so includes no other
    command = ["sh", "-c", '. scripts/environment; install_with_uv "$@"', "sh", *options]
    return not subprocess.run(command, cwd=ROOT, input=text, text=True, capture_output=True, check=False).returncode


@contextmanager
def quickly() -> Iterator[None]:
    """Meanwhile the environments of mobpack that this process installs are unpacked by `unpack`, and are tried out as
    ever. `test_environments.py` and `test_import_hub.py` have mobpack install some by itself."""
    with ExitStack() as stack:
        for name in INSTALLING:
            module = import_module(f"packager.engines.environments.{name}")
            stack.enter_context(patch.object(module, "install_locked", unpack))
        yield
