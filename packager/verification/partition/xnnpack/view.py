"""A unit of a graph with its values, in the form that the rules of the XNNPACK provider need."""

from collections.abc import Set
from dataclasses import dataclass

from packager.verification.partition.unit_view import UnitView


@dataclass(frozen=True, kw_only=True)
class View(UnitView):
    folded: Set[str] = frozenset()
    """values that ONNX Runtime computes before it asks the provider"""
    is_generous: bool = False
    """whether what is not known of the first input is what the provider wants: ONNX Runtime may find it out while it
    opens the graph"""

    def is_constant(self, index: int) -> bool:
        return self.input(index).is_constant or self.input(index).name in self.folded

    def numbers(self, index: int) -> tuple[float, ...] | None:
        """Numbers of a constant input; None if it is not constant or was not read."""
        array = self.input(index).constant
        return None if array is None else tuple(float(each) for each in array.reshape(-1))

    def shape(self) -> tuple[int, ...]:
        """Shape of the first input, -1 for what is not known; an earlier check ensures that its rank is."""
        return tuple(each if isinstance(each, int) else -1 for each in self.input(0).shape or ())

    def output_shape(self) -> tuple[int, ...]:
        """Shape of the first output, -1 for what is not known; empty if not even its rank is."""
        found = self.graph.value(self.unit.outputs[0].value).shape or ()
        return tuple(each if isinstance(each, int) else -1 for each in found)

    def is_known(self, axis: int) -> bool:
        return self.is_generous or self.shape()[axis] >= 0

    def older_than(self, since: int) -> str:
        is_older = 0 < self.since < since  # 0 if the file does not say
        return f"opset {self.since} of the operator is older than {since}" if is_older else ""

    def not_of(self, *ranks: int) -> str:
        rank = self.input(0).rank
        if rank is None:
            return "" if self.is_generous else "shape of the input is unknown"
        return "" if rank in ranks else f"input has {rank} dimensions, not {' or '.join(map(str, ranks))}"

    def open_dimension(self) -> str:
        """Batches may have any size."""
        if self.is_generous:
            return ""
        shown = ", ".join("?" if each is None else str(each) for each in self.input(0).shape or ())
        return f"channels, height and width must be known: [{shown}]" if -1 in self.shape()[1:] else ""

    def other_element(self, *elements: str) -> str:
        found = self.input(0).element
        is_fit = found in elements or (self.is_generous and not found)
        return "" if is_fit else f"input is {found or 'of unknown type'}, not {' or '.join(elements)}"
