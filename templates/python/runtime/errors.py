"""Errors of calls to a model."""

from enum import Enum


class ModelErrorCode(Enum):
    """Why a call failed."""

    MISSING = "missing"
    """A file of the model is not there."""
    CORRUPTED = "corrupted"
    """A file is not the one that the package was built with."""
    UNREADABLE = "unreadable"
    """A file is there and cannot be read."""
    RUNTIME = "runtime"
    """ONNX Runtime reports an error; the message is its own."""
    RUNTIME_VERSION = "runtime_version"
    """The environment has an older ONNX Runtime than this package was built for."""
    BAD_INPUT = "bad_input"
    """A value does not fit the model."""
    BAD_OPTIONS = "bad_options"
    """An option has an invalid value."""
    BUSY = "busy"
    """The queue of a stream has no room."""
    CLOSED = "closed"
    """The model was closed before the call."""
    FORKED = "forked"
    """The process was forked after the model was loaded: ONNX Runtime's threads stayed in the parent."""


class ModelError(Exception):
    """A model cannot be loaded or run."""

    def __init__(self, code: ModelErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        """the reason, for code"""

    def __str__(self) -> str:
        return f"[{self.code.value}] {super().__str__()}"
