"""Internal errors: a crash file for the bug report, and one sentence for the user."""

import errno
import hashlib
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packager import __version__
from packager.core.errors import InternalError, MobpackError, ToolError
from packager.core.secrets import without_secrets

PACKAGES = ("onnx", "onnxruntime", "numpy", "protobuf", "pydantic", "click", "jinja2", "rich")
MESSAGE_CHARACTERS = 2000
"""limit for one exception's message: some libraries include the data in it"""
TRACEBACK_CHARACTERS = 60_000
COMMAND_CHARACTERS = 4000
KEPT = 20
"""crash files kept in the cache"""
DISK = {
    errno.ENOSPC: "free some space, then run again",
    errno.EDQUOT: "free some space, then run again",
    errno.EROFS: "name a folder that can be written to",
    errno.EMFILE: "raise the limit of open files (ulimit -n), then run again",
    errno.ENFILE: "end some programs, then run again",
    errno.EIO: "check the disk",
    errno.ELOOP: "name another path, or remove the link: it leads back to itself",
}
"""Errors of the operating system that are not internal errors, with what to do about them."""


def as_error(error: BaseException, command: Sequence[str]) -> MobpackError:
    """The error to show for an uncaught exception; the crash file has the traceback."""
    if isinstance(error, OSError) and error.errno in DISK:
        where = f"{error.filename}: " if error.filename else ""
        return ToolError(f"{where}{(error.strerror or 'the disk failed').lower()}", hint=DISK[error.errno])
    first = next(iter(shortened(without_secrets(message_of(error)), 200).splitlines()), "")
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    path = write(without_secrets(described(error, command)))
    hint = (
        f"report it and attach {path}"
        if path
        else "the crash file could not be written; run the command again with --debug and report the traceback"
    )
    return InternalError(f"internal error in mobpack ({what})", hint=hint)


def described(error: BaseException, command: Sequence[str]) -> str:
    """Versions, command and traceback, of bounded length; no values of variables."""
    lines = [
        f"mobpack {__version__}",
        f"Python {platform.python_version()} on {platform.platform()}",
        *versions(),
        f"command: {shortened(shlex.join(command), COMMAND_CHARACTERS)}",
        "",
        trace_of(error),
    ]
    return "\n".join(lines).rstrip() + "\n"


def versions() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} is not installed"


def trace_of(error: BaseException) -> str:
    """The traceback as Python prints it, causes included; long messages and long tracebacks are cut in the middle."""
    whole = traceback.TracebackException.from_exception(error)
    lines = [shortened(line, MESSAGE_CHARACTERS) for line in whole.format()]
    return shortened("".join(lines), TRACEBACK_CHARACTERS)


def message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "its message cannot be read"


def shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - 2 * half:,} characters omitted ...\n{text[-half:]}"


def write(text: str) -> Path | None:
    """Writes the crash file to the user's cache folder, else to the temporary folder; None if neither is writable.

    The name is derived from the content, so that the same crash is kept once.
    """
    from packager.files.atomic import atomic_file
    from packager.files.user_cache import cache_folder

    content = text.encode(errors="replace")
    name = f"crash-{hashlib.sha256(content).hexdigest()[:12]}.txt"
    try:
        path = cache_folder() / "crashes" / name
        with atomic_file(path) as file:
            file.write(content)
        remove_old(path.parent)
        return path
    except (MobpackError, OSError):
        return write_temporary(content)


def write_temporary(content: bytes) -> Path | None:
    try:
        folder = Path(
            tempfile.mkdtemp(prefix="mobpack-")
        )  # private: other users can write to the temporary folder itself
        (folder / "crash.txt").write_bytes(content)
        return folder / "crash.txt"
    except OSError:
        return None


def remove_old(folder: Path) -> None:
    found = sorted(folder.glob("crash-*.txt"), key=lambda path: path.stat().st_mtime)
    for path in found[:-KEPT]:
        path.unlink(missing_ok=True)


def show(error: BaseException) -> None:
    """Prints the traceback, for `--debug`."""
    sys.stderr.write(without_secrets(trace_of(error)).rstrip() + "\n")
