"""Sessions in a child process, with any interpreter and runtime."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.runners.runner import Loading, Outcome, Pace, Times
from packager.files.processes import commands, limits
from packager.files.processes.channel import ChildProgram, CrashError

LENGTH_HINT = "give inputs of an ordinary length with [parity] samples: its outputs may grow with the values of inputs"
SAMPLES_HINT = "give real inputs with [parity] samples; if those crash too, the model must change"


@dataclass(frozen=True, kw_only=True)
class Host:
    """The program that runs a session, and how to start it."""

    program: Path
    """uses the protocol of `session/session_child.py`"""
    command: Sequence[str] = ()
    """starts it; empty for this Python"""
    environment: Mapping[str, str] = field(default_factory=dict)
    """variables that `command` needs"""
    owner: str = ""
    """name of its isolated environment"""
    words: str = "ONNX Runtime {version}"
    """description, with the versions that the program reports"""
    slowness: float = 1
    """how many times longer than on this machine's processor a run may take"""
    is_disposable: bool = False
    """whether it can be killed without cleaning up, unlike devices: waiting for its end takes 60 ms"""


class ProcessSession:
    """A model that is open in a child process, which runs one sample after the other."""

    def __init__(self, host: Host, job: Mapping[str, object], folder: Path) -> None:
        """Raises ModelError if the runtime refuses the model or crashes, ToolError if `host` does not work."""
        self._host = host
        self._program = _started(host, job, folder)
        try:
            longest_s = limits.seconds(limits.SLOW)
            answer = self._answer(lambda: self._program.answer(longest_s), "opening the model")
            _refuse(answer, host)
        except BaseException:
            self._program.end(is_in_order=False)
            raise
        self.about = str(answer.get("about") or host.words.format(**answer))
        self.placed: int | None = answer.get("placed")
        self.node_count: int | None = answer.get("nodes")
        self.loading = _loading(answer)

    def run(self, sample: Path, folder: Path) -> Outcome:
        request = {"sample": str(sample.absolute()), "folder": str(folder.absolute())}
        longest_s = limits.seconds(self._host.slowness)
        answer = self._answer(lambda: self._program.ask(request, longest_s), "running the model")
        if answer.get("over_s"):
            raise ToolError(f"the model ran for more than {answer['over_s']:g} s on one sample", hint=LENGTH_HINT)
        return Outcome(outputs=None if answer["error"] else folder, error=limits.explained(answer["error"]))

    def time(self, sample: Path, pace: Pace) -> Times:
        request = {"sample": str(sample.absolute()), "pace": asdict(pace)}
        longest_s = limits.seconds(self._host.slowness * (pace.least_runs + 1))
        longest_s = None if longest_s is None else longest_s + pace.seconds + pace.warm_up_seconds
        answer = self._answer(lambda: self._program.ask(request, longest_s), "timing the model")
        if answer["error"]:
            return Times(error=answer["error"])
        return Times(
            warm_up_ns=tuple(answer["warm_up_ns"]),
            times_ns=tuple(answer["times_ns"]),
            cpu_ns=answer["cpu_ns"],
            peak_bytes=answer["peak_bytes"],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._program.end(is_in_order=kind is None and not self._host.is_disposable)

    def _answer(self, ask: Callable[[], Json], what: str) -> Json:
        try:
            answer = ask()
        except CrashError as error:
            commands.refuse_cut_library(error.signal, self._host.owner)
            hint = error.hint(SAMPLES_HINT)
            if error.signal == "SIGKILL":
                raise ToolError(f"the runtime was killed while {what} ({error.signal})", hint=hint) from error
            raise ModelError(f"the runtime crashed while {what} ({error.signal})", hint=hint) from error
        except limits.OverTimeError as error:
            raise error.as_error(what) from error
        except RuntimeError as error:
            if not self._host.owner:
                raise
            raise commands.damaged(self._host.owner, commands.last_lines(str(error), 1)) from error
        return answer


def _started(host: Host, job: Mapping[str, object], folder: Path) -> ChildProgram:
    try:
        variables = host.environment
        return ChildProgram([host.program], job, folder, command=host.command, environment=variables, is_limited=True)
    except FileNotFoundError as error:
        if not host.owner:
            raise
        raise commands.damaged(host.owner, str(error)) from error


def _loading(answer: Json) -> Loading:
    took = answer.get("load_ns")
    seconds = None if took is None else took / 1e9
    return Loading(seconds=seconds, base_bytes=answer.get("base_bytes"), threads=answer.get("threads"))


def _refuse(answer: Json, host: Host) -> None:
    """Raises if the model was not opened, or if the provider takes nothing of it."""
    if "idle" in answer:
        raise ModelError(answer["idle"], hint="disable this runner for this model")
    if "refused" in answer:
        raise ModelError(
            f"the runtime cannot load the model: {limits.explained(answer['refused'])}",
            hint="mobpack inspect shows what it uses",
        )
    if "unusable" in answer:
        raise ToolError(
            f"the runner does not work on this machine: {answer['unusable']}",
            hint=commands.how_to_remake(host.owner) if host.owner else "",
        )
