"""Compares the values of two graphs in the order of the graph, until one node is at fault."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.findings import OutputError
from packager.verification.bisection.conditioning import moved
from packager.verification.bisection.figures import ErrorLimits, are_alike
from packager.verification.bisection.forcing import forced, given
from packager.verification.bisection.matching import ChunkPlanner, Matched
from packager.verification.bisection.naming import named
from packager.verification.bisection.result import ValueDifference
from packager.verification.bisection.running import RefusedError, fresh, run_piece
from packager.verification.bisection.subject import BisectionSubject
from packager.verification.parity.outcomes import read_array

if TYPE_CHECKING:
    import numpy
    from onnx import ModelProto

FIRST_ASKED, MOST_ASKED = 8, 64
"""Number of suspicious values whose nodes run at once: at first, and at most."""
ASKED_FROM = 0.1
"""Share of the limit above which an error is traced to this node or those before it."""


NOISE = 2
"""Factor by which a side may be farther from the other than that is from itself: both err, independently."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The first value that is wrong although all inputs of its node are right."""

    value: str
    error: OutputError | None
    """of the value; None if the second side refuses to compute it"""
    known: Mapping[str, Path]
    """value -> file, of the first side: this one and the inputs of its node"""
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class Forced:
    """Nodes of the second side that ran on values of the first."""

    piece: "ModelProto"
    sample: Path
    """their inputs"""
    found: Mapping[str, Path]
    """value -> file of their output"""


@dataclass(kw_only=True)
class Scan:
    """The pass through the graph. `layers` and `notes` grow with it."""

    a: BisectionSubject
    b: BisectionSubject
    sample: Path
    folder: Path
    limits: ErrorLimits
    memory_bytes: int
    is_refused: bool
    """whether the second side does not run on the sample"""
    progress: Callable[[int, int], None]
    matched: Matched
    layers: list[ValueDifference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_excusing: bool = False
    """whether to excuse an error if the first side itself moves as far for almost the same inputs"""
    kinds: "dict[str, numpy.dtype[Any]]" = field(default_factory=dict)
    """value -> its element type on the second side"""
    _usable: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._usable = dict.fromkeys(self.matched.values)

    def fault(self) -> Fault | None:
        """The first fault; None if there is none."""
        sizes = dict(self.matched.sizes)
        borders = {name: self._needed([name]) for name in self._usable}
        planner = ChunkPlanner(memory_bytes=self.memory_bytes, sizes=sizes, borders=borders)
        done = 0
        for chunk in planner.chunks(self.matched.values):
            if found := self._chunk(chunk, planner):
                return found
            done += len(chunk)
            self.progress(done, len(self.matched.values))
        return None

    @property
    def usable(self) -> Collection[str]:
        """Values that were compared or will be; nodes get earlier ones as inputs."""
        return self._usable.keys()

    def _needed(self, values: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in self.b.region(values, self._usable).borders if name in self._usable)

    def _chunk(self, chunk: tuple[str, ...], planner: ChunkPlanner) -> Fault | None:
        """Compares a chunk: in halves if one side refuses it; again without values that turn out to be something
        else."""
        waiting = deque([chunk])
        while waiting:
            values = tuple(name for name in waiting.popleft() if name in self._usable)
            if not values:
                continue
            try:
                fetched = self._fetched(values)
            except RefusedError as error:
                if len(values) > 1:
                    waiting.extendleft((values[len(values) // 2 :], values[: len(values) // 2]))
                elif found := self._refused(values[0], str(error)):
                    return found
                continue
            for name, path in fetched.a.items():
                planner.see(name, path.stat().st_size)
            if strange := [name for name in values if self._is_strange(name, fetched)]:
                self._leave(strange, "has another shape or type on the two sides")
                waiting.appendleft(values)
                continue
            if found := self._compared(values, fetched):
                return found
        return None

    def _fetched(self, values: tuple[str, ...]) -> "_Fetched":
        wanted = tuple(dict.fromkeys((*self._needed(values), *values)))
        found_a = run_piece(self.a, self.a.tapped(wanted), self.sample, fresh(self.folder / "a"))
        found_b = run_piece(self.b, self.b.tapped(values), self.sample, fresh(self.folder / "b"))
        return _Fetched(a=found_a, b=found_b)

    def _is_strange(self, name: str, fetched: "_Fetched") -> bool:
        """Whether the two share only their name. Outputs of the model are compared in any case."""
        if name in self.b.outputs and name in self.a.outputs:
            return False
        a, b = read_array(fetched.a[name]), read_array(fetched.b[name])
        return a.shape != b.shape or not are_alike(a, b)

    def _leave(self, names: Iterable[str], reason: str) -> None:
        for name in names:
            self.notes.append(f"'{name}' {reason}")
            del self._usable[name]

    def _compared(self, values: tuple[str, ...], fetched: "_Fetched") -> Fault | None:
        rows = {}
        for name in values:
            self.kinds[name] = read_array(fetched.b[name]).dtype
            rows[name] = self.limits.compared(name, read_array(fetched.a[name]), read_array(fetched.b[name]))
        suspects = [name for name in values if self.limits.exceeds(rows[name], part=ASKED_FROM)]
        local, at_fault = self._asked(suspects, fetched.a)
        for name in values:
            self.layers.append(self._row(name, rows[name], local.get(name)))
            if name == at_fault:
                return Fault(value=name, error=local[name], known=fetched.a)
        return None

    def _asked(self, suspects: Sequence[str], known: Mapping[str, Path]) -> tuple[dict[str, OutputError], str | None]:
        """The local errors of `suspects`, up to the first that is at fault, and its name. Only a few run at once,
        because some runtimes take minutes to open hundreds of unconnected nodes."""
        found: dict[str, OutputError] = {}
        start, size = 0, FIRST_ASKED
        while start < len(suspects):
            errors = dict(self._local(suspects[start : start + size], known))
            found.update(errors)
            wrong = {name: error for name, error in errors.items() if self.limits.exceeds(error)}
            excused = self._excused(wrong, known) if self.is_excusing else ()
            if at_fault := next((name for name in wrong if name not in excused), None):
                return found, at_fault
            start, size = start + size, min(2 * size, MOST_ASKED)
            self.progress(len(self.layers) + len(found), len(self.matched.values))
        return found, None

    def _excused(self, wrong: Mapping[str, OutputError], known: Mapping[str, Path]) -> list[str]:
        """The values at which the first side itself moves by more than the limit, or by half of the error; and those at
        which that cannot be measured. All are measured at once, because opening a model takes longer than running
        it."""
        excused: list[str] = []
        waiting = deque([tuple(wrong)])
        while waiting:
            names = waiting.popleft()
            if not names:
                continue
            try:
                movements = self._movements(names, known)
            except RefusedError as error:
                if len(names) > 1:
                    waiting.extend((names[: len(names) // 2], names[len(names) // 2 :]))
                else:
                    self.notes.append(f"'{names[0]}' is inconclusive: its node cannot be perturbed alone: {error}")
                    excused.append(names[0])
                continue
            for name, found in movements.items():
                if self.limits.exceeds(found) or wrong[name].max_abs_error <= NOISE * found.max_abs_error:
                    self.notes.append(f"'{name}' is inconclusive: {self.a.side.label} itself moves as far there")
                    excused.append(name)
        return excused

    def _movements(self, values: tuple[str, ...], known: Mapping[str, Path]) -> dict[str, OutputError]:
        """How far the first side moves at `values` for almost the same inputs of their nodes."""
        folder = fresh(self.folder / "excused")
        folder.mkdir()
        sample = folder / "inputs.npz"
        borders = self._needed(values)  # the second side's starting values, however far back
        region = self.a.region(values, borders)
        piece, names = forced(self.a, region, values, given(region.borders, known, self.sample, {}, sample))
        expected = {names[name]: read_array(known[name]) for name in values}
        found = moved(self.a, piece, sample, folder, expected, self.limits)
        return {name: found[names[name]] for name in values if names[name] in found}

    def _row(self, name: str, error: OutputError, local: OutputError | None) -> ValueDifference:
        node = named(self.a, name, self._usable)
        return ValueDifference(
            node=node.name,
            operator=node.operator,
            value=name,
            max_rel_error=error.max_rel_error,
            sqnr_db=error.sqnr_db,
            local_rel_error=local.max_rel_error if local else None,
            local_sqnr_db=local.sqnr_db if local else None,
        )

    def _local(self, values: Iterable[str], known: Mapping[str, Path]) -> Iterator[tuple[str, OutputError]]:
        """Local errors: the second side's `values`, computed from values of the first side."""
        waiting = deque([tuple(values)])
        while waiting:
            asked = waiting.popleft()
            try:
                found = self.forced(asked, known)
            except RefusedError as error:
                if len(asked) > 1:
                    waiting.extendleft((asked[len(asked) // 2 :], asked[: len(asked) // 2]))
                else:
                    self.notes.append(f"'{asked[0]}' cannot be computed alone: {error}")
                continue
            for name in asked:
                yield name, self.limits.compared(name, read_array(known[name]), read_array(found.found[name]))

    def forced(self, values: tuple[str, ...], known: Mapping[str, Path]) -> Forced:
        """The second side's `values` if its nodes get the first side's values, which are `known`."""
        piece, names, sample = self.piece(values, known)
        found = run_piece(self.b, piece, sample, sample.parent / "run")
        return Forced(piece=piece, sample=sample, found={name: found[names[name]] for name in values})

    def piece(self, values: tuple[str, ...], known: Mapping[str, Path]) -> "tuple[ModelProto, Mapping[str, str], Path]":
        """The nodes that compute `values` as a model, its names for them, and its inputs."""
        folder = fresh(self.folder / "local")
        folder.mkdir()
        sample = folder / "inputs.npz"
        region = self.b.region(values, self._usable)
        arrays = given(region.borders, known, self.sample, self.kinds, sample)
        return *forced(self.b, region, values, arrays), sample

    def _refused(self, value: str, refusal: str) -> Fault | None:
        """Interprets that one of the two does not compute `value`, even without later nodes."""
        if self.is_refused:
            try:
                wanted = (*self._needed([value]), value)
                known = run_piece(self.a, self.a.tapped(wanted), self.sample, fresh(self.folder / "a"))
                return Fault(value=value, error=None, known=known, refusal=refusal)
            except RefusedError as error:
                refusal = str(error)
        self._leave([value], f"cannot be fetched: {refusal}")
        return None


@dataclass(frozen=True, kw_only=True)
class _Fetched:
    """Value -> file, for each side."""

    a: dict[str, Path]
    b: dict[str, Path]
