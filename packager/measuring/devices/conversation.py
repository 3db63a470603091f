"""Talks with the program on a device: a line for each request, and a line of JSON for each answer."""

import queue
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from packager.core import parsing
from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.files.processes import children
from packager.files.processes.commands import last_lines
from packager.measuring.devices.link import DeviceProgram, GoneError, Link

READY_S = 120.0
"""Longest start of the program."""
HALT_S = 0.2
"""Longest time until an interruption is noticed."""
END_S = 10
"""Longest time in which a program ends by itself once its input does, which is at once but on a busy device."""
ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
KILLED = 137
"""Exit code of a program that the system has killed: 128 + SIGKILL."""
SIGNALS = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}
NO_STARTER = 127


class Conversation:
    """A program that runs on a device; it has ended when the `with` block ends."""

    def __init__(self, link: Link, serial: str, program: DeviceProgram, folder: Path) -> None:
        """Its standard error goes to a file in `folder`. Raises ToolError if it does not start, GoneError if the device
        is gone."""
        self._link, self._serial, self._folder = link, serial, folder
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors = folder / "device-stderr.txt"
        with self._errors.open("wb") as errors:
            self._process = link.start(serial, program, folder, errors)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self._answer("starting the program", READY_S)
        except BaseException:
            self.close()
            raise

    def ask(self, verb: str, words: Mapping[str, str], *, doing: str, timeout_s: float) -> Json:
        """The answer to a request; `doing` says what it is about, for errors.

        Raises ModelError if the program crashes, ToolError if it is killed or does not answer in time, GoneError if the
        device is gone.
        """
        line = request_line(verb, words)
        try:
            assert self._process.stdin
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            self._ended(doing)
        return self._answer(doing, timeout_s)

    def close(self) -> None:
        """Ends the program. It ends by itself once its input does; killing adb would leave it."""
        process: subprocess.Popen[Any] = self._process
        try:
            if process.stdin:
                process.stdin.close()
            process.wait(timeout=END_S)
        except (OSError, subprocess.TimeoutExpired):
            pass
        children.end(process)
        self._reader.join(timeout=5)
        if process.stdout:
            process.stdout.close()

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout
        try:
            for line in self._process.stdout:
                if line.startswith("{"):
                    self._lines.put(line)
        except (OSError, ValueError):
            pass  # it was closed
        self._lines.put("")

    def _answer(self, doing: str, timeout_s: float) -> Json:
        line = self._line(timeout_s)
        if line is None:
            self._link.shell(self._serial, "true")
            raise ToolError(
                f"{self._serial} gave no answer within {timeout_s:g} s, {doing}",
                hint="wake it, close its apps, or give it more time with --timeout",
            )
        if not line:
            self._ended(doing)
        with parsing.damage_as(lambda reason: unreadable(self._serial, doing, reason)):
            return dict(parsing.json_of(line))

    def _line(self, timeout_s: float) -> str | None:
        """The next line, empty if the program has ended; None if there is none in time. Raises KeyboardInterrupt when
        the user interrupts."""
        end = time.monotonic() + timeout_s
        while (left := end - time.monotonic()) > 0:
            if self._link.halt.is_set():
                raise KeyboardInterrupt
            with suppress(queue.Empty):
                return self._lines.get(timeout=min(HALT_S, left))
        return None

    def _ended(self, doing: str) -> None:
        """Raises the reason for which the program has ended."""
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            code = None
        said = last_lines(self._errors.read_text(encoding="utf-8", errors="replace"), 6)
        self._link.shell(self._serial, "true", timeout_s=15)  # raises GoneError where the device itself is gone
        if code == NO_STARTER:
            raise ToolError(
                f"{self._serial} has no app_process, which starts Java on Android: {said}",
                hint="use a device with complete Android: emulated and stripped-down systems may lack it",
            )
        if code == KILLED:
            raise ToolError(
                f"{self._serial} has killed the program, {doing}, as happens when memory runs out",
                hint="close its apps, or use a device with more memory",
            )
        if code in SIGNALS:
            raise ModelError(
                f"the runtime crashed on {self._serial}, {doing} ({SIGNALS[code]})",
                hint="adb logcat -b crash shows where; leave this provider out for this model",
            )
        if code in (None, 255):
            raise GoneError(f"the connection to {self._serial} broke, {doing}", hint="check its cable, then run again")
        raise ToolError(
            f"the program on {self._serial} ended with code {code}, {doing}: {said or 'it says nothing'}",
            hint="adb logcat shows why",
        )


def unreadable(device: str, doing: str, reason: str) -> ToolError:
    """The error for an answer that the program of mobpack's does not give."""
    return ToolError(
        f"{device} answered with something other than mobpack's program does, {doing}: {reason}",
        hint="restart the device, and run `mobpack device clean`, which removes the program there; then run again",
    )


def request_line(verb: str, words: Mapping[str, str]) -> str:
    """A request as the program reads it: the verb and `key=text` for each word, with tabs between them."""
    return "\t".join((verb, *(_escaped(f"{key}={text}") for key, text in words.items())))


def _escaped(text: str) -> str:
    for plain, written in ESCAPES:
        text = text.replace(plain, written)
    return text
