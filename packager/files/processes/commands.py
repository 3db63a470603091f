"""Runs programs to their end and describes their failures."""

import errno
import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.core import parsing
from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.files.processes import children, copies, limits
from packager.files.processes.children import python
from packager.files.processes.inherited import MODELS

FIRST_EXCEPTION = 0xC0000000
"""Exit codes from here on are exceptions of Windows (ntstatus.h)."""
EXCEPTIONS = {
    0xC0000005: "access violation",
    0xC0000017: "out of memory",
    0xC000001D: "illegal instruction",
    0xC0000094: "division by zero",
    0xC00000FD: "stack overflow",
    0xC0000409: "aborted",
}


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    cwd: Path | None = None,
    inherits: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    hint: str = "",
) -> str:
    """Runs `command` to its end, in `cwd` or else in an empty folder, and returns its output. `inherits` names its
    variables, as for `children.start`.

    Raises ToolError with the last lines of its output if it fails; `what` says what it was for.
    """
    try:
        done = children.run(command, folder=cwd, inherits=inherits, environment=environment)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]} for {what}: {error.strerror}", hint=hint) from error
    if done.returncode != 0:
        raise ToolError(
            f"{what} failed (exit code {done.returncode}):\n{last_lines(done.stdout + done.stderr)}", hint=hint
        )
    return done.stdout


def run_job(
    program: Sequence[str | Path],
    job: Mapping[str, object],
    folder: Path,
    *,
    crash: str,
    hint: str,
    environment: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
    owner: str = "",
    may_be_copied: bool = False,
) -> Json:
    """Runs a Python program of ours in a child process on `job`, written to `folder`, and returns its answer.

    `folder` is its working folder: paths in `job` must be absolute. The program reads the JSON file that is its last
    argument and prints one line of JSON. `command` runs it if not with this Python, and `owner` is then the name of its
    environment. Where it `may_be_copied`, it is a module with `main`, `["-m", NAME]`, and a copy of this process runs
    it if that is sound. Raises ModelError that says `crash` and the signal if one kills it or that memory or time ran
    out (`limits.py`), OSError if its disk is
    full, ToolError if the environment lacks a file, or has only a part of one.
    """
    request = folder / "job.json"
    request.write_text(json.dumps(job), encoding="utf-8", newline="\n")
    longest_s = limits.seconds(limits.SLOW)
    try:
        if may_be_copied and copies.are_sound():
            done = copies.run(str(program[-1]), [str(request.absolute())], folder, longest_s)
        else:
            done = children.run(
                [*(command or python()), *program, request.absolute()],
                folder=folder,
                inherits=MODELS,
                environment=environment,
                longest_s=longest_s,
                is_limited=True,
            )
    except limits.OverTimeError as error:
        raise error.as_error("opening or converting the model") from error
    except FileNotFoundError as error:
        if owner:
            raise damaged(owner, str(error)) from error
        raise
    if reason := crash_reason(done.returncode):
        refuse_cut_library(reason, owner)
        raise ModelError(f"{crash} ({reason})", hint=crash_hint(reason, hint))
    if done.returncode != 0:
        if os.strerror(errno.ENOSPC) in done.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        limits.refuse_no_memory(done.stderr)
        failure = RuntimeError(f"{program[-1]} failed:\n{last_lines(done.stderr)}")
        if owner:
            raise damaged(owner, last_lines(done.stderr, 1)) from failure
        raise failure
    # Libraries print, too, some when the process ends: Qualcomm's does on systems without a configuration for it.
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("{")), "")
    try:
        return dict(parsing.json_of(line))
    except parsing.DAMAGE as error:
        reason = f"it printed no answer, but {last_lines(done.stdout, 1)[:200]!r}"
        raise damaged(owner, reason) if owner else RuntimeError(f"{program[-1]} failed: {reason}") from error


def damaged(environment: str, reason: str) -> ToolError:
    """The error for an isolated environment that was complete when it was made."""
    return ToolError(f"the environment {environment} does not work: {reason}", hint=how_to_remake(environment))


def refuse_cut_library(reason: str, owner: str) -> None:
    """Raises ToolError if a program in the environment `owner` has ended for a `reason` that a library cut short has:
    Linux sends SIGBUS where a program reads past the end of a file in its memory (mmap(2))."""
    if owner and reason == "SIGBUS":
        raise damaged(owner, f"a file of it is shorter than it was ({reason})")


def how_to_remake(environment: str) -> str:
    """Hint to recreate an environment. An existing one counts as complete, so it must be removed first. Contains no
    path: this may end in a manifest."""
    return (
        f"remove environments/{environment} from mobpack's cache, which mobpack doctor locates, "
        f"then run: mobpack doctor --install {environment}"
    )


def crash_hint(reason: str, otherwise: str) -> str:
    """The hint for a crash of the `reason`: `otherwise`, unless the system has killed the program."""
    return "memory has probably run out: close other programs" if reason == "SIGKILL" else otherwise


def crash_reason(code: int) -> str:
    """The signal that ended a program, or on Windows the exception; empty if it ended by itself."""
    if code < 0:
        return signal.Signals(-code).name
    if sys.platform == "win32" and code >= FIRST_EXCEPTION:
        return EXCEPTIONS.get(code, f"0x{code:08X}")
    return ""


def last_lines(text: str, count: int = 20) -> str:
    return "\n".join(text.strip().splitlines()[-count:])


def refuse_full_disk(output: str, folder: Path) -> None:
    """Raises ToolError if the `output` of a program that fills `folder` reports a full disk."""
    if os.strerror(errno.ENOSPC).lower() in output.lower():
        raise ToolError(
            f"no space left on the disk of {folder}, or on that of {tempfile.gettempdir()}",
            hint="free some space, or set XDG_CACHE_HOME and TMPDIR to folders on another disk",
        )
