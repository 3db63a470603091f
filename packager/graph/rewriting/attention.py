"""Fuses the attention of decoders: com.microsoft's GroupQueryAttention in the place of what lies between their caches.

What exporters write differs by model and version. So little is recognized here: the nodes that append to caches, the
products with them, and the softmax between. Whether the result is the same, masks and turned positions included, is for
a run of both graphs to say (packager/compile/attention.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.graph import traversal
from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.order import sort_nodes

if TYPE_CHECKING:
    from onnx import NodeProto

FUSED = "GroupQueryAttention"
GIVEN = frozenset({"num_heads", "kv_num_heads", "scale"})
"""its attributes that the fused graph gives; all others have their defaults"""
SWAPPED = [0, 2, 1, 3]
"""permutation between [batch, tokens, heads, size] and [batch, heads, tokens, size]"""
REPEATING = frozenset({"Unsqueeze", "Expand", "Reshape", "Transpose", "Identity", "Cast"})
"""operators that repeat the heads of a cache, and turn them, before the product"""
SCALING = frozenset({"Mul", "Div"})
MASKING = frozenset({"Add", "Where", "Reshape", "Identity", "Cast"})
CLEANING = frozenset({"Where", "Reshape", "Identity", "Cast", "Dropout"})
"""operators between softmax and product: exporters remove what is no number"""
FARTHEST = 24
"""nodes between a row of heads and the same row, turned by its positions"""


class UnfitError(Exception):
    """The graph has no attention that is recognized, for a reason in words."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """A number that the scores are multiplied with, or divided by."""

    name: str
    divides: bool


@dataclass(frozen=True, kw_only=True)
class Heads:
    """Rows of heads, [1, heads, tokens, size]."""

    name: str
    unturned: str = ""
    """the same before positions turn it, right behind a Transpose; empty if it lies nowhere near"""


@dataclass(frozen=True, kw_only=True)
class Attention:
    """The attention of one layer."""

    past_key: str
    past_value: str
    present_key: str
    present_value: str
    query: Heads
    key: Heads
    value: Heads
    factors: tuple[Factor, ...]
    joined: str
    """result [1, tokens, heads, size]"""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Facts about an Attention that a run tells."""

    heads: int
    groups: int
    """heads of keys and values"""
    scale: float


@dataclass(frozen=True, kw_only=True)
class Turning:
    """How positions turn the heads of a model."""

    key: Heads
    """a row of heads that they turn"""
    size: int
    """of a head"""
    turned: int
    """the first numbers of a head, which are turned: each of their first half with one of the second"""


def attentions(draft: Draft, caches: Mapping[str, str]) -> list[Attention]:
    """The attention of each layer; `caches` are inputs, and the outputs with their next values. Raises UnfitError."""
    appended = {past: _appended(draft, past, present) for past, present in caches.items()}
    products = {past: _product(draft, present) for past, present in caches.items()}
    values: dict[str, str] = {}
    for past, (product, _) in products.items():
        if softmax := _softmax_before(draft, product):
            values[softmax.output[0]] = past
    found = []
    for past, (product, factors) in products.items():
        if past in values.values():
            continue
        softmax, masked = _forward(draft, product.output[0], SCALING | MASKING, _is_softmax)
        if softmax.output[0] not in values:
            raise UnfitError(f"no cache of values belongs to '{past}'")
        past_value = values[softmax.output[0]]
        query, scaled = _query(draft, product.input[0])
        joined, _ = _forward(draft, products[past_value][0].output[0], REPEATING, _swaps)
        found.append(
            Attention(
                past_key=past,
                past_value=past_value,
                present_key=caches[past],
                present_value=caches[past_value],
                query=Heads(name=query, unturned=_unturned(draft, query)),
                key=Heads(name=appended[past], unturned=_unturned(draft, appended[past])),
                value=Heads(name=appended[past_value]),
                factors=(*factors, *masked, *scaled),
                joined=joined.output[0],
            )
        )
    if 2 * len(found) != len(caches):
        raise UnfitError(f"{len(caches)} caches, but {len(found)} layers with attention")
    return found


def probe(draft: Draft, key: Heads, ones: int) -> str:
    """Adds nodes that turn heads whose first `ones` numbers are 1, and all others 0, as `key` is turned. Returns the
    name of the result, [1, heads, tokens, size]."""
    import numpy
    from onnx import NodeProto, TensorProto

    writer = _Fusing(draft=draft, nodes=[])
    shape = writer.new("Shape", [key.unturned])
    size = writer.new("Gather", [shape, draft.add("last", numpy.array(-1))])
    zero, one, number = (draft.add("number", numpy.array(value)) for value in (0, 1, ones))
    is_one = writer.new("Less", [writer.new("Range", [zero, size, one]), number])
    made = {key.unturned: writer.new("Expand", [writer.new("Cast", [is_one], to=TensorProto.FLOAT), shape])}
    for node in _between(draft, key):
        copy = NodeProto()
        copy.CopyFrom(node)
        copy.name = draft.unique(f"{node.name}_turned")
        copy.input[:] = [made.get(name, name) for name in node.input]
        copy.output[:] = [draft.unique(f"{name}_turned") for name in node.output]
        made.update(zip(node.output, copy.output, strict=True))
        writer.nodes.append(copy)
    draft.replace_nodes([*draft.graph.node, *writer.nodes])
    return made[key.name]


def fuse(draft: Draft, found: Sequence[Attention], sizes: Sequence[Sizes], turning: Turning | None) -> None:
    """Replaces the attention of each layer; positions are turned by com.microsoft's RotaryEmbedding, if `turning`."""
    writer = _Fusing(draft=draft, nodes=[])
    table = writer.table(turning) if turning else None
    total, last = writer.lengths(found[0])
    for each, known in zip(found, sizes, strict=True):
        size = draft.shape(each.past_key)[-1]
        query, key = (
            writer.turned(heads, number, size, table)
            if table and heads.unturned
            else writer.flat(heads.name, number * size)
            for heads, number in ((each.query, known.heads), (each.key, known.groups))
        )
        value = writer.flat(each.value.name, known.groups * size)
        given = [query, key, value, each.past_key, each.past_value, last, total]
        rows = _joined_rows(draft, each.joined, known.heads * size)
        result = rows or draft.unique(f"{each.joined}_fused")
        writer.add(
            FUSED,
            given,
            [result, each.present_key, each.present_value],
            domain=MICROSOFT,
            num_heads=known.heads,
            kv_num_heads=known.groups,
            scale=known.scale,
        )
        if not rows:
            writer.add("Reshape", [result, writer.integers(0, 0, known.heads, size)], [each.joined])
    replaced = {name for node in writer.nodes for name in node.output}
    kept = [node for node in draft.graph.node if replaced.isdisjoint(node.output)]
    draft.replace_nodes(_used([*kept, *writer.nodes], draft.outputs))
    draft.import_opset(MICROSOFT)
    sort_nodes(draft.proto)


@dataclass(frozen=True, kw_only=True)
class _Fusing:
    draft: Draft
    nodes: "list[NodeProto]"

    def add(self, operator: str, given: Sequence[str], outputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper

        name = self.draft.unique(f"{outputs[0]}_node")
        self.nodes.append(helper.make_node(operator, given, outputs, name, **attributes))
        return outputs[0]

    def new(self, operator: str, given: Sequence[str], **attributes: Any) -> str:
        return self.add(operator, given, [self.draft.unique(f"{given[0]}_{operator.lower()}")], **attributes)

    def integers(self, *values: int) -> str:
        import numpy

        return self.draft.add("sizes", numpy.array(values, numpy.int64))

    def flat(self, heads: str, width: int) -> str:
        """[1, heads, tokens, size] -> [1, tokens, width]"""
        swapped = self.draft.producers.get(heads)
        rows = swapped.input[0] if swapped and _swaps(swapped, "") else self.new("Transpose", [heads], perm=SWAPPED)
        split = self.draft.producers.get(rows)
        if split and split.op_type == "Reshape" and _is_rows(self.draft, split.input[0], width):
            return str(split.input[0])
        return self.new("Reshape", [rows, self.integers(0, 0, -1)])

    def lengths(self, first: Attention) -> tuple[str, str]:
        """Number of tokens with this run's, int32 without dimensions, and one less, int32 [1]."""
        from onnx import TensorProto

        past, new = (
            self.new("Gather", [self.new("Shape", [name]), self.integers(2)])
            for name in (first.past_key, first.value.name)
        )
        total = self.new("Cast", [self.new("Add", [past, new])], to=TensorProto.INT32)
        before = self.new("Cast", [self.integers(-1)], to=TensorProto.INT32)
        return self.new("Squeeze", [total]), self.new("Add", [total, before])

    def table(self, turning: Turning) -> tuple[Turning, str, str, str]:
        """Cosine and sine for the positions of this run, [tokens, turned / 2], and the place of the first."""
        half = turning.turned // 2
        rows = probe(self.draft, turning.key, half)
        first = self.new("Slice", [rows, self.integers(0), self.integers(1), self.integers(1)])
        table = self.new("Reshape", [first, self.integers(-1, turning.size)])
        cosine, sine = (
            self.new("Slice", [table, self.integers(begin), self.integers(begin + half), self.integers(1)])
            for begin in (0, half)
        )
        return turning, cosine, sine, self.integers(0)

    def turned(self, heads: Heads, number: int, size: int, table: tuple[Turning, str, str, str]) -> str:
        turning, cosine, sine, begin = table
        partial = {"rotary_embedding_dim": turning.turned} if turning.turned < turning.size else {}
        return self.new(
            "RotaryEmbedding",
            [self.flat(heads.unturned, number * size), begin, cosine, sine],
            domain=MICROSOFT,
            num_heads=number,
            interleaved=0,
            **partial,
        )


def _joined_rows(draft: Draft, joined: str, width: int) -> str:
    """[1, tokens, width], which a Reshape makes of `joined`; empty if something else takes it."""
    taking = draft.consumers.get(joined, ())
    only = taking[0] if len(taking) == 1 and taking[0].op_type == "Reshape" else None
    return str(only.output[0]) if only and _is_rows(draft, only.output[0], width) else ""


def _is_rows(draft: Draft, name: str, width: int) -> bool:
    """Whether `name` has three dimensions, the last of `width` or unknown."""
    shape = draft.shape(name)
    return len(shape) == 3 and shape[-1] in (0, width)


def _appended(draft: Draft, past: str, present: str) -> str:
    """The value that is appended to a cache."""
    node = draft.producers.get(present)
    if node is None or node.op_type != "Concat" or node.input[0] != past or len(node.input) != 2:
        raise UnfitError(f"'{present}' is not '{past}' with new tokens behind it")
    if [each.i for each in node.attribute if each.name == "axis"] not in ([2], [-2]):
        raise UnfitError(f"'{past}' does not grow along its third axis")
    return str(node.input[1])


def _product(draft: Draft, present: str) -> "tuple[NodeProto, list[Factor]]":
    """The product whose second matrix is a cache."""
    return _forward(
        draft, present, REPEATING | SCALING, lambda node, name: node.op_type == "MatMul" and node.input[1] == name
    )


def _forward(
    draft: Draft, name: str, through: frozenset[str], is_end: "Callable[[NodeProto, str], bool]"
) -> "tuple[NodeProto, list[Factor]]":
    """The nearest node for which `is_end`, behind nodes of the kinds `through`, and the factors on the way."""
    waiting: list[tuple[str, list[Factor]]] = [(name, [])]
    while waiting:
        value, factors = waiting.pop(0)
        for node in draft.consumers.get(value, ()):
            if is_end(node, value):
                return node, factors
            if node.op_type not in through:
                continue
            if node.op_type in SCALING:
                other = node.input[1] if node.input[0] == value else node.input[0]
                waiting.append((node.output[0], [*factors, Factor(name=other, divides=node.op_type == "Div")]))
            elif node.op_type not in REPEATING or node.input[0] == value:
                waiting.append((node.output[0], factors))
    raise UnfitError(f"what follows '{name}' is no attention that is known")


def _softmax_before(draft: Draft, product: "NodeProto") -> "NodeProto | None":
    waiting = [product.input[0]]
    while waiting:
        node = draft.producers.get(waiting.pop())
        if node is not None and node.op_type == "Softmax":
            return node
        if node is not None and node.op_type in CLEANING:
            waiting.extend(node.input)
    return None


def _query(draft: Draft, name: str) -> tuple[str, list[Factor]]:
    """The rows of heads that are the first matrix of a product with keys, and their factors."""
    factors = []
    while (node := draft.producers.get(name)) is not None:
        if node.op_type in SCALING:
            given, other = node.input
            if node.op_type == "Mul" and len(draft.shape(other)) > len(draft.shape(given)):
                given, other = other, given
            if len(draft.shape(other)) > 1:
                break
            factors.append(Factor(name=other, divides=node.op_type == "Div"))
            name = given
        elif node.op_type in ("Reshape", "Identity"):
            name = node.input[0]
        else:
            break
    return name, factors


def _is_softmax(node: "NodeProto", _: str) -> bool:
    return node.op_type == "Softmax"


def _swaps(node: "NodeProto", _: str) -> bool:
    return node.op_type == "Transpose" and [list(each.ints) for each in node.attribute] == [SWAPPED]


def _unturned(draft: Draft, name: str) -> str:
    """The nearest value before `name` that a Transpose makes of [1, tokens, heads, size]; empty if there is none."""
    waiting = [name]
    for _ in range(FARTHEST):
        node = draft.producers.get(waiting.pop(0)) if waiting else None
        if node is None:
            continue
        if _swaps(node, ""):
            return str(node.output[0]) if node.output[0] != name else ""
        waiting.extend(each for each in node.input if each not in waiting)
    return ""


def _between(draft: Draft, heads: Heads) -> "Iterator[NodeProto]":
    """The nodes through which `heads.unturned` becomes `heads.name`, in order."""
    behind, reached = {heads.unturned}, []
    for node in draft.graph.node:
        if not behind.isdisjoint(traversal.taken_by(node)):
            behind.update(node.output)
            reached.append(node)
    needed, kept = {heads.name}, []
    for node in reversed(reached):
        if not needed.isdisjoint(node.output):
            needed.update(node.input)
            kept.append(node)
    yield from reversed(kept)


def _used(nodes: "Sequence[NodeProto]", outputs: Iterable[str]) -> "list[NodeProto]":
    """Drops the nodes that `outputs` do not need."""
    producers = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    needed: set[int] = set()
    waiting = list(outputs)
    while waiting:
        index = producers.get(waiting.pop())
        if index is not None and index not in needed:
            needed.add(index)
            waiting.extend(traversal.taken_by(nodes[index]))
    return [node for index, node in enumerate(nodes) if index in needed]
