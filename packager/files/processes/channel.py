"""Child processes that speak lines of JSON: they report progress, or answer requests.

The first half is for the parent; `Channel` is for the child.
"""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packager.core import errors, parsing
from packager.core.errors import MobpackError, ModelError, ToolError
from packager.core.parsing import Json
from packager.files.processes import children, limits
from packager.files.processes.children import python
from packager.files.processes.commands import crash_hint, crash_reason, last_lines
from packager.files.processes.inherited import MODELS

GRACE_S = 5
"""Time that a program that is no longer needed may take to end by itself."""


class CrashError(Exception):
    """The program crashed; `signal` is the name of the signal, or of Windows' exception."""

    def __init__(self, signal_name: str) -> None:
        super().__init__(signal_name)
        self.signal = signal_name

    def hint(self, otherwise: str) -> str:
        """Like `commands.crash_hint`."""
        return crash_hint(self.signal, otherwise)


def run_with_progress(
    module: str,
    job: Mapping[str, object],
    folder: Path,
    progress: Callable[[int], None],
    *,
    crash: str,
    hint: str,
    inherits: Sequence[str] = MODELS,
    longest_s: float | None = None,
) -> Json:
    """Runs `python -m module` on `job`, written to `folder`; passes every `done` that it prints to `progress`, and
    returns the last object it printed.

    The program ends with this function, however that ends, Ctrl-C included. Raises the failure that the program
    reports, ModelError that says `crash` and the signal if one kills it, or if it prints nothing for `longest_s`,
    OSError if its disk is full.
    """
    answer: Json = {}
    with ChildProgram(["-m", module], job, folder, inherits=inherits, is_limited=True) as program:
        program.close_stdin()
        try:
            while (line := program.next_line(longest_s)) is not None:
                answer = line
                if "done" in answer:
                    progress(answer["done"])
        except CrashError as error:
            raise ModelError(f"{crash} ({error.signal})", hint=error.hint(hint)) from error
        except limits.OverTimeError as error:
            raise error.as_error("running the model on one sample") from error
    raise_failure(answer)
    return answer


def raise_failure(answer: Json) -> None:
    """Raises the failure in an answer: `{"failed": class in packager.core.errors, "message", "hint"}`."""
    if "failed" in answer:
        raise getattr(errors, answer["failed"])(limits.explained(answer["message"]), hint=answer["hint"])


class ChildProgram:
    """A child process running Python code of ours; it has ended when the `with` block ends."""

    def __init__(
        self,
        program: Sequence[str | Path],
        job: Mapping[str, object],
        folder: Path,
        *,
        command: Sequence[str] = (),
        inherits: Sequence[str] = MODELS,
        environment: Mapping[str, str] | None = None,
        is_limited: bool = False,
    ) -> None:
        """Writes `job` and the program's standard error to `folder`, its working folder: paths in `job` must be
        absolute.

        `command` runs `program` (`-m module`, or a path) if not with this Python; it needs the variables of
        `environment`. `inherits` names others, as for `children.start`. Its memory `is_limited` if it runs a model.
        """
        self.name = Path(program[-1]).name
        self.complaints = folder / "stderr.txt"
        most_bytes = limits.memory_bytes() if is_limited else 0
        request = folder / "job.json"
        request.write_text(json.dumps(job), encoding="utf-8", newline="\n")
        with self.complaints.open("w", encoding="utf-8") as log:
            self.process = children.start(
                [*(command or python()), *program, request.absolute()],
                folder,
                inherits=inherits,
                environment=environment,
                stdin=subprocess.PIPE,
                stderr=log,
            )
        limits.limit(self.process.pid, most_bytes)

    def __enter__(self) -> "ChildProgram":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.end(is_in_order=kind is None)

    def lines(self, longest_s: float | None = None) -> Iterator[Json]:
        """The objects it prints until it ends. Raises CrashError, OSError for a full disk, ModelError if memory ran
        out, RuntimeError for its own bugs, OverTimeError if all of them take longer than they may, and it is ended."""
        with limits.ended_after(longest_s, lambda: children.kill(self.process)):
            yield from self._lines()

    def _lines(self) -> Iterator[Json]:
        assert self.process.stdout
        for line in self.process.stdout:
            try:
                answer = dict(parsing.json_of(line))
            except parsing.DAMAGE as error:
                raise ToolError(
                    f"{self.name} printed something other than an answer: {line[:200].strip()!r}",
                    hint="a library that it loads prints, or its environment is damaged: install that again",
                ) from error
            yield answer
        self._refuse()

    def ask(self, request: Mapping[str, object], longest_s: float | None = None) -> Json:
        """Sends `request` and returns the next object it prints. Raises like `lines` if it ends instead, OverTimeError
        if it takes longer than it may, and is ended."""
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            self._refuse()
            raise RuntimeError(f"{self.name} ended without an answer") from error
        return self.answer(longest_s)

    def next_line(self, longest_s: float | None = None) -> Json | None:
        """The next object it prints, or None at its end. Raises like `ask`."""
        with limits.ended_after(longest_s, lambda: children.kill(self.process)):
            return next(self._lines(), None)

    def answer(self, longest_s: float | None = None) -> Json:
        """The next object it prints. Raises like `ask`."""
        found = self.next_line(longest_s)
        if found is not None:
            return found
        raise RuntimeError(f"{self.name} ended without an answer")

    def close_stdin(self) -> None:
        """Closes its standard input: a program that reads requests then ends."""
        _close(self.process.stdin)

    def end(self, *, is_in_order: bool = True) -> None:
        """Lets it end by itself, or kills it."""
        try:
            if is_in_order:
                self.close_stdin()
                self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            children.end(self.process)
            _close(self.process.stdin)
            _close(self.process.stdout)

    def _refuse(self) -> None:
        """Raises if the program did not end well."""
        code = self.process.wait()
        if reason := crash_reason(code):
            raise CrashError(reason)
        if code:
            text = self.complaints.read_text(encoding="utf-8", errors="replace")
            if os.strerror(errno.ENOSPC) in text:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            limits.refuse_no_memory(text)
            raise RuntimeError(f"{self.name} failed:\n{last_lines(text)}")


def _close(stream: IO[str] | None) -> None:
    try:
        if stream:
            stream.close()
    except BrokenPipeError:
        pass  # a request that was never read


@dataclass(frozen=True)
class Channel:
    """Standard input and output of a child process of ours, reserved for JSON lines."""

    requests: IO[str]
    answers: IO[str]

    @classmethod
    def taken_over(cls) -> "Channel":
        """Takes over both: later prints of libraries and users' functions go to standard error, and their input is
        empty.

        Otherwise a `print` of theirs would be taken for an answer.
        """
        sys.stdout.flush()
        requests = os.fdopen(os.dup(0), encoding="utf-8")
        answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(requests, answers)

    def say(self, answer: Mapping[str, object]) -> None:
        self.answers.write(json.dumps(answer) + "\n")
        self.answers.flush()

    def answer(self, work: Callable[[], Mapping[str, object]]) -> None:
        """Prints what `work` returns, or its failure where that is one of mobpack's."""
        try:
            found = work()
        except MobpackError as error:
            self.say_failure(error)
        else:
            self.say(found)

    def say_failure(self, error: MobpackError) -> None:
        """Prints a failure that `raise_failure` raises again in the parent."""
        self.say({"failed": type(error).__name__, "message": error.message, "hint": error.hint})
