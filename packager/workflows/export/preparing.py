"""Prepares a module for export: on the CPU and in eval mode; rejects modules whose outputs vary between runs."""

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
from packager.workflows.export.request import ExportJob
from packager.workflows.export.running import call, run, short, weight_types

if TYPE_CHECKING:
    from torch import Tensor, nn

Warn = Callable[[str], None]

TYPES = frozenset("float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool".split())
CAST_HINT = "cast it in forward: .float(), or torch.view_as_real for complex numbers"
HALVES = ("float16", "bfloat16")
TRAINING_SENSITIVE = ("Dropout", "BatchNorm", "InstanceNorm", "RReLU")
"""prefixes of the names of layers that behave differently in training mode"""
DRAWS = ("rand", "bernoulli", "dropout", "normal", "uniform", "multinomial", "poisson", "exponential_", "random_")
"""prefixes of the names of operators that draw random numbers"""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    given: Given
    outputs: dict[str, "Tensor"]
    """outputs for the example inputs"""


def prepared(given: Given, job: ExportJob, warn: Warn) -> Prepared:
    """The module ready for export, and its outputs for the example. Raises ModelError if the outputs are random or
    change with every run."""
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
    """Moves everything to the CPU, where models are exported and compared."""
    tensors = {**dict(given.module.named_parameters()), **dict(given.module.named_buffers()), **given.inputs}
    if empty := next((name for name, each in tensors.items() if each.device.type == "meta"), ""):
        raise ModelError(f"'{empty}' is on device meta and has no values", hint="load the weights in the factory")
    if elsewhere := sorted({str(each.device) for each in tensors.values() if each.device.type != "cpu"}):
        warn(f"the module was moved from {', '.join(elsewhere)} to the CPU, where models are exported and compared")
        given.module.to("cpu")
    return replace(given, inputs={name: each.detach().cpu().contiguous() for name, each in given.inputs.items()})


def to_eval(module: "nn.Module", warn: Warn) -> None:
    """Switches the module to eval mode and warns if it was in training mode."""
    training = [type(each).__name__ for each in module.modules() if each.training]
    module.eval()
    if not training:
        return
    affected = Counter(name for name in training if name.startswith(TRAINING_SENSITIVE))
    layers = ", ".join(f"{count} {name}" for name, count in sorted(affected.items()))
    warn(
        "the module is in training mode and was exported in eval mode, as apps run it"
        + (f" ({layers} behave differently in training)" if layers else "")
        + "; call .eval() in the factory"
    )


def refuse_halves(given: Given) -> None:
    """Raises ModelError for 16-bit weights: PyTorch's CPU kernels compute them differently from phones, and mobpack
    quantize converts them better."""
    if halves := sorted({short(each) for each in weight_types(given)} & {*HALVES}):
        raise ModelError(
            f"the module's weights are {halves[0]}: PyTorch on a CPU is not a valid reference for them",
            hint="export module.float(), then run mobpack quantize model.onnx --quantizer float16",
        )


def refuse_types(what: str, tensors: Tensors) -> None:
    """Raises ModelError for element types that apps cannot pass."""
    for name, each in tensors.items():
        if short(each.dtype) not in TYPES:
            raise ModelError(
                f"{what} '{name}' is {short(each.dtype)}, which mobile APIs do not support", hint=CAST_HINT
            )


def warn_of_doubles(given: Given, warn: Warn) -> None:
    doubles = [name for name, each in given.inputs.items() if short(each.dtype) == "float64"]
    if doubles:
        warn(f"input {', '.join(doubles)} is float64: few mobile kernels support it; use float32")


def refuse_unstable(given: Given, outputs: "dict[str, Tensor]", job: ExportJob) -> None:
    """Raises ModelError if a second run on the example gives different outputs."""
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
        why, hint = "it keeps state between runs", "make the state an input and an output of forward"
    raise ModelError(
        "\n".join(
            [f"output '{name}' differs by {differences[name]:.3g} between two runs on the same inputs: {why}", *lines]
        ),
        hint=hint,
    )


def drawing_lines(given: Given, job: ExportJob) -> list[str]:
    """The user's lines that draw random numbers, or a line that names the operator if they are not in the user's
    files."""
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


def _outputs(given: Given, job: ExportJob, warn: Warn) -> "dict[str, Tensor]":
    """Outputs for the example inputs; warns about inputs that the module modifies."""
    folder = Path(job.code_folder)
    copies = {name: each.clone() for name, each in given.inputs.items()}
    value = call(given, *given.call(copies), folder, "the example inputs")
    for name, each in given.inputs.items():
        if distance(copies[name], each):
            warn(f"the module modifies input '{name}' in place; the ONNX model does not")
    register(value)
    return {name: each.clone() for name, each in named_outputs(value, given.inputs, job.output_names).items()}
