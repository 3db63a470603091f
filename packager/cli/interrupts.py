"""Ctrl-C and termination: they raise KeyboardInterrupt, and are remembered.

Compiled modules that are interrupted while they are imported raise errors of their own, which do not say why.
"""

import signal
from types import FrameType

_received: list[int] = []


def watch() -> None:
    """From now on, both raise KeyboardInterrupt: a CI job that is cancelled cleans up like Ctrl-C. What a parent made
    the process ignore, as `nohup` does, stays ignored."""
    _received.clear()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def were_received() -> bool:
    return bool(_received)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    raise KeyboardInterrupt
