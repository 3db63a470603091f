"""The `mobpack` command: prints results and errors, sets the exit code, builds nothing itself.

Command modules import what they need inside their functions, so that `mobpack --help` answers at once, and are imported
themselves when their command is asked for: the options of all take as long as a small conversion.
"""

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from packager import __version__
from packager.cli import interrupts
from packager.core.errors import MobpackError, UnprovenError

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


GROUPS: Mapping[str, Sequence[str]] = {
    "Prepare a model": ("init", "inspect", "predict", "export", "import", "quantize", "convert"),
    "Build packages": ("check", "bench", "build", "device", "tune", "fleet", "extract", "pack", "runtime", "xcode"),
    "Ship a release": ("lock", "diff", "verify", "sign", "publish", "release"),
    "Update models in apps": ("delta", "channel"),
    "Look after this machine": ("doctor", "cache"),
}
"""Commands under headings, in the order of the work. Each is a function in the module of its name."""
KEYWORDS: Mapping[str, tuple[str, str]] = {"import": ("importing", "import_model")}
"""Command that no module can be named for -> its module and its function."""


class Commands(Mapping[str, click.Command]):
    """The commands by name; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in list(self):
            raise KeyError(name)
        module, function = KEYWORDS.get(name, (name, name))
        command: click.Command = getattr(import_module(f"packager.cli.{module}"), function)
        return command

    def __iter__(self) -> Iterator[str]:
        return (name for listed in GROUPS.values() for name in listed)

    def __len__(self) -> int:
        return sum(map(len, GROUPS.values()))


class Grouped(click.Group):
    """Lists its commands under headings."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for heading, listed in GROUPS.items():
            rows = [(f"{name:{width}}", self.commands[name].get_short_help_str(formatter.width)) for name in listed]
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.group(
    cls=Grouped,
    commands=Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="mobpack")
@click.option("--debug", is_flag=True, help="Print the traceback of an error as well.")
def commands(debug: bool) -> None:
    """Turn an ONNX model into SDK packages for mobile apps, checked against the original before they ship.

    Start with: mobpack build MODEL.onnx --target android

    Exit codes: 0 done, 2 configuration, 3 model, 4 tool or disk, 5 parity, 6 gate,
    70 internal error, 130 interrupted.
    """


def main() -> NoReturn:
    # numpy's linear algebra starts a thread per core on import, here and in every child; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    interrupts.watch()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be text
    try:
        sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt as stop:
        words = stop.args[0] if stop.args else "no output was changed"
        sys.stderr.write(f"mobpack: interrupted; {words}\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has closed the pipe: exit silently (Python docs, SIGPIPE)
        _write_nowhere()
        sys.exit(1)


def _run(arguments: Sequence[str]) -> int:
    """Runs the command, reports every error to the user and returns the exit code. Raises KeyboardInterrupt, and
    BrokenPipeError when the reader of the output has closed the pipe."""
    commanded, is_debug = _without_debug(arguments)
    try:
        commands(commanded, standalone_mode=False)
        _flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort as error:
        raise KeyboardInterrupt(*getattr(error.__cause__, "args", ())) from error  # click has made it of that one
    except (SystemExit, KeyboardInterrupt, BrokenPipeError):
        raise
    except BaseException as error:  # compiled libraries may raise errors that are not of class Exception
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from error
        if interrupts.were_received():  # a compiled module that was being loaded raises an error of its own
            raise KeyboardInterrupt from error
        if isinstance(error, UnprovenError) and error.__cause__:
            error = error.__cause__
        return _failed(error, is_debug=is_debug)
    return 0


def _without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Removes `--debug`, which is accepted anywhere before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return [*kept, *arguments[end:]], len(kept) < end


def _failed(error: BaseException, *, is_debug: bool) -> int:
    """Reports the error and returns its exit code; an error that is not a MobpackError leaves a crash file."""
    from packager.cli import crash

    if is_debug:
        crash.show(error)
    reported = error if isinstance(error, MobpackError) else crash.as_error(error, sys.argv)
    _report(reported)
    with suppress(OSError):  # else Python 3.11.2 tries again to write it at exit, and exits with 120
        _flush()
    return reported.EXIT_CODE


def _flush() -> None:
    """Flushes standard output now; at interpreter shutdown, Python would print a failure by itself."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        _write_nowhere()
        raise


def _write_nowhere() -> None:
    """Redirects the rest of standard output to /dev/null."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _report(error: MobpackError) -> None:
    from packager.core.characters import to_json
    from packager.core.console import Console

    Console().error(error.message, error.hint)
    if "--json" in sys.argv:
        document = {
            "schema-version": 1,
            **error.document,
            "error": {"message": error.message, "hint": error.hint, "exit-code": error.EXIT_CODE},
        }
        sys.stdout.write(to_json(document) + "\n")
