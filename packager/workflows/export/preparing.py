"""Brings a module into the state that apps run it in: on the CPU, in eval mode; refuses what would not be one model."""

import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.workflows.export.factory import Given, Tensors
from packager.workflows.export.failures import frames
from packager.workflows.export.outputs import distance, named_outputs, register
from packager.workflows.export.request import Job
from packager.workflows.export.running import call, run, short, weight_types

if TYPE_CHECKING:
    from torch import Tensor, nn

Warn = Callable[[str], None]

TYPES = frozenset("float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool".split())
CAST_HINT = "cast it in forward: .float(), or torch.view_as_real for complex numbers"
HALVES = ("float16", "bfloat16")
ACTS_OTHERWISE = ("Dropout", "BatchNorm", "InstanceNorm", "RReLU")
"""Beginnings of the names of layers that training mode changes."""
DRAWS = ("rand", "bernoulli", "dropout", "normal", "uniform", "multinomial", "poisson", "exponential_", "random_")
"""What the names of operators begin with that draw random numbers."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    given: Given
    outputs: dict[str, "Tensor"]
    """of the example inputs"""


def prepared(given: Given, job: Job, warn: Warn) -> Prepared:
    """The module ready for export, and what it gives for the example. Raises ModelError when it is no function of its
    inputs: random, or changed by every run."""
    refuse_halves(given)
    given = on_cpu(given, warn)
    to_eval(given.module, warn)
    outputs = _outputs(given, job, warn)
    refuse_types("input", given.inputs)
    refuse_types("output", outputs)
    refuse_unstable(given, outputs, job)
    warn_of_doubles(given, warn)
    return Prepared(given=given, outputs=outputs)


def on_cpu(given: Given, warn: Warn) -> Given:
    """Moves everything to the CPU, where it is exported and compared."""
    tensors = {**dict(given.module.named_parameters()), **dict(given.module.named_buffers()), **given.inputs}
    if empty := next((name for name, each in tensors.items() if each.device.type == "meta"), ""):
        raise ModelError(f"'{empty}' is on device meta: it has no numbers", hint="load the weights in the factory")
    if elsewhere := sorted({str(each.device) for each in tensors.values() if each.device.type != "cpu"}):
        warn(f"moved from {', '.join(elsewhere)} to the CPU, where models are exported and compared")
        given.module.to("cpu")
    return replace(given, inputs={name: each.detach().cpu().contiguous() for name, each in given.inputs.items()})


def to_eval(module: "nn.Module", warn: Warn) -> None:
    """Ends training mode, and says so."""
    training = [type(each).__name__ for each in module.modules() if each.training]
    module.eval()
    if not training:
        return
    affected = Counter(name for name in training if name.startswith(ACTS_OTHERWISE))
    layers = ", ".join(f"{count} {name}" for name, count in sorted(affected.items()))
    warn(
        "the module is in training mode: exported in eval mode, as apps run it"
        + (f" ({layers} act otherwise in training)" if layers else "")
        + "; call .eval() in the factory"
    )


def refuse_halves(given: Given) -> None:
    """16-bit weights: PyTorch's CPU computes with them otherwise than phones do, and there is a better place."""
    if halves := sorted({short(each) for each in weight_types(given)} & {*HALVES}):
        raise ModelError(
            f"the module's weights are {halves[0]}: on a CPU, PyTorch is no reference for those",
            hint="export module.float(), then: mobpack quantize model.onnx --quantizer float16",
        )


def refuse_types(what: str, tensors: Tensors) -> None:
    """Raises ModelError for element types that no app can hand over."""
    for name, each in tensors.items():
        if short(each.dtype) not in TYPES:
            raise ModelError(f"{what} '{name}' is {short(each.dtype)}, which mobile APIs do not carry", hint=CAST_HINT)


def warn_of_doubles(given: Given, warn: Warn) -> None:
    doubles = [name for name, each in given.inputs.items() if short(each.dtype) == "float64"]
    if doubles:
        warn(f"input {', '.join(doubles)} is float64: few mobile kernels take it; float32 is usual")


def refuse_unstable(given: Given, outputs: "dict[str, Tensor]", job: Job) -> None:
    """Raises ModelError when a second run on the example gives something else."""
    before = {name: each.clone() for name, each in given.module.named_buffers()}
    again = named_outputs(run(given, given.inputs, Path(job.code_folder)), given.inputs, job.output_names)
    differences = {name: distance(outputs[name], again[name]) for name in outputs if name in again}
    name = max(differences, key=lambda each: differences[each])
    if not differences[name]:
        return
    changed = [key for key, each in given.module.named_buffers() if distance(each, before[key])]
    lines = drawing_lines(given, job)
    if lines:
        why, hint = "it draws random numbers in eval mode", "dropout: pass training=self.training, or use nn.Dropout"
    elif changed:
        why, hint = f"it changes its buffer '{changed[0]}'", "make the state an input and an output of forward"
    else:
        why, hint = "it keeps a state between runs", "make the state an input and an output of forward"
    raise ModelError(
        "\n".join(
            [f"output '{name}' differs by {differences[name]:.3g} between two runs on the same inputs: {why}", *lines]
        ),
        hint=hint,
    )


def drawing_lines(given: Given, job: Job) -> list[str]:
    """The user's own lines that draw random numbers; a line that says so when others do."""
    from torch.utils._python_dispatch import TorchDispatchMode

    found: dict[str, None] = {}
    folder = Path(job.code_folder)

    class Watch(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = str(func).split(".")[1]
            if name.removeprefix("native_").startswith(DRAWS):
                own = frames(traceback.extract_stack(), folder)
                found[own[-1] if own else f"  {name}, in code that is not below {folder}"] = None
            return func(*args, **(kwargs or {}))

    with Watch():
        run(given, given.inputs, folder)
    return list(found)


def _outputs(given: Given, job: Job, warn: Warn) -> "dict[str, Tensor]":
    """Of the example inputs; warns of inputs that the module has changed."""
    folder = Path(job.code_folder)
    copies = {name: each.clone() for name, each in given.inputs.items()}
    value = call(given, *given.call(copies), folder, "the example inputs")
    for name, each in given.inputs.items():
        if distance(copies[name], each):
            warn(f"the module changes input '{name}' in place; the ONNX model leaves its inputs as they are")
    register(value)
    return {name: each.clone() for name, each in named_outputs(value, given.inputs, job.output_names).items()}
