"""A loaded model: opened once, run from any thread."""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ClassVar, TypeVar

import numpy
from numpy.typing import NDArray

from . import golden, opening
from .descriptor import Descriptor, TensorSpec
from .errors import ModelError, ModelErrorCode
from .metrics import Counts, Metrics
from .options import ModelInfo, Options

Self = TypeVar("Self", bound="Model")
_open: weakref.WeakSet[Any] = weakref.WeakSet()
"""sessions of this process"""


def _keep() -> None:
    """A forked process never ends the sessions of its parent: ONNX Runtime would wait for threads that stayed there."""
    for session in _open:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))
    _open.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which forks no process
    os.register_at_fork(after_in_child=_keep)


class Model:
    """A loaded model. `load` opens it; `close`, or the end of a `with` statement, gives its memory back."""

    DESCRIPTOR: ClassVar[Descriptor]

    def __init__(self, session: Any, info: ModelInfo, load_duration: float) -> None:
        self._session: Any = session
        _open.add(session)
        self._info = info
        self._load_duration = load_duration
        self._counts = Counts()
        self._process = os.getpid()

    @classmethod
    def load(cls: type[Self], options: Options | None = None) -> Self:
        """Opens the model. Raises ModelError where no provider opens it."""
        begin = time.perf_counter()
        session, info = opening.opened(cls.DESCRIPTOR, options or Options())
        return cls(session, info, time.perf_counter() - begin)

    @property
    def info(self) -> ModelInfo:
        """Which file runs, and on what."""
        return self._info

    def metrics(self) -> Metrics:
        """Counts of the runs until now."""
        info = self._info
        return self._counts.metrics(info.name, info.version, info.provider, self._load_duration)

    def self_test(self) -> golden.SelfTest:
        """Compares outputs of this machine with those of the build machine."""
        folder = opening.MODELS / self.DESCRIPTOR.name
        outputs = tuple(golden.tested(self.DESCRIPTOR, folder, self._run))
        return golden.SelfTest(self.DESCRIPTOR.name, self._info.provider, outputs)

    def close(self) -> None:
        """Gives the memory of the model back, after the runs that are under way. Later calls raise ModelError
        `CLOSED`."""
        self._session = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, fed: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Outputs by name. Raises ModelError."""
        session = self._session
        if session is None:
            raise ModelError(ModelErrorCode.CLOSED, f"{self.DESCRIPTOR.name} was closed")
        if os.getpid() != self._process:
            raise ModelError(
                ModelErrorCode.FORKED,
                f"{self.DESCRIPTOR.name} was loaded before the process was forked: load it in the new process",
            )
        begin = time.perf_counter()
        try:
            found = opening.ran(session, fed)
        except ModelError:
            self._counts.add(time.perf_counter() - begin, failed=True)
            raise
        self._counts.add(time.perf_counter() - begin, failed=False)
        return found


class Carried:
    """State that a model carries from one call to the next. Calls take turns."""

    def __init__(self, first: Callable[[], dict[str, NDArray[Any]]], nexts: Mapping[str, str]) -> None:
        self._first = first
        self._nexts = nexts
        self._lock = threading.Lock()
        self._state = first()

    def run(
        self, run: Callable[[Mapping[str, NDArray[Any]]], dict[str, NDArray[Any]]], fed: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Runs the model with the state that the call before left. A run that fails leaves the state as it was."""
        with self._lock:
            found = run({**fed, **self._state})
            self._state = {name: found[output] for name, output in self._nexts.items()}
            return found

    def reset(self) -> None:
        """The next call is a first one."""
        with self._lock:
            self._state = self._first()


def tensor(spec: TensorSpec, given: Any) -> NDArray[Any]:
    """`given` as an array of the type of `spec`, without loss. Raises ModelError `BAD_INPUT` where it does not fit."""
    found = numpy.asarray(given)
    wanted = numpy.dtype(object) if spec.dtype == "str" else numpy.dtype(spec.dtype)
    if found.dtype != wanted:
        if not isinstance(given, numpy.ndarray) or spec.dtype == "str" or numpy.can_cast(found.dtype, wanted, "safe"):
            found = found.astype(wanted)
        else:
            raise ModelError(ModelErrorCode.BAD_INPUT, f"input {spec.name} takes {spec.dtype}, found {found.dtype}")
    fits = len(found.shape) == len(spec.shape) and all(
        wished in (None, size) for wished, size in zip(spec.shape, found.shape, strict=True)
    )
    if not fits:
        shape = ", ".join("?" if size is None else str(size) for size in spec.shape)
        raise ModelError(ModelErrorCode.BAD_INPUT, f"input {spec.name} takes [{shape}], found {list(found.shape)}")
    return numpy.ascontiguousarray(found).reshape(found.shape)
