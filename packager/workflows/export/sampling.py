"""Inputs beside the example: with other values, and other sizes for dynamic dimensions; and PyTorch's outputs for
them."""

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, ModelError, nearest
from packager.samples.sample import write_arrays
from packager.workflows.export.factory import Given, Tensors
from packager.workflows.export.outputs import named_outputs
from packager.workflows.export.preparing import Prepared, Warn
from packager.workflows.export.request import DYNAMIC_HINT, Axis, ExportJob
from packager.workflows.export.running import run

if TYPE_CHECKING:
    from torch import Generator, Tensor

Refused = tuple[dict[str, int], ModelError, bool]
"""sizes, the module's error for them, and whether each size was then tried alone"""
Shapes = list[list[int]]
"""shapes of the outputs, in order"""
MANY = 16
"""number of distinct values in an example from which the accepted values can be inferred"""


def axes_of(given: Given, dynamic: Sequence[Axis]) -> tuple[Axis, ...]:
    """`dynamic` resolved to inputs. Raises ConfigError for an unknown input or axis."""
    if dynamic and (rest := rest_of(given)):
        raise ConfigError(
            f"--dynamic: forward takes **{rest}, for which PyTorch cannot export dynamic sizes",
            hint="declare its inputs as named parameters of forward",
        )
    found: dict[tuple[str, int], Axis] = {}
    for each in dynamic:
        if each.input and each.input not in given.inputs:
            raise ConfigError(
                f"--dynamic: no input '{each.input}'", hint=nearest(each.input, given.inputs) or DYNAMIC_HINT
            )
        for name in [each.input] if each.input else [key for key, value in given.inputs.items() if value.dim()]:
            rank = given.inputs[name].dim()
            if each.axis >= rank:
                raise ConfigError(
                    f"--dynamic: input '{name}' has {rank} axes, none with number {each.axis}",
                    hint="axes are counted from 0",
                )
            found[name, each.axis] = Axis(input=name, axis=each.axis, name=each.name)
    sizes: dict[str, int] = {}
    for axis in found.values():
        size = given.inputs[axis.input].shape[axis.axis]
        if sizes.setdefault(axis.name, size) != size:
            raise ConfigError(
                f"--dynamic: '{axis.name}' is {sizes[axis.name]} and {size} in the example inputs",
                hint="axes with the same name must have equal sizes: use different names",
            )
    return tuple(found.values())


def rest_of(given: Given) -> str:
    """Name of forward's `**parameter` if it takes an input, else empty."""
    known = inspect.signature(given.module.forward).parameters.values()
    names = {each.name for each in known}
    rest = next((each.name for each in known if each.kind is each.VAR_KEYWORD), "")
    return rest if any(keyword and keyword not in names for keyword in given.keywords) else ""


def sizes_of(given: Given, axes: Sequence[Axis]) -> dict[str, int]:
    """Name of each dynamic dimension -> its size in the example."""
    return {each.name: given.inputs[each.input].shape[each.axis] for each in axes}


def enlarged(given: Given, axes: Sequence[Axis]) -> Tensors:
    """The example with dynamic dimensions of size 1 or 0 enlarged to 2: PyTorch treats those sizes as constants."""
    import torch

    sizes = {name: max(size, 2) for name, size in sizes_of(given, axes).items()}
    return inputs_with(given, axes, sizes, torch.Generator().manual_seed(0), is_example=True)


def record(
    prepared: Prepared, axes: Sequence[Axis], job: ExportJob, warn: Warn
) -> tuple[list[dict[str, int]], list[Shapes]]:
    """Writes samples and PyTorch's outputs for them; returns the sizes of the dynamic dimensions in each sample, and
    the shapes of its outputs.

    Raises ModelError if a dynamic dimension works with no size other than the example's and 1.
    """
    example = sizes_of(prepared.given, axes)
    write(Path(job.folder), 0, prepared.given.inputs, prepared.outputs)
    done, refused = [example], list[Refused]()
    shapes = [[list(each.shape) for each in prepared.outputs.values()]]
    waiting = list(_other_sizes(example, job.sample_count - 1))
    while waiting:
        sizes = waiting.pop(0)
        try:
            shapes.append(_record(prepared, axes, sizes, len(done), job))
            done.append(sizes)
        except ModelError as error:
            changed = [name for name in sizes if sizes[name] != example[name]]
            if len(changed) > 1:  # one of the sizes may be at fault: try each alone
                waiting += [{**example, name: sizes[name]} for name in changed]
            refused.append((sizes, error, len(changed) > 1))
    _refuse_fixed(example, done, refused)
    for sizes, refusal, is_tried_apart in refused:
        if not is_tried_apart:
            warn(f"not compared with {_words(sizes)}, which PyTorch rejects: {_reason(refusal)}")
    return done, shapes


def _record(prepared: Prepared, axes: Sequence[Axis], sizes: dict[str, int], number: int, job: ExportJob) -> Shapes:
    """Writes one sample with `sizes` and returns the shapes of its outputs. Raises ModelError if the module rejects
    it."""
    import torch

    inputs = inputs_with(prepared.given, axes, sizes, torch.Generator().manual_seed(number))
    value = run(prepared.given, inputs, Path(job.code_folder), _words(sizes))
    outputs = named_outputs(value, inputs, job.output_names)
    write(Path(job.folder), number, inputs, outputs)
    return [list(each.shape) for each in outputs.values()]


def _refuse_fixed(example: dict[str, int], done: "list[dict[str, int]]", refused: "list[Refused]") -> None:
    """Raises ModelError for a dimension that is in fact fixed. Size 1 proves nothing, because it is broadcast."""
    for name, size in example.items():
        if any(each[name] not in (1, size) for each in done):
            continue
        for sizes, error, _ in refused:
            if sizes[name] not in (1, size):
                raise ModelError(
                    error.message,
                    hint=f"omit --dynamic {name}, or change the code that fixes it to {size}; use one name for sizes "
                    "that must be equal",
                )


def _words(sizes: dict[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "random numbers"


def inputs_with(
    given: Given, axes: Sequence[Axis], sizes: dict[str, int], numbers: "Generator", *, is_example: bool = False
) -> Tensors:
    """Inputs of other sizes: the example repeated, with its own values or similar ones."""
    found = {}
    for name, tensor in given.inputs.items():
        for axis in axes:
            if axis.input == name:
                tensor = _resized(tensor, axis.axis, sizes[axis.name])
        found[name] = tensor if is_example else _others_like(tensor, given.inputs[name], numbers)
    return found


def write(folder: Path, number: int, inputs: Tensors, outputs: Tensors) -> None:
    """Writes one sample and its recorded outputs."""
    for kind, tensors in (("samples", inputs), ("recorded", outputs)):
        path = folder / kind / f"sample-{number}.npz"
        path.parent.mkdir(exist_ok=True)
        write_arrays(path, {name: tensor.detach().numpy() for name, tensor in tensors.items()})


def _other_sizes(example: dict[str, int], count: int) -> Iterator[dict[str, int]]:
    """Sizes one larger, one, more than twice as large, and so on: a size fixed by mistake matches none of them."""
    for number in range(count):
        kind, factor = number % 3, number // 3 + 1
        is_one = kind == 1 and factor == 1
        times = 1 if kind == 0 else factor + 1
        yield {
            name: 1 if is_one else times * size + factor + place for place, (name, size) in enumerate(example.items())
        }


def _resized(tensor: "Tensor", axis: int, size: int) -> "Tensor":
    """`tensor` repeated along `axis` and cut to `size`."""
    import torch

    places = torch.arange(size) % max(tensor.shape[axis], 1)
    if not tensor.shape[axis]:
        return torch.zeros([*tensor.shape[:axis], size, *tensor.shape[axis + 1 :]], dtype=tensor.dtype)
    return tensor.index_select(axis, places)


def _others_like(tensor: "Tensor", example: "Tensor", numbers: "Generator") -> "Tensor":
    """Random values in the shape of `tensor`: drawn from those of the example, which the module accepts, or from a
    normal distribution if the example has few distinct ones."""
    import torch

    known = example.reshape(-1)
    is_telling = not example.is_floating_point() or known[: 1 << 16].unique().numel() >= MANY
    if known.numel() and is_telling:
        return known[torch.randint(known.numel(), tuple(tensor.shape), generator=numbers)]
    if example.is_floating_point():
        return torch.randn(tuple(tensor.shape), generator=numbers, dtype=torch.float64).to(example.dtype)
    return tensor


def _reason(error: ModelError) -> str:
    return error.message.partition(": ")[2].splitlines()[0]
