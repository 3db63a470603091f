"""Finds states: inputs that a model carries from one run to the next."""

import re
from collections import Counter

from packager.core.values import Model, TensorSpec

WORDS = frozenset(
    "cache cached cur current i in init initial input last n new next o old out output past prev previous present"
    " updated".split()
)
"""parts of names that distinguish an input from the output that it comes from"""

LSTM = re.compile(r"(?<![A-Za-z])([hc])_?[0nx](?![A-Za-z0-9])")
"""`h0` and `hn`, PyTorch's names"""


def states_of(model: Model) -> frozenset[str]:
    """Inputs with an output of a matching name (`r1i` and `r1o`, `state` and `stateN`, `past.0.key` and
    `present.0.key`), element type and shape. None if that would be all inputs."""
    outputs: dict[tuple[str, ...], list[TensorSpec]] = {}
    for spec in model.signature.outputs:
        outputs.setdefault(stem_of(spec.name), []).append(spec)
    counts = Counter(stem_of(spec.name) for spec in model.signature.inputs)
    found = frozenset(
        spec.name
        for spec in model.signature.inputs
        if counts[stem_of(spec.name)] == 1
        and len(pair := outputs.get(stem_of(spec.name), [])) == 1
        and stem_of(spec.name)
        and _fits(spec, pair[0])
    )
    return found if len(found) < len(model.signature.inputs) else frozenset()


def stem_of(name: str) -> tuple[str, ...]:
    """The parts of a name that an input and its output share."""
    plain = LSTM.sub(r"\1", name.replace("past_key_values", "past"))
    parts = re.findall(r"\d+|[A-Z]?[a-z]+|[A-Z]+", plain)
    return tuple(part.lower() for part in parts if part.lower() not in WORDS)


def _fits(spec: TensorSpec, output: TensorSpec) -> bool:
    if spec.element != output.element:
        return False
    if not output.shape:
        return True
    return len(spec.shape) == len(output.shape) and all(
        one == other or not (isinstance(one, int) and isinstance(other, int))
        for one, other in zip(spec.shape, output.shape, strict=True)
    )
