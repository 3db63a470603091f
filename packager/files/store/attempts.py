"""Requests to a remote store, each with a few attempts, and the words of their errors."""

import time
from collections.abc import Callable
from typing import TypeVar

from packager.files.store.listing import UnusableError
from packager.files.store.objects import AbsentError

T = TypeVar("T")
ATTEMPTS, FIRST_ATTEMPTS = 4, 2
"""as long as the store has never answered, fewer"""
PAUSE_S = 0.2
"""before the second attempt, and three times as long before each that follows"""
SHOWN = 120
"""letters of an error in a message"""
HOPELESS = ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound", "DefaultCredentialsError")
"""Names of errors of the clouds' libraries that another attempt does not mend."""


class FailedError(Exception):
    """The store has failed at every attempt. The message has the last reason."""


def attempted(request: Callable[[], T], attempts: int = ATTEMPTS) -> T:
    """The answer to a request, after a few attempts if need be. Raises FailedError; FileNotFoundError, PermissionError
    and UnusableError at once."""
    pause_s = PAUSE_S
    for attempt in range(attempts):
        try:
            return request()
        except (FileNotFoundError, PermissionError, UnusableError):
            raise
        except Exception as error:  # every store's library has errors of its own
            if attempt == attempts - 1 or isinstance(error, AbsentError) or type(error).__name__ in HOPELESS:
                raise FailedError(words_of(error)) from error
        time.sleep(pause_s)
        pause_s *= 3
    raise AssertionError("unreachable")


def words_of(error: BaseException) -> str:
    """The error in one line."""
    if isinstance(error, AbsentError):
        return str(error)
    text = " ".join(str(error).split())[:SHOWN]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
