"""Small random nets with branches in loops in branches, scans and functions: the same net for the same number."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

WIDTH = 16
SHAPE = (1, WIDTH)
DEEPEST = 3
OPSET = 17
UNARY = ("Tanh", "Sigmoid", "Softmax", "Relu", "Identity", "Elu")
DOMAIN = "nested"


@dataclass
class Net:
    """Values and weights that all graphs of a net share."""

    numbers: numpy.random.Generator
    count: int = 0
    functions: list[NodeProto] = field(default_factory=list)

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def picks(self, *shares: float) -> int:
        """An index, with the probability of its share."""
        return int(self.numbers.choice(len(shares), p=numpy.array(shares) / sum(shares)))


@dataclass
class Body:
    """A graph as it grows: every value is a float[1, 16]."""

    net: Net
    depth: int
    values: list[str]
    """in reach, those of the graphs around it included"""
    matrices: list[str]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def any_value(self) -> str:
        return self.values[int(self.net.numbers.integers(max(0, len(self.values) - 4), len(self.values)))]

    def node(self, operator: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> list[str]:
        names = [self.net.name("v") for _ in range(outputs)]
        domain = DOMAIN if operator.startswith("Call") else ""
        self.nodes.append(helper.make_node(operator, inputs, names, self.net.name("n"), domain=domain, **attributes))
        return names

    def constant(self, value: object, dtype: str = "float32") -> str:
        name = self.net.name("c")
        tensor = numpy_helper.from_array(numpy.asarray(value, dtype), name)
        if not self.depth or self.net.picks(1, 1):
            self.constants.append(tensor)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def vector(self) -> str:
        return self.constant(self.net.numbers.uniform(-1, 1, SHAPE))

    def matrix(self) -> str:
        if not self.matrices or self.net.picks(1, 2):
            self.matrices.append(self.constant(self.net.numbers.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5))
        return self.matrices[int(self.net.numbers.integers(len(self.matrices)))]

    def inner(self) -> "Body":
        return Body(net=self.net, depth=self.depth + 1, values=list(self.values), matrices=list(self.matrices))

    def grow(self, steps: int) -> None:
        for _ in range(steps):
            deeper = 1.0 if self.depth < DEEPEST else 0.0
            kind = self.net.picks(4, 3, 2, 1, 2 * deeper, deeper, deeper, deeper)
            made = (self.unary, self.product, self.sum, self.vector_sum, self.branch, self.loop, self.scan, self.call)
            self.values += made[kind]()

    def unary(self) -> list[str]:
        return self.node(UNARY[int(self.net.numbers.integers(len(UNARY)))], [self.any_value()])

    def product(self) -> list[str]:
        return self.node("Tanh", self.node("MatMul", [self.any_value(), self.matrix()]))

    def sum(self) -> list[str]:
        return self.node("Add", [self.any_value(), self.any_value()])

    def vector_sum(self) -> list[str]:
        return self.node("Mul", [self.any_value(), self.vector()])

    def condition(self) -> str:
        (mean,) = self.node("ReduceMean", [self.any_value()], keepdims=0)
        return self.node("Greater", [mean, self.constant(0.01)])[0]

    def branch(self) -> list[str]:
        condition, outputs = self.condition(), 1 + self.net.picks(2, 1)
        branches = [self.finished(self.inner(), [], outputs) for _ in range(2)]
        return self.node("If", [condition], outputs, then_branch=branches[0], else_branch=branches[1])

    def loop(self) -> list[str]:
        body = self.inner()
        step, going, state = (self.net.name(kind) for kind in ("step", "going", "state"))
        body.values.append(state)
        inputs = [(step, TensorProto.INT64, ()), (going, TensorProto.BOOL, ()), (state, TensorProto.FLOAT, SHAPE)]
        (still,) = body.node("Identity", [going])
        graph = self.finished(body, inputs, 2, first=[(still, TensorProto.BOOL, ())])
        times, true = self.constant(2, "int64"), self.constant(True, "bool")
        last, each = self.node("Loop", [times, true, self.any_value()], 2, body=graph)
        return [last, *self.node("ReduceMax", [each], axes=[0], keepdims=0)]

    def scan(self) -> list[str]:
        body = self.inner()
        state, row = self.net.name("state"), self.net.name("row")
        body.values += [state, row]
        graph = self.finished(body, [(name, TensorProto.FLOAT, SHAPE) for name in (state, row)], 2)
        (rows,) = self.node("Unsqueeze", [self.any_value(), self.constant([0], "int64")])
        (rows,) = self.node("Concat", [rows, rows], axis=0)
        last, each = self.node("Scan", [self.any_value(), rows], 2, body=graph, num_scan_inputs=1)
        return [last, *self.node("ReduceMean", [each], axes=[0], keepdims=0)]

    def call(self) -> list[str]:
        body = Body(net=self.net, depth=self.depth + 1, values=["given"], matrices=[])
        body.grow(2)
        constants = [helper.make_node("Constant", [], [each.name], value=each) for each in body.constants]
        name = self.net.name("Call")
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
        nodes = [*constants, *body.nodes, helper.make_node("Identity", [body.any_value()], ["gives"])]
        self.net.functions.append(helper.make_function(DOMAIN, name, ["given"], ["gives"], nodes, opsets))
        return self.node(name, [self.any_value()])

    def finished(
        self,
        body: "Body",
        inputs: Sequence[tuple[str, int, tuple[int, ...]]],
        count: int,
        first: Sequence[tuple[str, int, tuple[int, ...]]] = (),
    ) -> GraphProto:
        """The graph of `body`: some have nodes, others hand values or constants on."""
        kind = self.net.picks(4, 1, 1, 1)
        if kind == 0:
            body.grow(1 + self.net.picks(1, 1, 1))
        outputs = list(first)
        for _ in range(count):
            source = body.any_value() if kind < 2 else body.vector()
            name = source
            if kind != 3 or not any(each.name == source for each in body.constants):
                (name,) = body.node("Identity", [source])
            outputs.append((name, TensorProto.FLOAT, SHAPE))
        takes, gives = ([helper.make_tensor_value_info(*each) for each in named] for named in (inputs, outputs))
        return helper.make_graph(body.nodes, self.net.name("g"), takes, gives, body.constants)


def nested_net(number: int) -> ModelProto:
    net = Net(numbers=numpy.random.default_rng(number))
    body = Body(net=net, depth=0, values=["x"], matrices=[])
    body.values += [*body.product(), *body.branch(), *body.loop()]
    body.grow(4)
    outputs = body.node("Tanh", [body.values[-1]]) + body.node("Softmax", [body.values[-2]])
    takes, gives = (
        [helper.make_tensor_value_info(each, TensorProto.FLOAT, SHAPE) for each in names] for names in (["x"], outputs)
    )
    graph = helper.make_graph(body.nodes, "nested", takes, gives, body.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    model: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=net.functions)
    checker.check_model(model)
    return model
