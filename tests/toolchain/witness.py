"""Watches what a program asks of a network, which programs it starts and which files it leaves at home."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.engines.environments import zig
from tests.toolchain import c_library
from tests.toolchain.kept import kept

SOURCE = Path(__file__).with_suffix(".c")
SWITCH = "ORT_DISABLE_TELEMETRY"
ALONE = ("unshare", "--map-root-user", "--net")
"""gives a program a network of its own, which leads nowhere"""
NOTHING: Mapping[str, str] = {}


@cache
def library() -> Path:
    """The library for LD_PRELOAD."""

    def make(folder: Path) -> None:
        c_library.build(SOURCE, folder / "witness.so", "-O1")

    return kept("witness", make, SOURCE, zig.version()) / "witness.so"


@dataclass(frozen=True, kw_only=True)
class Witnessed:
    """A program that has ended."""

    lookups: tuple[str, ...]
    """names that were looked up"""
    connections: tuple[str, ...]
    """addresses and ports that it connected or sent to, those of look-ups included"""
    programs: tuple[str, ...]
    files: tuple[str, ...]
    """that it has left in the user's folder"""

    @property
    def is_silent(self) -> bool:
        return not (self.lookups or self.connections or self.programs or self.files)


Line = Sequence[str | Path]


def watched(
    command: Line | Callable[[Mapping[str, str]], Line],
    folder: Path,
    variables: Mapping[str, str] = NOTHING,
    *,
    seconds: float = 300,
) -> Witnessed:
    """Runs a command in the empty folder `folder`, which is its user's, in a network of its own. Raises AssertionError
    if it fails.

    A command that starts other programs before the one to watch is a function of the variables that this one needs.
    """
    home, log = folder / "home", folder / "witness.txt"
    home.mkdir(parents=True)
    log.touch()
    # No variable of this process but one: ONNX Runtime sends nothing where CI, GITHUB_ACTIONS and their like are set.
    own = {"HOME": str(home), "MOBPACK_WITNESS": str(log), "LD_PRELOAD": str(library()), **variables}
    started = (
        command(own) if callable(command) else ["env", *(f"{name}={value}" for name, value in own.items()), *command]
    )
    done = subprocess.run(
        [*ALONE, *map(str, started)],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.partition(" ") for line in log.read_text(encoding="utf-8").splitlines()]
    found = {kind: tuple(rest for name, _, rest in lines if name in kinds) for kind, kinds in KINDS.items()}
    files = tuple(sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()))
    return Witnessed(**found, files=files)


KINDS: Mapping[str, tuple[str, ...]] = {
    "lookups": ("lookup",),
    "connections": ("connect", "send"),
    "programs": ("program",),
}
