"""A stand-in for pycuda.driver in ordinary memory. What a stream copies to the host arrives when one waits for it, and
what is freed twice, or never, is written down."""

import atexit
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

ALIVE: set[int] = set()
LATER: list[Callable[[], object]] = []
CONTEXTS: list[str] = []


def note(line: str) -> None:
    with Path(os.environ["STAND_IN_LOG"]).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


class Error(Exception):
    __module__ = "pycuda._driver"


def init() -> None:
    CONTEXTS.append("init")


class Device:
    def __init__(self, index: int) -> None:
        assert index == 0
        assert CONTEXTS

    def name(self) -> str:
        return "NVIDIA Stand-In"

    def retain_primary_context(self) -> "Context":
        return Context()


class Context:
    def push(self) -> None:
        CONTEXTS.append("pushed")

    def pop(self) -> None:
        CONTEXTS.remove("pushed")

    def detach(self) -> None:
        note(f"detached with {len(ALIVE)} pieces of memory")


class Stream:
    handle = 7

    def synchronize(self) -> None:
        while LATER:
            LATER.pop(0)()


class DeviceAllocation:
    def __init__(self, size: int) -> None:
        if size > 1 << 20:
            raise Error("cuMemAlloc failed: out of memory")
        self.memory = (ctypes.c_ubyte * size)()
        ALIVE.add(int(self))

    def __int__(self) -> int:
        return ctypes.addressof(self.memory)

    def free(self) -> None:
        ALIVE.remove(int(self))


class PagelockedHostAllocation:
    def __init__(self, size: int) -> None:
        self.memory = (ctypes.c_ubyte * size)()
        address = ctypes.addressof(self.memory)
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}
        ALIVE.add(id(self))

    def free(self) -> None:
        ALIVE.remove(id(self))


def mem_alloc(size: int) -> DeviceAllocation:
    return DeviceAllocation(size)


def pagelocked_empty(size: int, dtype: Any) -> Any:
    assert dtype is numpy.uint8
    return numpy.asarray(PagelockedHostAllocation(size))


def memcpy_htod_async(dest: DeviceAllocation, source: Any, stream: Stream) -> None:
    ctypes.memmove(int(dest), source.ctypes.data, source.nbytes)


def memcpy_dtoh_async(dest: Any, source: DeviceAllocation, stream: Stream) -> None:
    LATER.append(lambda: ctypes.memmove(dest.ctypes.data, int(source), dest.nbytes))


atexit.register(lambda: note(f"ended, contexts {CONTEXTS}"))
