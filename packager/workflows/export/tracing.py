"""Converts a PyTorch module to an ONNX graph with torch.onnx.export, and explains its failures."""

import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packager.core.errors import MobpackError, ModelError
from packager.workflows.export.factory import Tensors
from packager.workflows.export.failures import is_own, own_lines
from packager.workflows.export.preparing import Prepared
from packager.workflows.export.request import Axis, ExportJob

DATA_DEPENDENT = ("GuardOnDataDependentSymNode", "UserError", "Unsupported", "DataDependentOutputException")
"""PyTorch's errors for code that branches on tensor values"""
NO_TRANSLATION = re.compile(r"No ONNX function found for <OpOverload\(op='([^']+)'")

LINE = re.compile(r'File "([^"]+)", line (\d+), in (\w+)\n\s+(.+)')
"""A line of code in PyTorch's messages."""


class Quoted(NamedTuple):
    """A line of code, as PyTorch quotes it."""

    file: str
    line: str
    function: str
    code: str

    def words(self, file: str) -> str:
        return f"  {file}, line {self.line}, in {self.function}: {self.code}"


def traced(prepared: Prepared, axes: Sequence[Axis], example: Tensors, job: ExportJob) -> Any:
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
    own = next((lines for each in reversed(chain) if (lines := own_lines(each, folder))), [])
    own = own or _quoted(map(str, chain), folder) or _quoted(_noted(chain), folder)
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


def _noted(chain: Sequence[BaseException]) -> Iterator[str]:
    """Notes that PyTorch made where it traced the node that it could not translate: they are in no message."""
    for each in chain:
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if trace := getattr(frame.f_locals.get("node"), "stack_trace", None):
                yield str(trace)


def _quoted(texts: Iterable[str], folder: Path) -> list[str]:
    """The user's lines that PyTorch quotes, used when it has no traceback of them; if none is the user's, the innermost
    one of a package."""
    others: list[str] = []
    for text in texts:
        found = [Quoted(*each) for each in LINE.findall(text)]
        own = [each for each in found if is_own(each.file, folder)]
        if own:
            return [each.words(str(Path(each.file).relative_to(folder))) for each in own]
        others = others or [each.words("/".join(Path(each.file).parts[-3:])) for each in found[-1:]]
    return others


def _dynamic(name: str, axes: Sequence[Axis]) -> dict[int, Any]:
    """Axis -> dimension of the input `name`, in torch.export's format."""
    from torch.export import Dim

    return {each.axis: Dim(each.name) for each in axes if each.input == name}


def _by_parameter(module: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by parameter; those of `*images` together."""
    import inspect

    return dict(inspect.signature(module.forward).bind(*positional, **named).arguments)
