"""Ends programs with everything that they started, however this process ends.

Linux and macOS have process groups, but none ends with its creator: a guard, a process that waits for this one to end,
kills those that are left. Windows has job objects, which it ends itself once the last handle is closed.
"""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

GUARD = """
living=" "
while read -r sign group; do
  case $sign in
    +) living="$living$group " ;;
    -) case $living in *" $group "*) living="${living%%" $group "*} ${living#*" $group "}" ;; esac ;;
  esac
done
for group in $living; do kill -KILL "-$group" 2>/dev/null; done
"""
"""A program for sh: reads `+ GROUP` and `- GROUP`, and kills the remaining groups at the end of its input."""

KILL_ON_CLOSE = 0x2000
"""JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE in winnt.h"""
EXTENDED_LIMITS = 9
"""JobObjectExtendedLimitInformation"""
SET_QUOTA_AND_TERMINATE = 0x0101
"""Rights to a process that a job takes: PROCESS_SET_QUOTA and PROCESS_TERMINATE."""


@dataclass(frozen=True)
class Copy:
    """A process that is a copy of this one (`copies.py`)."""

    pid: int


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION"""

    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION"""

    _fields_ = (
        ("basic", BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


if sys.platform == "win32":
    OPTIONS: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    """Options of a program that is started: Ctrl-C reaches this process only."""

    class Groups:
        """A job object for each program that runs."""

        def __init__(self) -> None:
            self._jobs: dict[int, int] = {}
            self._system: Any = ctypes.WinDLL("kernel32", use_last_error=True)
            for name in ("CreateJobObjectW", "OpenProcess"):
                getattr(self._system, name).restype = ctypes.c_void_p

        def prepare(self) -> None:
            """Is called before a program is started."""

        def watch(self, process: "subprocess.Popen[Any]") -> None:
            """Puts a new program into a job; what it starts from now on is in it too."""
            system = self._system
            job = ctypes.c_void_p(system.CreateJobObjectW(None, None))
            limits = Limits(basic=BasicLimits(flags=KILL_ON_CLOSE))
            handle = ctypes.c_void_p(system.OpenProcess(SET_QUOTA_AND_TERMINATE, False, process.pid))
            is_in_job = (
                system.SetInformationJobObject(job, EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
                and handle
                and system.AssignProcessToJobObject(job, handle)
            )
            system.CloseHandle(handle)
            if not is_in_job and process.poll() is None:
                process.kill()
                raise ctypes.WinError(ctypes.get_last_error())
            self._jobs[process.pid] = job.value or 0

        def kill(self, process: "subprocess.Popen[Any]") -> None:
            self._system.TerminateJobObject(ctypes.c_void_p(self._jobs[process.pid]), 1)

        def forget(self, process: "subprocess.Popen[Any]") -> None:
            """Closes the job of a program that has ended; what it left running ends now."""
            if job := self._jobs.pop(process.pid, 0):
                self._system.CloseHandle(ctypes.c_void_p(job))

else:
    OPTIONS: dict[str, Any] = {"process_group": 0}
    """Of a program that is started."""

    class Groups:
        """A process that is told which groups run, and kills them when this process ends."""

        def __init__(self) -> None:
            self._living: set[int] = set()
            self._lock = threading.Lock()
            self._guard: subprocess.Popen[bytes] | None = None
            atexit.register(self._stop)
            os.register_at_fork(after_in_child=self._begin_anew)

        def prepare(self) -> None:
            """Starts the guard before the program that it is to watch: this process may be killed in between."""
            with self._lock:
                if not self._guard:
                    self._begin()

        def watch(self, process: "subprocess.Popen[Any] | Copy") -> None:
            with self._lock:
                self._living.add(process.pid)
                if not self._told(f"+ {process.pid}"):
                    self._begin()

        def kill(self, process: "subprocess.Popen[Any] | Copy") -> None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

        def forget(self, process: "subprocess.Popen[Any] | Copy") -> None:
            with self._lock:
                self._living.discard(process.pid)
                self._told(f"- {process.pid}")

        def _begin_anew(self) -> None:
            """In a copy of this process, which does not end with it: programs of the copy get a guard of their own, and
            the copy does not hold open the input of this one's."""
            if self._guard and self._guard.stdin:
                self._guard.stdin.close()
                self._guard.returncode = 0  # it is not a child of the copy
            self._guard, self._living, self._lock = None, set(), threading.Lock()

        def _stop(self) -> None:
            """Closes the guard's input: it kills the groups that still run, and ends."""
            with self._lock:
                if self._guard and self._guard.stdin:
                    with suppress(BrokenPipeError):
                        self._guard.stdin.close()
                    self._guard.wait()
                self._guard = None

        def _begin(self) -> None:
            """Starts the guard outside of this process's group and session: a signal to those must not kill it
            first."""
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", GUARD],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
            for group in sorted(self._living):
                self._told(f"+ {group}")

        def _told(self, line: str) -> bool:
            """Whether the guard took the line: not if it does not run, or was killed."""
            if not self._guard or not self._guard.stdin:
                return False
            try:
                self._guard.stdin.write(line.encode() + b"\n")
            except BrokenPipeError:
                self._guard.wait()
                self._guard = None
                return False
            return True
