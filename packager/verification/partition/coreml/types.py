"""Requirements of builders on element types: HasSupportedInputsImpl in builders/impl/*_op_builder.cc."""

from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate

FLOATS = ("float", "float16")
CASTABLE = (*FLOATS, "int32", "int64", "bool")


def floats(candidate: Candidate, index: int = 0) -> Iterator[str]:
    """BaseOpBuilder::IsInputDtypeSupport in base_op_builder.cc."""
    yield from _one_of(candidate.element(index), FLOATS if candidate.is_mlprogram else ("float",))


def floats_or_int64(candidate: Candidate) -> Iterator[str]:
    """gather_op_builder.cc, slice_op_builder.cc."""
    yield from _one_of(candidate.element(), (*FLOATS, "int64") if candidate.is_mlprogram else ("float", "int64"))


def same_floats(candidate: Candidate) -> Iterator[str]:
    """Pow in binary_op_builder.cc."""
    yield from _same(candidate, 0, 1)
    yield from floats(candidate)


def cast(candidate: Candidate) -> Iterator[str]:
    """cast_op_builder.cc."""
    yield from _one_of(candidate.element(), CASTABLE if candidate.is_mlprogram else ("int64",))
    if candidate.is_mlprogram:
        yield from _one_of(candidate.output().element, CASTABLE, what="the output")


def logical(candidate: Candidate) -> Iterator[str]:
    """logical_op_builder.cc."""
    for index in (0, 1):
        yield from _one_of(candidate.element(index), ("bool",))


def where(candidate: Candidate) -> Iterator[str]:
    """where_op_builder.cc."""
    yield from _one_of(candidate.element(0), ("bool",), what="the condition")
    yield from _one_of(candidate.element(1), FLOATS)
    yield from _same(candidate, 1, 2)


def normalization(candidate: Candidate) -> Iterator[str]:
    """normalization_op_builder.cc."""
    for index in range(1, min(candidate.count, 3)):
        yield from _same(candidate, 0, index)
    yield from _one_of(candidate.element(), FLOATS)


def tile(candidate: Candidate) -> Iterator[str]:
    """tile_op_builder.cc."""
    yield from _one_of(candidate.element(), CASTABLE if candidate.is_mlprogram else ("float", "int32", "int64", "bool"))


def shape(candidate: Candidate) -> Iterator[str]:
    """shape_op_builder.cc."""
    yield from _one_of(candidate.element(), (*FLOATS, "int32", "int64") if candidate.is_mlprogram else ("float",))


def gather_nd(candidate: Candidate) -> Iterator[str]:
    """gather_nd_op_builder.cc."""
    yield from _one_of(candidate.element(), CASTABLE)
    yield from _one_of(candidate.element(1), ("int32", "int64"), what="the indices")


def _one_of(element: str, taken: tuple[str, ...], *, what: str = "the input") -> Iterator[str]:
    if not element:
        yield f"the element type of {what} is unknown"
    elif element not in taken:
        choice = taken[0] if len(taken) == 1 else f"{', '.join(taken[:-1])} or {taken[-1]}"
        yield f"{what} is {element}, not {choice}"


def _same(candidate: Candidate, first: int, second: int) -> Iterator[str]:
    if candidate.element(first) != candidate.element(second):
        yield f"input types differ: {candidate.element(first)} and {candidate.element(second)}"
