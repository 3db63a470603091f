"""Finds the first node where two sides part: two runners on one graph, or an original and a graph made from it."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core.findings import IllConditioned
from packager.verification.bisection import words
from packager.verification.bisection.conditioning import moved
from packager.verification.bisection.figures import ANYTHING, ErrorLimits
from packager.verification.bisection.forcing import described
from packager.verification.bisection.fusion import Fusion, merged
from packager.verification.bisection.matching import Matched, matched
from packager.verification.bisection.naming import named
from packager.verification.bisection.outputs import Parting, part, swapped
from packager.verification.bisection.repro import ReproCase, leave
from packager.verification.bisection.result import Bisection, BisectionKind, Side
from packager.verification.bisection.running import RefusedError, arrays_in, fresh, run_piece, shapes_in
from packager.verification.bisection.scan import Fault, Scan
from packager.verification.bisection.subject import BisectionSubject, opened
from packager.verification.parity.outcomes import read_array

MEMORY_BYTES = 256 << 20


def no_progress(done: int, total: int) -> None:
    """Ignores progress."""


def bisect(
    a: Side,
    b: Side,
    samples: Sequence[Path],
    folder: Path,
    evidence: Path,
    *,
    limits: ErrorLimits,
    memory_bytes: int = MEMORY_BYTES,
    progress: Callable[[int, int], None] = no_progress,
) -> Bisection:
    """The place where `b` parts from `a` on the worst of `samples` (.npz), by more than `limits` allow.

    `folder` is scratch space for values, about `memory_bytes` of them at a time. Files that reproduce a fault go to
    `evidence`, which is created then. `progress` gets the number of values done and the total. Raises ModelError for a
    file that does not open, and if `a` runs on none of the samples.
    """
    folder = Path(tempfile.mkdtemp(dir=folder))  # other entries may have any name
    first, second = _opened(a, folder / "first"), _opened(b, folder / "second")
    parting = part(first, second, samples, folder / "outputs", limits)
    sample = samples[parting.sample]
    found = matched(first, second, shapes_in(sample))
    parts = parting.parts(limits)
    scan = Scan(
        a=first,
        b=second,
        sample=sample,
        folder=folder,
        # If the outputs agree, only the table is left to do.
        limits=limits if parts else ANYTHING,
        memory_bytes=memory_bytes,
        is_refused=bool(parting.refusal),
        progress=progress,
        matched=found,
        notes=list(found.notes),
    )
    where = f"on sample {parting.sample}" if len(samples) > 1 else "on the sample"
    search = _Search(scan=scan, parting=parting, evidence=evidence, where=where)
    answer = search.answer() if parts else search.agreement()
    return replace(answer, sample=parting.sample, layers=tuple(scan.layers), notes=tuple(scan.notes))


def condemned(
    a: Side,
    b: Side,
    sample: Path,
    folder: Path,
    *,
    limits: ErrorLimits,
    memory_bytes: int = MEMORY_BYTES,
    progress: Callable[[int, int], None] = no_progress,
) -> str:
    """Describes the first node of `b` that errs by itself, given the values of `a` on `sample`; empty if none does.

    It checks every node, however far the outputs are apart, and skips those at which `a` itself is ill-conditioned.
    """
    folder = Path(tempfile.mkdtemp(dir=folder))
    first, second = _opened(a, folder / "first"), _opened(b, folder / "second")
    scan = Scan(
        a=first,
        b=second,
        sample=sample,
        folder=folder,
        limits=limits,
        memory_bytes=memory_bytes,
        is_refused=False,
        progress=progress,
        matched=matched(first, second, shapes_in(sample)),
        is_excusing=True,
    )
    fault = scan.fault()
    if not fault or not fault.error:
        return ""
    where = "on an ill-conditioned sample"
    return words.on_node(first.side.label, second.side.label, scan.layers[-1], fault.error, limits, where)


def _opened(side: Side, folder: Path) -> BisectionSubject:
    folder.mkdir()
    return opened(side, folder)


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The possible diagnoses, from the cheapest to the most expensive."""

    scan: Scan
    parting: Parting
    evidence: Path
    where: str
    """description of the sample"""

    @property
    def labels(self) -> tuple[str, str]:
        return self.scan.a.side.label, self.scan.b.side.label

    def agreement(self) -> Bisection:
        self.scan.fault()
        most = words.share(self.parting.max_rel_error)
        a, b = self.labels
        return Bisection(
            kind=BisectionKind.AGREEMENT, words=f"'{b}' gives what '{a}' gives: no output is off by more than {most}"
        )

    def answer(self) -> Bisection:
        if order := self._order():
            return order
        fault = self.scan.fault()
        if fault:
            return self._refusal(fault) if fault.error is None else self._node(fault)
        return self._conditioning() or self._fusion() or self._small_fault() or self._growth()

    def _conditioning(self) -> Bisection | None:
        """Diagnoses ill-conditioned nodes: they amplify last-bit differences, so no node is at fault."""
        if self.parting.refusal:
            return None
        a = self.scan.a
        folder = fresh(self.scan.folder / "conditioning")
        folder.mkdir()
        expected = {name: read_array(self.parting.a / f"{index}.npy") for index, name in enumerate(a.outputs)}
        limits = self.scan.limits
        try:
            movements = moved(a, a.proto, self.scan.sample, folder, expected, limits).values()
        except RefusedError:
            return None  # then nothing is known about it
        found = max(movements, key=limits.share, default=None)
        if not found or not limits.exceeds(found):
            return None
        moves = IllConditioned(sample=0, output=found.output, moves_by=found.max_abs_error, scale=found.scale)
        text = words.on_conditioning(*self.labels, moves, self.where)
        return Bisection(kind=BisectionKind.CONDITIONING, words=text, value=found.output)

    def _small_fault(self) -> Bisection | None:
        """Diagnoses a node with an error below the absolute part of the tolerance, which later nodes may amplify."""
        if self.parting.refusal:
            return None
        closer = replace(self, scan=replace(self.scan, limits=self.scan.limits.relative, layers=[], notes=[], kinds={}))
        fault = closer.scan.fault()
        if not fault or fault.error is None:
            return None
        self.scan.layers[:] = closer.scan.layers
        return closer._node(fault)

    def _order(self) -> Bisection | None:
        a, b = self.scan.a, self.scan.b
        swaps = swapped(self.parting, a, b, self.scan.limits)
        if not swaps:
            return None
        # A list in another order is not a fault; a node whose output has another one's name is.
        wrong = next((b.outputs[mine] for mine, other in swaps.items() if b.outputs[mine] != a.outputs[other]), "")
        node = named(a, wrong, self.scan.usable) if wrong in a.producers and wrong in b.producers else None
        return Bisection(
            kind=BisectionKind.ORDER,
            words=words.on_order(a, b, swaps),
            node=node.name if node else None,
            operator=node.operator if node else "",
            value=wrong or b.outputs[min(swaps)],
        )

    def _node(self, fault: Fault) -> Bisection:
        assert fault.error
        row = self.scan.layers[-1]
        text = words.on_node(*self.labels, row, fault.error, self.scan.limits, self.where)
        repro = self._left(self.scan, fault, text)
        return Bisection(
            kind=BisectionKind.NODE,
            words=text,
            node=row.node,
            operator=row.operator,
            value=fault.value,
            local_error=replace(fault.error, worst_sample=self.parting.sample),
            repro=repro,
        )

    def _refusal(self, fault: Fault) -> Bisection:
        node = named(self.scan.a, fault.value, self.scan.usable)
        text = words.on_refusal(*self.labels, node.name, node.operator, fault.refusal, self.where)
        repro = self._left(self.scan, fault, text)
        return Bisection(
            kind=BisectionKind.REFUSAL,
            words=text,
            node=node.name,
            operator=node.operator,
            value=fault.value,
            repro=repro,
        )

    def _fusion(self) -> Bisection | None:
        scan = self.scan
        found = merged(scan.a, scan.b, self.parting, scan.sample, scan.folder, scan.limits, tuple(scan.usable))
        if not found:
            return None
        label = found.wrong.side.label
        if not found.first:
            return Bisection(kind=BisectionKind.FUSION, words=words.on_fusion_somewhere(label))
        nodes = [named(found.wrong, name, scan.usable) for name in (found.first, found.last)]
        text = words.on_fusion(label, nodes[0].name, nodes[1].name)
        narrow, fault = self._merged(found)
        return Bisection(
            kind=BisectionKind.FUSION,
            words=text,
            node=nodes[0].name,
            operator=nodes[0].operator,
            value=found.first,
            local_error=fault.error if fault else None,
            repro=self._left(narrow, fault, text) if fault else None,
        )

    def _merged(self, found: Fusion) -> tuple[Scan, Fault | None]:
        """Scans the merged nodes, given the values of the right side, up to the first value after them."""
        scan, values = self.scan, list(self.scan.usable)
        start, end = values.index(found.first), values.index(found.last)
        rest = tuple(values[:start] + values[end + 1 :])
        narrow = replace(
            scan,
            a=found.right,
            b=found.wrong,
            matched=Matched(values=rest, notes=(), sizes={}),
            kinds=scan.kinds if found.wrong is scan.b else {},
        )
        inside = {found.wrong.producers[name] for name in values[start : end + 1]}
        for value in values[end + 1 :]:
            region = found.wrong.region([value], rest)
            if inside & set(region.nodes):
                return narrow, self._behind(narrow, value)
        return narrow, None

    def _behind(self, narrow: Scan, value: str) -> Fault | None:
        borders = narrow.b.region([value], narrow.usable).borders
        wanted = (*(name for name in borders if name in narrow.usable), value)
        try:
            known = run_piece(narrow.a, narrow.a.tapped(wanted), narrow.sample, fresh(narrow.folder / "a"))
            given = narrow.forced((value,), known)
        except RefusedError:
            return None
        error = narrow.limits.compared(value, read_array(known[value]), read_array(given.found[value]))
        return Fault(value=value, error=error, known=known)

    def _growth(self) -> Bisection:
        worst = max(self.parting.errors, key=lambda error: error.max_rel_error, default=None)
        text = words.on_growth(*self.labels, self.scan.layers, worst, self.parting.refusal)
        return Bisection(kind=BisectionKind.GROWTH, words=text, value=worst.output if worst else "")

    def _left(self, scan: Scan, fault: Fault, text: str) -> Path:
        """Writes files that reproduce `fault`; returns their folder."""
        piece, _, sample = scan.piece((fault.value,), fault.known)
        expected = read_array(fault.known[fault.value])
        try:
            made = run_piece(scan.b, piece, sample, fresh(scan.folder / "evidence"))
            actual = {name: read_array(path) for name, path in made.items()}
        except RefusedError:
            actual = {}
        if actual and not scan.limits.exceeds(scan.limits.compared(fault.value, expected, actual[fault.value])):
            self.scan.notes.append(f"'{fault.value}' is right if only its node runs")
        piece.graph.output[0].CopyFrom(described(fault.value, actual.get(fault.value, expected)))
        return leave(
            ReproCase(
                piece=piece,
                subject=scan.b,
                reference=scan.a.side.label,
                inputs=arrays_in(sample),
                expected={fault.value: expected},
                actual=actual,
                words=text,
            ),
            self.evidence,
        )
