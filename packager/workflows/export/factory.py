"""Calls the user's factory: a module, and example inputs named after the parameters that take them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError
from packager.core.user_functions import found
from packager.workflows.export.failures import users_module

if TYPE_CHECKING:
    from torch import Tensor, nn

HINT = (
    "write a function without arguments that returns (module, inputs): inputs are a tensor, a tuple of tensors, "
    "or a dict of them by parameter of forward"
)
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Tensors = Mapping[str, "Tensor"]
"""inputs or outputs by name, in order"""


@dataclass(frozen=True, kw_only=True)
class Given:
    """A module and its example inputs."""

    module: "nn.Module"
    inputs: Tensors
    """by input name of the ONNX model"""
    keywords: tuple[str | None, ...]
    """for each input the keyword that passes it; None for a positional input"""

    def call(self, inputs: Tensors) -> tuple[tuple["Tensor", ...], dict[str, "Tensor"]]:
        """Arguments that pass `inputs` to `forward`."""
        pairs = list(zip(self.keywords, inputs.values(), strict=True))
        places = tuple(value for keyword, value in pairs if keyword is None)
        return places, {keyword: value for keyword, value in pairs if keyword is not None}

    def renamed(self, names: tuple[str, ...]) -> "Given":
        """A copy with other input names, in order. Raises ConfigError if their number differs."""
        if len(names) != len(self.inputs):
            raise ConfigError(
                f"--input-names gives {len(names)} names, the module takes {len(self.inputs)}: "
                f"{', '.join(self.inputs)}",
                hint="name all of them, in this order",
            )
        return replace(self, inputs=dict(zip(names, self.inputs.values(), strict=True)))


def given(text: str, folder: Path) -> Given:
    """Calls the factory `text`. Raises ConfigError if it is missing, fails, or returns something else."""
    factory = found(text, folder, f"factory {text}", HINT)
    with users_module(f"factory {text} fails", folder, HINT):
        made = factory()
    module, inputs = _pair(made, text)
    module = unwrapped(module)
    values, keywords = _split(inputs, text)
    return Given(module=module, inputs=_named(module.forward, values, keywords, text), keywords=keywords)


def unwrapped(module: "nn.Module") -> "nn.Module":
    """The module inside torch.compile or DataParallel, which has the parameters of the user's forward."""
    import torch

    parallel = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while isinstance(module, parallel) or hasattr(module, "_orig_mod"):
        module = module.module if isinstance(module, parallel) else module._orig_mod
    return module


def _pair(made: Any, text: str) -> tuple["nn.Module", Any]:
    import torch

    if isinstance(made, torch.nn.Module):
        raise ConfigError(f"factory {text} returns a module without example inputs", hint=HINT)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ConfigError(f"factory {text} returns {_kind(made)}, not (module, inputs)", hint=HINT)
    module, inputs = made
    if isinstance(module, torch.jit.ScriptModule):
        raise ConfigError(
            f"factory {text} returns a TorchScript module", hint="return the torch.nn.Module that it was made from"
        )
    if not isinstance(module, torch.nn.Module):
        raise ConfigError(f"factory {text} returns {_kind(module)} instead of a torch.nn.Module", hint=HINT)
    return module, inputs


def _split(inputs: Any, text: str) -> tuple[list["Tensor"], tuple[str | None, ...]]:
    """The tensors, and the keyword of each."""
    import torch

    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if isinstance(inputs, Mapping):
        pairs: list[tuple[str | None, Any]] = [(str(key), value) for key, value in inputs.items()]
    elif isinstance(inputs, tuple | list):
        pairs = [(None, value) for value in inputs]
    else:
        raise ConfigError(f"factory {text} returns {_kind(inputs)} as example inputs", hint=HINT)
    if not pairs:
        raise ConfigError(f"factory {text} returns no example inputs", hint=HINT)
    for number, (keyword, value) in enumerate(pairs):
        if not isinstance(value, torch.Tensor):
            raise ConfigError(
                f"factory {text}: example input {keyword or number} is {_kind(value)}, not a tensor",
                hint=_tensor_hint(value),
            )
    return [value for _, value in pairs], tuple(keyword for keyword, _ in pairs)


def _tensor_hint(value: Any) -> str:
    if type(value).__module__ == "numpy":
        return "torch.from_numpy makes a tensor of it"
    return "what is not a tensor is fixed in the graph: wrap the module in one whose forward takes tensors alone"


def _named(forward: Callable[..., Any], values: list["Tensor"], keywords: tuple[str | None, ...], text: str) -> Tensors:
    """The tensors by parameter of `forward`; those of `*images` become images_0, images_1."""
    signature = inspect.signature(forward)
    positional = [value for value, keyword in zip(values, keywords, strict=True) if keyword is None]
    named = {keyword: value for value, keyword in zip(values, keywords, strict=True) if keyword is not None}
    try:
        signature.bind(*positional, **named)
    except TypeError as error:
        raise ConfigError(
            f"factory {text}: the example inputs do not fit forward{signature}: {error}", hint=HINT
        ) from error
    names = [each.name for each in signature.parameters.values() if each.kind in POSITIONAL]
    rest = next((each.name for each in signature.parameters.values() if each.kind is each.VAR_POSITIONAL), "")
    names += [f"{rest}_{number}" for number in range(len(positional) - len(names))]
    return {**dict(zip(names, positional, strict=False)), **named}


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
