"""Nodes that the XNNPACK provider accepts and then computes wrong, or fails with: it must not get their graph.

Each was seen with ONNX Runtime 1.29 for Android (tests/unit/test_xnnpack_rules.py), apart from 16 bits, which only
processors of phones have: those are read in its source.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from packager.graph.view import Graph, Node
from packager.verification.partition.unit import number
from packager.verification.partition.xnnpack.operators import FUSING, RULES, is_fusible
from packager.verification.partition.xnnpack.quantized import PER_CHANNEL, kind
from packager.verification.partition.xnnpack.view import View

HALF = "float16"
LAYOUT = frozenset(("AveragePool", "Conv", "ConvTranspose", "MaxPool", "Resize"))
"""Operators that compute with channels last (GetLayoutSensitiveOps in core/optimizer/transpose_optimization/)."""
KEEP_ORDER = frozenset(("Flatten", "Gemm", "GlobalAveragePool", "MatMul", "Reshape"))
"""Operators before which the order is always that of the graph."""


def found(
    graph: Graph, views: Sequence[View], taken: Sequence[View], fusions: Mapping[str, Node], *, is_inside: bool
) -> Iterator[str]:
    """Faults of the provider with all nodes of a graph, those that it takes or may take, and the activations that it
    would compute with them, in words that begin with the node."""
    for view in views:
        if reason := _half(view) or _asked(view):
            yield _said(view.unit.target, reason)
    moved = _moved(graph, taken)
    for view in taken:
        node = view.unit.target
        if reason := _unknown(view, is_inside=is_inside) or (FAULTS[view.op](view) if view.op in FAULTS else ""):
            yield _said(node, reason)
        if view.op == "Softmax" and node.name in moved and view.input(0).rank not in (1, 2):
            yield _said(node, "XNNPACK divides along another axis where the layout changes before it")
        activation = fusions.get(node.name) or _behind_transposes(view)
        if activation and (reason := _activation(view, activation)):
            yield _said(activation, reason)


def _said(node: Node, reason: str) -> str:
    return f"{node.op} '{node.name}': {reason}"


def _half(view: View) -> str:
    """Phones compute these in 16 bits; the constructor in nn/conv_base.cc looks for the bias at input 8, not 2."""
    is_half = view.op in RULES and not view.unit.target.domain and view.input(0).element == HALF
    return "XNNPACK leaves out the bias of convolutions in 16 bits on phones" if is_half else ""


def _asked(view: View) -> str:
    """Crashes while the provider only looks at a node: it reads three scales without counting them."""
    scales = view.numbers(1 if view.since == 10 else 2) if view.op == "Resize" else None
    is_read = view.op == "Resize" and view.input(0).rank == 4 and view.is_known(1)
    if is_read and scales is not None and (len(scales) < 2 or (len(scales) < 4 and scales[1] == 1)):
        return f"XNNPACK crashes on {len(scales)} constant scales for 4 dimensions"
    return ""


def _unknown(view: View, *, is_inside: bool) -> str:
    """ONNX Runtime computes more shapes while it opens a graph than the rules know: those that follow from constants of
    other graphs, and from the known sizes of an input. XNNPACK then refuses a size that the CPU never meets, in a
    branch that does not run."""
    is_unsure = view.is_generous and view.op in LAYOUT and (is_inside or view.input(0).rank is None)
    return "XNNPACK may refuse its size, which only ONNX Runtime finds out" if is_unsure else ""


def _behind_transposes(view: View) -> Node | None:
    """The activation that follows a node once the change of the layout has made Transposes between them vanish."""
    node: Node | None = view.unit.target if view.op in FUSING and not view.unit.is_group else None
    while node:
        behind = view.graph.successors[node.name]
        node = behind[0] if len(behind) == 1 else None
        if node and node.op != "Transpose":
            return node if is_fusible(node, view) else None
    return None


def _moved(graph: Graph, taken: Sequence[View]) -> Set[str]:
    """Nodes that may get values in another order of dimensions: ONNX Runtime changes the order for the nodes that are
    taken, and moves this and every other Transpose as far back as it can."""
    names = {view.unit.target.name for view in taken if view.op in LAYOUT}
    names |= {node.name for node in graph.nodes if node.op == "Transpose"}
    for node in graph.nodes:
        if node.op not in KEEP_ORDER and any(each.name in names for each in graph.connections.sources(node)):
            names.add(node.name)
    return names


def _gemm(view: View) -> str:
    if view.attribute("transA", 0):
        return "XNNPACK computes transA wrong"
    b, c = view.sizes(1), view.sizes(2)
    columns = b[0] if view.attribute("transB", 0) else b[-1]
    if view.has(2) and c not in ((columns,), (1, columns)):
        return f"XNNPACK adds {columns} numbers to every row in the place of C of {list(c)}"
    return ""


def _softmax(view: View) -> str:
    if view.since < 13 and -1 in view.shape()[view.attribute("axis", 1) :]:
        return "XNNPACK crashes where the size from axis on is unknown"
    if view.unit.is_group:
        (port,) = view.unit.outputs
        scale = number(view.graph.value(port.quantization.scale)) if port.quantization else None
        return "" if scale == 1 / 256 else f"XNNPACK refuses the output's scale {scale or 0:.6g}, which is not 1/256"
    return ""


def _resize(view: View) -> str:
    if view.since == 10:
        return "ONNX Runtime has no Resize of opset 10 for XNNPACK"
    if -1 in view.shape()[2:]:
        return "XNNPACK refuses an unknown height or width"
    has_sizes = view.has(3) and not view.numbers(2)
    return "XNNPACK refuses sizes where the batch is unknown" if has_sizes and -1 in view.shape() else ""


def _convolution(view: View) -> str:
    if reason := _paddings(view):
        return reason
    weight = view.unit.inputs[1]
    if weight.quantization is None:
        return ""
    if view.op == "ConvTranspose" and view.graph.value(weight.quantization.scale).rank:
        return "XNNPACK refuses scales of the weight in a list"
    zeros = view.graph.value(weight.quantization.zero_point).constant
    if kind(view, weight) == PER_CHANNEL and zeros is not None and zeros.any():
        return "XNNPACK ignores the zero points of channels"
    return ""


def _paddings(view: View) -> str:
    """The difference between the provider and ONNX Runtime with `auto_pad` and windows, in words."""
    padding, pads = view.attribute("auto_pad", "NOTSET"), view.attribute("pads", ())
    if pads and padding != "NOTSET" and (padding != "VALID" or any(pads)):
        return f"XNNPACK takes pads beside auto_pad {padding}"
    if view.op == "ConvTranspose":
        return ""
    kernel = view.attribute("kernel_shape", ()) or view.sizes(1)[2:]
    if padding in ("NOTSET", "VALID"):
        return _windows(view, kernel, pads)
    strides = view.attribute("strides", ()) or (1,) * len(kernel)
    for size, length, stride in zip(view.shape()[2:], kernel, strides, strict=False):
        begins_elsewhere = (-(-size // stride) - 1) * stride + length < size if size >= 0 else length < stride
        if padding == "SAME_UPPER" and begins_elsewhere:
            return f"XNNPACK begins elsewhere with a kernel of {length}, a stride of {stride} and auto_pad SAME_UPPER"
    return ""


def _windows(view: View, kernel: Sequence[int], pads: Sequence[int]) -> str:
    """A window that is larger than its input: the CPU fails when it runs the node, which a branch need not do, and
    XNNPACK when it opens the graph."""
    dilations = view.attribute("dilations", ()) or (1,) * len(kernel)
    around = [*pads] or [0] * (2 * len(kernel))
    for axis, (length, dilation) in enumerate(zip(kernel, dilations, strict=False)):
        size = view.shape()[2 + axis]
        span = (length - 1) * dilation + 1
        if size >= 0 and size + around[axis] + around[axis + len(kernel)] < span:
            return f"XNNPACK refuses a window of {span} on a size of {size}"
    return ""


def _pool(view: View) -> str:
    has_dilations = any(each != 1 for each in view.attribute("dilations", ()))
    if has_dilations and view.attribute("auto_pad", "NOTSET") == "SAME_UPPER":
        return "XNNPACK refuses dilations with auto_pad SAME_UPPER"
    return _paddings(view)


def _activation(view: View, activation: Node) -> str:
    is_whole = view.input(0).element in ("int8", "uint8")
    has_bounds = any(activation.inputs[1:]) or bool(activation.attributes.keys() & {"min", "max"})
    if is_whole:
        return "XNNPACK leaves it out behind a pool of 8 bits" if activation.op == "Relu" or has_bounds else ""
    if activation.op == "Relu":
        return ""
    has_lower = any(activation.inputs[1:2]) or activation.since_version < 11  # an attribute has a default
    return "" if has_lower else "XNNPACK takes a missing lower bound for the smallest positive number"


FAULTS: Mapping[str, Callable[[View], str]] = {
    "AveragePool": _pool,
    "Conv": _convolution,
    "ConvTranspose": _convolution,
    "Gemm": _gemm,
    "MaxPool": _pool,
    "Resize": _resize,
    "Softmax": _softmax,
}
