"""Processes the chunks of a tensor in several threads, with reused memory and results in order."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

CHUNK_ELEMENTS = 1 << 18
"""Elements of a chunk: 1 MB of float32, which stays in a core's own cache from one step to the next."""

THREADS = 2
"""One thread keeps up with a disk. On two busy cores a second one gains nothing; on idle ones float16 gains a third."""

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def chunks_of(array: "NDArray[Any]") -> "Iterator[NDArray[Any]]":
    """The numbers of `array` in order, in chunks that fit the cache."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK_ELEMENTS):
        yield flat[start : start + CHUNK_ELEMENTS]


class Scratch(threading.local):
    """Reusable float32 memory per thread: touching fresh pages costs more than the arithmetic on them."""

    _array: "NDArray[numpy.float32] | None" = None

    def floats(self, count: int) -> "NDArray[numpy.float32]":
        """An uninitialized array of `count` numbers, valid until the thread's next call."""
        import numpy

        if self._array is None or self._array.size < count:
            self._array = numpy.empty(max(count, min(2 * count, CHUNK_ELEMENTS)), numpy.float32)
        return self._array[:count]


def in_order(work: Callable[[Chunk], Result], chunks: Iterable[Chunk], threads: int) -> Iterator[Result]:
    """The result of `work` for every chunk, in order. At most two chunks per thread are in progress or waiting."""
    waiting = iter(chunks)
    first = list(islice(waiting, 2 * threads))
    if threads == 1 or len(first) == 1:
        yield from map(work, first)
        yield from map(work, waiting)
        return
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[Result]] = deque(pool.submit(work, chunk) for chunk in first)
        try:
            while running:
                result = running.popleft().result()
                running.extend(pool.submit(work, chunk) for chunk in islice(waiting, 1))
                yield result
        finally:
            for future in running:
                future.cancel()
