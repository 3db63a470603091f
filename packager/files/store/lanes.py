"""Threads for requests to a store that may never answer: a caller waits for a limited time, the process for none."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Lanes:
    """Runs functions in up to `count` threads that end with the process, whatever they do."""

    count: int
    _waiting: "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]]" = field(default_factory=queue.SimpleQueue)
    _threads: list[threading.Thread] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, function: Callable[[], T]) -> "Future[T]":
        """The future result of `function`, run as soon as a thread is free."""
        future: Future[T] = Future()
        self._waiting.put((future, function))
        with self._lock:
            if len(self._threads) < self.count:
                thread = threading.Thread(target=self._work, name="mobpack-cache", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def _work(self) -> None:
        while True:
            future, function = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:  # whoever waits for the future gets it
                future.set_exception(error)
