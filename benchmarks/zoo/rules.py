"""Holds XNNPACK's rules against ONNX Runtime's own provider: `python -m benchmarks.zoo.rules MODEL [INPUT=SIZES...]`.

mobpack decides by the rules alone. The same model is opened here by ONNX Runtime's Android library, which says node by
node what XNNPACK takes, and runs it beside the CPU. Open sizes are set to those given (`x=1,3,224,224`), because
XNNPACK takes nodes of fixed shapes. Prints `Compared` as JSON, and ends with 1 where the rules take a node that the
provider leaves, or the other way round, or where the two compute different numbers.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy

from benchmarks.xnnpack import random_inputs
from benchmarks.zoo import independent
from packager import models
from packager.compile import plan
from packager.core.errors import MobpackError
from packager.core.values import ElementType, Model, baseline
from packager.engines.environments import SIGNED
from packager.engines.environments.android import Android as AndroidLibrary
from packager.engines.environments.android import ProbeJob
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.samples.fit import DTYPES
from packager.targets.android import Android
from packager.verification.partition.device import measure_on_android
from packager.verification.partition.kernels import graph_of
from packager.verification.partition.xnnpack import predict

XNNPACK = "XnnpackExecutionProvider"
SHOWN = 5
MOST_APART = 1e-3
"""Largest difference between XNNPACK and the CPU, as a share of the output's largest number."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    state: str
    """`agrees`, `takes more` where XNNPACK takes nodes that the rules leave to the CPU, which is the safe side (behind
    a Transpose that ONNX Runtime removes, or of a size that it finds out while it loads), `differs` where the rules
    take more, `computes otherwise`, `kept away` for a model that the rules keep from XNNPACK, or `not compared`"""
    reason: str = ""
    taken: int = 0
    """nodes that XNNPACK takes"""
    nodes: int = 0
    apart: float | None = None
    """largest difference between XNNPACK and the CPU, as a share of the output's largest number; None where XNNPACK
    takes nothing, or the model takes none of the inputs drawn here"""


def main() -> int:
    sizes = dict(each.rsplit("=", 1) for each in sys.argv[2:])
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        try:
            found = compared(Path(sys.argv[1]), sizes, Path(scratch))
        except MobpackError as error:
            found = Compared(state="not compared", reason=error.message)
    print(json.dumps(asdict(found)))
    return int(found.state in ("differs", "computes otherwise"))


def compared(path: Path, sizes: Mapping[str, str], scratch: Path) -> Compared:
    """The nodes that XNNPACK takes of the model, by rules and by itself."""
    fixed = set_sizes(models.load(path, "model"), sizes)
    model = models.hashed(models.load(path, "model", fixed=fixed))
    target = Android(providers=("xnnpack",))
    planned = plan.make(baseline(model), target, Store(scratch / "store"), lambda text: None)
    compiled = next(each.compiled for each in planned.choices if each.provider == "xnnpack")
    graph = graph_of(compiled)
    predicted = predict(graph)
    if predicted.refusal:
        return Compared(state="kept away", reason=predicted.refusal, nodes=len(graph.nodes))
    folder = scratch / "asked"
    folder.mkdir()
    found = measure_on_android(compiled.path, "xnnpack", folder)
    if found.refusal:
        on_cpu = AndroidLibrary().ask(compiled.path, ProbeJob(provider="cpu", is_explained=False))
        state = "not compared" if "error" in on_cpu else "differs"  # a branch that does not fit the sizes given
        return Compared(state=state, reason=found.refusal, nodes=len(graph.nodes))
    by_rules = {name for names in predicted.partitions for name in names}
    asked = set(found.names) - set(found.gone) - set(found.followers)
    taken = found.taken(XNNPACK)
    nodes = [node for node in graph.nodes if node.name in asked]
    few = [node for node in nodes if node.name in taken and node.name not in by_rules]
    many = [node for node in nodes if node.name not in taken and node.name in by_rules]
    apart = difference(model, compiled.path, compiled.settings, scratch) if taken & asked else None
    state = "takes more" if few else "agrees"
    if apart is not None and not apart <= MOST_APART and not apart <= 2 * own(path, model, scratch):
        state = "computes otherwise"
    if many:
        state = "differs"
    return Compared(
        state=state,
        reason="; ".join(f"{node.op} {node.name}" for node in (few + many)[:SHOWN]),
        taken=sum(node.name in taken for node in nodes),
        nodes=len(nodes),
        apart=apart,
    )


def difference(model: Model, path: Path, settings: Mapping[str, str], scratch: Path) -> float | None:
    """Largest difference between the outputs of XNNPACK and of the CPU, as a share of the output's largest number."""
    inputs = list(random_inputs(model, scratch))
    answers = []
    providers: tuple[Literal["cpu", "xnnpack"], ...] = ("cpu", "xnnpack")
    for provider in providers:
        outputs = scratch / provider
        outputs.mkdir()
        job = ProbeJob(provider=provider, inputs=inputs, entries={**SIGNED, **settings}, is_explained=False)
        said = AndroidLibrary().ask(path, job, outputs=outputs)
        if "error" in said:
            return None
        answers.append([numbers(each) for each in said["outputs"]])
    floats = [pair for pair in zip(*answers, strict=True) if pair[0].dtype.kind == "f"]
    return max((independent.apart(*pair) for pair in floats), default=0.0) * independent.RTOL


def own(path: Path, model: Model, scratch: Path) -> float:
    """The same between the user's model and itself with constants that differ in their last bits."""
    given = {
        each.name: numpy.fromfile(each.file, DTYPES[ElementType(each.type)]).reshape(each.shape)
        for each in random_inputs(model, scratch)
    }
    original = independent.run(independent.opened(path, is_optimized=False), given)
    return independent.own_difference(path, given, original, scratch) * independent.RTOL


def numbers(output: Mapping[str, Any]) -> "numpy.ndarray[Any, Any]":
    return numpy.fromfile(output["file"], DTYPES[ElementType(output["type"])])


def set_sizes(model: Model, sizes: Mapping[str, str]) -> dict[str, int]:
    """Open dimension -> its size, from the sizes of whole inputs."""
    found = {}
    for spec in model.signature.inputs:
        given = sizes.get(spec.name, "").split(",") if sizes.get(spec.name) else []
        for dimension, size in zip(spec.shape, given, strict=False):
            if isinstance(dimension, str):
                found[dimension] = int(size)
    return found


if __name__ == "__main__":
    sys.exit(main())
