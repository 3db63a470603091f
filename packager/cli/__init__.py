"""The `mobpack` command: prints results and errors, sets the exit code, builds nothing itself.

Command modules import what they need inside their functions, so that `mobpack --help` answers at once.
"""

import json
import os
import signal
import sys
from typing import NoReturn

import click

from packager import __version__
from packager.cli.build import build
from packager.cli.check import check
from packager.cli.convert import convert
from packager.cli.doctor import doctor
from packager.cli.export import export
from packager.cli.init import init
from packager.cli.inspect import inspect
from packager.cli.predict import predict
from packager.cli.quantize import quantize
from packager.cli.runtime import runtime
from packager.cli.xcode import xcode
from packager.errors import MobpackError

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mobpack")
def commands() -> None:
    """Turn an ONNX model into SDK packages for mobile apps, checked against the original before they ship.

    Start with: mobpack build MODEL.onnx --target android

    Exit codes: 0 done, 2 configuration, 3 model, 4 tool or disk, 5 parity, 6 gate,
    130 interrupted.
    """


for command in (init, inspect, predict, check, build, export, quantize, convert, runtime, xcode, doctor):
    commands.add_command(command)


def main() -> NoReturn:
    # numpy's linear algebra starts a thread per core on import, here and in every child; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a CI job that is cancelled cleans up like Ctrl-C
    try:
        commands(standalone_mode=False)
    except MobpackError as error:
        _report(error)
        sys.exit(error.EXIT_CODE)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _interrupted()
    except ImportError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # a compiled module was being loaded: the error is its own
            _interrupted()
        raise
    sys.exit(0)


def _interrupted() -> NoReturn:
    sys.stderr.write("mobpack: interrupted; the output folder is as it was\n")
    sys.exit(INTERRUPTED)


def _report(error: MobpackError) -> None:
    from packager.console import Console

    Console().error(error.message, error.hint)
    if "--json" in sys.argv:
        document = {
            "schema-version": 1,
            **error.document,
            "error": {"message": error.message, "hint": error.hint, "exit-code": error.EXIT_CODE},
        }
        sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
