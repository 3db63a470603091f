"""Names the node that computes a value, if the two graphs name it differently."""

from collections.abc import Collection
from dataclasses import dataclass

from packager.graph.rewriting.layers import WEIGHTED, name_of
from packager.verification.bisection.subject import BisectionSubject


@dataclass(frozen=True, kw_only=True)
class Named:
    name: str
    operator: str


def named(a: BisectionSubject, value: str, borders: Collection[str]) -> Named:
    """The node of the first graph that has weights, among those that compute `value`, or the one that returns it.

    The names of nodes that quantizers and optimizers put in its place (QuantizeLinear, FusedConv) are unknown to the
    user.
    """
    nodes = [a.nodes[place] for place in a.region([value], borders).nodes]
    weighted = [node for node in nodes if node.op_type in WEIGHTED]
    node = (weighted or [a.nodes[a.producers[value]]])[-1]
    return Named(name=name_of(node), operator=node.op_type)
