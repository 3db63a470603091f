"""Chunks are processed in parallel and come back in order."""

import threading
import time

import numpy
import pytest

from packager.graph.weights.streaming import Scratch, in_order


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_their_pieces(threads: int) -> None:
    def work(chunk: int) -> int:
        time.sleep(0.001 * (chunk % 3 == 0))
        return chunk * chunk

    assert list(in_order(work, range(20), threads)) == [chunk * chunk for chunk in range(20)]
    assert list(in_order(work, (), threads)) == []


def test_pieces_are_worked_on_at_the_same_time_and_each_thread_has_its_own_memory() -> None:
    scratch, met = Scratch(), threading.Barrier(2, timeout=60)

    def work(_: int) -> "numpy.typing.NDArray[numpy.float32]":
        numbers = scratch.floats(10)
        met.wait()
        return numbers

    one, other = in_order(work, range(2), 2)
    assert not numpy.shares_memory(one, other)


def test_memory_is_used_again() -> None:
    scratch = Scratch()
    assert numpy.shares_memory(scratch.floats(10), scratch.floats(5))
    assert scratch.floats(1000).shape == (1000,)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_pieces_wait_for_who_takes_them(threads: int) -> None:
    taken: list[int] = []
    chunks = (taken.append(chunk) or chunk for chunk in range(100))  # type: ignore[func-returns-value]
    results = in_order(lambda chunk: chunk, chunks, threads)
    assert next(results) == 0
    assert len(taken) <= 2 * threads + 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_piece_goes_up(threads: int) -> None:
    def work(chunk: int) -> float:
        return 1 / (chunk - 3)

    with pytest.raises(ZeroDivisionError):
        list(in_order(work, range(50), threads))
