"""Run `mobpack` in forks of a process that has loaded its modules, so that thousands of runs take minutes."""

import gc
import importlib
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from packager.cli import main
from packager.compile.canonical import flatbuffer_classes
from packager.engines.environments import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.user_cache import cache_folder

TIMEOUT_S = 120
"""A command on small files that prints nothing for this long hangs."""
MEMORY_BYTES = 16 << 30
"""Address space of a command that starts no compiler; one that asks for more has trusted a number in a file."""
USUAL = frozenset({0, 2, 3, 4, 5, 6})
"""Exit codes that report a finding; 70 is a fault of mobpack, and a signal a crash."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where commands run."""

    folder: Path
    """the current one"""
    cache: Path
    """XDG_CACHE_HOME"""
    temporary: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    code: int
    """minus the signal where one ended it"""
    text: str
    """what it said on standard error"""
    is_hanging: bool = False

    @property
    def fault(self) -> str:
        """The rule that the command broke; empty if it broke none."""
        if self.is_hanging:
            return f"did not end within {TIMEOUT_S} s"
        if self.code not in USUAL:
            return f"ended with {self.code}: {last_line(self.text)}"
        if "Traceback (most recent call last)" in self.text:
            return f"printed a traceback: {last_line(self.text)}"
        return ""


def last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line and not line.startswith("hint:")]
    return lines[-1][:200] if lines else "nothing was said"


MODULES = """
license_expression onnx.checker onnx.shape_inference onnx.version_converter packager.cli.bisection packager.cli.crash
packager.cli.examination packager.workflows.build packager.workflows.confinement
packager.workflows.predict packager.workflows.shared_builds packager.workflows.unchanged rich._emoji_codes rich.console
rich.table
""".split()
"""Modules that forks import."""


def load_modules() -> None:
    """Import once the modules that every fork needs."""
    for name in MODULES:
        importlib.import_module(name)
    flatbuffer_classes()
    gc.freeze()  # no fork looks for garbage in them


OWN_CACHE = cache_folder()


def new_cache(folder: Path) -> Path:
    """`folder` as XDG_CACHE_HOME: an empty store, and the environments and files of the user's own cache."""
    cache = folder / "mobpack"
    cache.mkdir(parents=True)
    ensure(Runtime())
    for name in ("environments", "files"):
        (OWN_CACHE / name).mkdir(exist_ok=True)
        (cache / name).symlink_to(OWN_CACHE / name)
    return folder


def start(arguments: list[str], place: Place, said: Path, *, is_bounded: bool = False) -> int:
    """Start `mobpack` with `arguments` in a session of its own; its output goes to `said`."""
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        _be_the_command(arguments, place, said, is_bounded=is_bounded)
    return process


def _be_the_command(arguments: list[str], place: Place, said: Path, *, is_bounded: bool) -> NoReturn:
    code = 71
    try:
        os.setsid()
        os.chdir(place.folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for target, source in ((0, nothing), (1, nothing), (2, output)):
            os.dup2(source, target)
        os.environ["XDG_CACHE_HOME"] = str(place.cache)
        if place.temporary:
            os.environ["TMPDIR"] = str(place.temporary)
        if is_bounded:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        sys.argv = ["mobpack", *arguments]
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 71
        sys.stderr.flush()
    finally:
        os._exit(code)


def run(arguments: list[str], place: Place, said: Path, *, is_bounded: bool = False) -> Answer:
    """Run a command to its end, or kill it if it hangs."""
    process = start(arguments, place, said, is_bounded=is_bounded)
    end = time.monotonic() + TIMEOUT_S
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return Answer(code=code, text=said.read_text(encoding="utf-8", errors="replace"))
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return Answer(code=-9, text=said.read_text(encoding="utf-8", errors="replace"), is_hanging=True)
        time.sleep(0.005)
