"""The program `mobpack`; also `python -m packager`."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Ctrl-C before the command has begun ends the process at once, without Python's traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from packager import cli

    cli.main()


if __name__ == "__main__":
    main()
