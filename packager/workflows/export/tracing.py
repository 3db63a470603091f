"""Converts a PyTorch module to an ONNX graph with torch.onnx.export, and explains its failures."""

import re
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packager.core.errors import MobpackError, ModelError
from packager.workflows.export.factory import Tensors
from packager.workflows.export.failures import own_lines
from packager.workflows.export.preparing import Prepared
from packager.workflows.export.request import Axis, Job

DATA_DEPENDENT = ("GuardOnDataDependentSymNode", "UserError", "Unsupported", "DataDependentOutputException")
"""PyTorch's errors for code that branches on tensor values"""
NO_TRANSLATION = re.compile(r"No ONNX function found for <OpOverload\(op='([^']+)'")


def traced(prepared: Prepared, axes: Sequence[Axis], example: Tensors, job: Job) -> Any:
    """The ONNXProgram of a module, traced with `example`. Raises ModelError."""
    import torch

    given = prepared.given
    places, keywords = given.call({name: tensor.clone() for name, tensor in example.items()})
    positional, named = given.call({name: _dynamic(name, axes) for name in example})
    try:
        with torch.no_grad():
            return torch.onnx.export(
                given.module,
                places,
                kwargs=keywords,
                dynamic_shapes=_by_parameter(given.module, positional, named) if axes else None,
                input_names=list(example),
                output_names=list(prepared.outputs),
                opset_version=job.opset,
                dynamo=True,
                verbose=False,
            )
    except MobpackError:
        raise
    except Exception as error:
        raise in_words(error, Path(job.code_folder)) from error


def in_words(error: BaseException, folder: Path) -> ModelError:
    """A failure of torch.onnx.export in one sentence, followed by the user's own lines."""
    chain = list(_causes(error))
    root = chain[-1]
    own = next((lines for each in reversed(chain) if (lines := own_lines(each, folder))), _quoted(chain, folder))
    text = "\n".join(map(str, chain))
    kind = {type(each).__name__ for each in chain}
    if found := NO_TRANSLATION.search(text):
        return ModelError(
            "\n".join([f"PyTorch has no ONNX operator for {found[1]}", *own]),
            hint="replace it with other functions, or move it to the app, before or after the model",
        )
    if kind & {*DATA_DEPENDENT} and ("data-dependent" in text or "data dependent" in text.lower()):
        return ModelError(
            "\n".join(["the module branches on the values of a tensor, which a graph cannot express", *own]),
            hint="use torch.where or torch.cond, or make the decision an argument of the factory",
        )
    if "torch.export" not in str(error) and "step 1/3" not in str(error):
        return ModelError("\n".join([f"PyTorch cannot write the model as ONNX: {_last(root)}", *own]), hint=_HINT)
    return ModelError("\n".join([f"PyTorch cannot trace the module: {_last(root)}", *own]), hint=_HINT)


_HINT = "torch.export.export(module, inputs) fails in the same way; its documentation lists what it supports"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """`error` and its causes, the first cause last."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _last(error: BaseException) -> str:
    """Type and first line of an error."""
    return traceback.format_exception_only(error)[-1 if not str(error) else 0].strip().splitlines()[0]


def _quoted(chain: Sequence[BaseException], folder: Path) -> list[str]:
    """The user's lines that PyTorch quotes in its messages, used when it has no traceback of them."""
    for each in chain:
        found = re.findall(r'File "([^"]+)", line (\d+), in (\w+)\n\s+(.+)', str(each))
        own = [match for match in found if Path(match[0]).is_relative_to(folder)]
        if own:
            return [f"  {Path(f).relative_to(folder)}, line {line}, in {name}: {code}" for f, line, name, code in own]
    return []


def _dynamic(name: str, axes: Sequence[Axis]) -> dict[int, Any]:
    """Axis -> dimension of the input `name`, in torch.export's format."""
    from torch.export import Dim

    return {each.axis: Dim(each.name) for each in axes if each.input == name}


def _by_parameter(module: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by parameter; those of `*images` together."""
    import inspect

    return dict(inspect.signature(module.forward).bind(*positional, **named).arguments)
