"""Damaged models through `inspect` and `convert`: the exit code reports the damage; no fault, no hang."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import onnx
import onnx.parser

from benchmarks.abuse.command import Place, run
from benchmarks.abuse.mutations import MUTATIONS, Mutation
from benchmarks.abuse.result import Result

MODELS = Path(__file__).parents[2] / "tests" / "models"
CONTROL_FLOW = """
<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
g (bool c, int64 n, float[b, 4] x) => (float[b, 4] y) {
  u = If (c) <
    then_branch = t () => (float[b, 4] p) { p = Relu (x) },
    else_branch = e () => (float[b, 4] q) { q = Neg (x) }
  >
  v = Loop (n, c, u) <
    body = body (int64 i, bool go, float[b, 4] state) => (bool on, float[b, 4] next) {
      on = Identity (go)
      next = Tanh (state)
    }
  >
  y = acme.Twice (v)
}
<domain: "acme", opset_import: ["" : 17]> Twice (p) => (q) { k = Constant <value_float = 2.0> () q = Mul (p, k) }
"""


def originals() -> list[bytes]:
    """Small models as exporters write them, and one with every attribute that holds a graph."""
    found = [path.read_bytes() for path in sorted(MODELS.glob("*.onnx"))]
    return [*found, onnx.parser.parse_model(CONTROL_FLOW).SerializeToString(deterministic=True)]


def damaged(mutation: Mutation, count: int, seed: str) -> Iterator[bytes]:
    models = originals()
    for number in range(count):
        random = Random(f"{seed}-{number}")
        yield mutation(random.choice(models), random)


def fuzz(command: str, count: int, seed: int, place: Place, kept: Path) -> Iterator[Result]:
    """`count` models for each kind of damage; those that cause a fault are copied to `kept`."""
    for name, mutation in MUTATIONS.items():
        exceptions = []
        refused = 0
        for number, content in enumerate(damaged(mutation, count, f"{seed}-{command}-{name}")):
            path = place.folder / "m.onnx"
            path.write_bytes(content)
            (place.folder / "m.ort").unlink(missing_ok=True)
            answer = run([command, "m.onnx"], place, place.folder / "said.txt", is_bounded=True)
            refused += answer.code != 0
            if answer.fault:
                file = kept / f"{command}-{name.replace(' ', '-')}-{number}.onnx"
                file.write_bytes(content)
                exceptions.append(f"{file.name}: {answer.fault}")
        yield Result(
            attack=f"models with {name}, `{command}`",
            tries=count,
            exceptions=tuple(exceptions),
            note=f"none; {refused:,} refused in words",
        )
