"""Compares rows that are sorted by a computed score as sets.

A detector ends with TopK or NonMaxSuppression: most of its rows are background, whose scores are nearly equal, so the
last bit of a score decides which comes first. Rows of nearly equal scores may change places; everything else must be
where it was: the sorted scores themselves are compared in place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.runners import Outcome
from packager.files.atomic import link_or_copy
from packager.graph.connections import indexed
from packager.graph.constants import constant_tensors
from packager.verification.parity.outcomes import array_of
from packager.verification.parity.scale import Scale, must_be_equal
from packager.verification.parity.settings import ParitySettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from packager.core.values import Variant

SORTING = ("TopK", "NonMaxSuppression")
"""Operators that decide the order of rows by computed scores."""
MOST_ROWS = 8192
"""Maximum number of rows that are matched: every row is compared with every other."""
FEWEST_ROWS = 6
"""Number of rows from which a sorted column is no chance."""
REPLACED = 1 / 20
"""Share of rows that may be others with the same score as the last one: those at the cut."""
APART = 4.0
"""Distance of two different integers, in tolerances."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Outputs whose rows have one order."""

    outputs: tuple[int, ...]
    sizes: frozenset[int]
    """numbers of rows, if the graph says them"""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The groups of a model, and how far their numbers may be off."""

    groups: tuple[Group, ...]
    allowed: Mapping[int, float]
    """by output"""
    open_axes: Mapping[int, frozenset[int]]
    """the dynamic axes of each output"""

    def matched(self, expected: Outcome, actual: Outcome, folder: Path) -> Outcome:
        """`actual` with its rows in the order of `expected`, in `folder`, which is created; itself if there are no
        groups."""
        import numpy

        if not self.groups or not expected.outputs or not actual.outputs:
            return actual
        folder.mkdir(parents=True)
        for path in actual.outputs.glob("*.npy"):
            link_or_copy(path, folder / path.name)
        for group in self.groups:
            for index, array in self._matched(group, expected, actual):
                path = folder / f"{index}.npy"
                path.unlink()
                numpy.save(path, array)
        return Outcome(outputs=folder)

    def scores_in(self, index: int, arrays: "Sequence[NDArray[Any]]") -> "NDArray[Any] | None":
        """Numbers of an output that sort its rows in all `arrays`, as booleans of its shape: they stay where they are.
        None if there are none, or shapes differ."""
        import numpy

        group = next((each for each in self.groups if index in each.outputs), None)
        axis = (
            self._axis(group, index, arrays[0].shape) if group and len({each.shape for each in arrays}) == 1 else None
        )
        if axis is None or any(each.dtype.kind != "f" for each in arrays):
            return None
        tables = [table for each in arrays for table in _tables(each, axis)]
        columns = set.intersection(*(set(_sorted_columns(table)) for table in tables))
        mask = numpy.zeros(_tables(arrays[0], axis).shape, bool)
        mask[:, :, sorted(columns)] = True
        return mask.reshape(arrays[0].shape) if columns else None

    def _matched(self, group: Group, expected: Outcome, actual: Outcome) -> "Iterator[tuple[int, NDArray[Any]]]":
        """The outputs of a group whose rows have moved."""
        import numpy

        pairs = {index: (array_of(expected, index), array_of(actual, index)) for index in group.outputs}
        places: dict[tuple[int, int], dict[int, int]] = {}
        for index, (a, b) in pairs.items():
            axis = self._axis(group, index, a.shape)
            if axis is not None and a.shape == b.shape and a.dtype == b.dtype and a.dtype.kind in "fiub":
                batch = int(numpy.prod(a.shape[:axis], dtype=int))
                places.setdefault((batch, a.shape[axis]), {})[index] = axis
        for (batch, count), axes in places.items():
            if not 1 < count <= MOST_ROWS:
                continue
            forms = dict.fromkeys(axes, (batch, count, -1))
            both = {index: [each.reshape(forms[index]).copy() for each in pairs[index]] for index in axes}
            for number in range(batch):
                self._match({index: (a[number], b[number]) for index, (a, b) in both.items()})
            yield from ((index, b.reshape(pairs[index][1].shape)) for index, (_, b) in both.items())

    def _axis(self, group: Group, index: int, shape: tuple[int, ...]) -> int | None:
        """The axis of the rows."""
        if group.sizes:
            return next((axis for axis, size in enumerate(shape) if size in group.sizes), None)
        return next((axis for axis, size in enumerate(shape) if size > 1 and axis in self.open_axes[index]), None)

    def _match(self, tables: "Mapping[int, tuple[NDArray[Any], NDArray[Any]]]") -> None:
        """Brings the rows of the second tables into the order of the first."""
        import numpy

        a, b = (
            numpy.concatenate([_in_tolerances(each[place], self.allowed[i]) for i, each in tables.items()], axis=1)
            for place in (0, 1)
        )
        wrong = numpy.flatnonzero((numpy.abs(a - b) > 1).any(axis=1))
        scores = _sorted_columns(a)
        if not wrong.size or (numpy.abs(a - b)[:, scores] > 1).any():
            return
        order, left, free = _nearest(a, b, wrong)
        known = {index: each for index, (each, _) in tables.items()}
        found = {index: each[order] for index, (_, each) in tables.items()}
        if left and scores and _are_at_the_cut(a, b, left, free, scores[0]):
            for index in tables:
                found[index][left] = known[index][left]
        else:
            found = {index: each[_in_any_order(order, left, free)] for index, (_, each) in tables.items()}
        for index, (_, each) in tables.items():
            each[...] = found[index]


def _tables(array: "NDArray[Any]", axis: int) -> "NDArray[Any]":
    """Its tables, one behind the other, with their rows along the second axis."""
    import numpy

    return array.reshape(int(numpy.prod(array.shape[:axis], dtype=int)), array.shape[axis], -1)


def _in_tolerances(table: "NDArray[Any]", allowed: float) -> "NDArray[Any]":
    """Numbers in units of their tolerance."""
    import numpy

    if must_be_equal(table):
        return table.astype(numpy.float64) * APART
    return numpy.nan_to_num(table.astype(numpy.float64) / allowed, nan=1e30, posinf=1e29, neginf=-1e29)


def _sorted_columns(table: "NDArray[Any]") -> list[int]:
    """The columns by which rows are sorted."""
    import numpy

    if len(table) < FEWEST_ROWS:
        return []
    steps = numpy.diff(table, axis=0)
    is_sorted = (steps <= 0).all(axis=0) | (steps >= 0).all(axis=0)
    return [int(each) for each in numpy.flatnonzero(is_sorted & (steps != 0).any(axis=0))]


def _nearest(
    a: "NDArray[Any]", b: "NDArray[Any]", wrong: "NDArray[Any]"
) -> "tuple[NDArray[Any], list[int], list[int]]":
    """For each row of `a` its row of `b` within the tolerance; the rows of both that have none."""
    import numpy

    order = numpy.arange(len(a))
    free = dict.fromkeys(wrong.tolist())
    left = []
    for row in wrong.tolist():
        places = numpy.fromiter(free, int)
        distances = numpy.abs(b[places] - a[row]).max(axis=1)
        best = int(numpy.lexsort((numpy.abs(places - row), distances))[0]) if len(places) else -1
        if best >= 0 and distances[best] <= 1:
            order[row] = places[best]
            del free[int(places[best])]
        else:
            left.append(row)
    return order, left, list(free)


def _are_at_the_cut(a: "NDArray[Any]", b: "NDArray[Any]", left: list[int], free: list[int], score: int) -> bool:
    """Whether the rows without a partner are few, and have the score of the last row: others have it, too."""
    import numpy

    if len(left) > max(1, REPLACED * len(a)):
        return False
    scores = numpy.concatenate([a[left, score], b[free, score]])
    return bool((numpy.abs(scores - a[-1, score]) <= 1).all())


def _in_any_order(order: "NDArray[Any]", left: list[int], free: list[int]) -> "NDArray[Any]":
    found = order.copy()
    found[left] = free
    return found


def rows_of(original: "Variant", settings: ParitySettings, scales: Sequence[Scale]) -> Rows:
    """The groups of `original`'s outputs, with the tolerances of `settings`."""
    specs = original.model.signature.outputs
    limits = [settings.tolerance_of(spec.name).allowed(scale.value) for spec, scale in zip(specs, scales, strict=True)]
    general = [settings.general.allowed(scale.value) for scale in scales]
    return Rows(
        groups=groups_of(original.graph),
        allowed={i: limit or general[i] or scales[i].value for i, limit in enumerate(limits)},
        open_axes={
            index: frozenset(axis for axis, size in enumerate(spec.shape) if not isinstance(size, int))
            for index, spec in enumerate(specs)
        },
    )


def sorted_outputs(original: "Variant") -> frozenset[int]:
    """The outputs whose rows are in the order of computed scores."""
    return frozenset(index for group in groups_of(original.graph) for index in group.outputs)


def groups_of(content: bytes) -> tuple[Group, ...]:
    """The outputs of a serialized ModelProto that the same operators sort."""
    if not any(name.encode() in content for name in SORTING):
        return ()
    import onnx

    graph = onnx.ModelProto.FromString(content).graph
    connections, nodes = indexed(graph.node), graph.node
    constants = constant_tensors(graph)
    sorting = {index for index, node in enumerate(nodes) if node.op_type in SORTING}
    sorted_values = {name for index in sorting for name in nodes[index].output}
    groups: list[tuple[set[int], set[int]]] = []
    """outputs, and the nodes that sort them"""
    for number, output in enumerate(graph.output):
        behind = connections.ancestors([output.name], lambda name: name not in sorted_values)
        taken = {output.name}.union(*(connections.consumed(index) for index in behind if index not in sorting))
        own = {connections.producers[name] for name in taken & sorted_values}
        same = [each for each in groups if own & each[1]]
        if own:
            groups = [each for each in groups if each not in same]
            groups.append(({number}.union(*(each[0] for each in same)), own.union(*(each[1] for each in same))))
    return tuple(
        Group(
            outputs=tuple(sorted(outputs)),
            sizes=frozenset(size for index in own if (size := _size(nodes[index], constants))),
        )
        for outputs, own in groups
    )


def _size(node: Any, constants: Mapping[str, Any]) -> int:
    """How many rows it keeps; 0 if the graph does not say."""
    from onnx import numpy_helper

    if node.op_type != "TopK":
        return 0
    known = [each.i for each in node.attribute if each.name == "k"]
    tensor = constants.get(node.input[1]) if len(node.input) > 1 else None
    if tensor is not None and not tensor.external_data:
        known = [int(each) for each in numpy_helper.to_array(tensor).ravel()]
    return known[0] if known else 0
