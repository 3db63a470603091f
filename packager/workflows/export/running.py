"""Runs a PyTorch module on inputs and explains why it rejects them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.core.user_functions import users_code
from packager.workflows.export.factory import Given, Tensors
from packager.workflows.export.failures import described

if TYPE_CHECKING:
    from torch import dtype

WANTS_INDICES = re.compile(r"scalar types?:? Long|type LongTensor|index.{0,40}(int64|Long)|(int64|Long).{0,40}index")
MIXES_TYPES = re.compile(
    r"same d(ata)?type|should be the same|does not match weight dtype|expected scalar type|share same"
)
WRONG_DEVICE = re.compile(r"\bdevices?\b")


def run(given: Given, inputs: Tensors, folder: Path, what: str = "the example inputs") -> Any:
    """Outputs of the module for copies of `inputs`, because modules may modify them. Raises ModelError when it fails.

    `folder` holds the user's own files.
    """
    places, keywords = given.call({name: tensor.clone() for name, tensor in inputs.items()})
    return call(given, places, keywords, folder, what)


def call(given: Given, places: tuple[Any, ...], keywords: dict[str, Any], folder: Path, what: str) -> Any:
    """Like `run`, without copying the tensors."""
    import torch

    try:
        with torch.no_grad(), users_code(what, folder, ""):
            return given.module(*places, **keywords)
    except ConfigError as error:
        if error.__cause__ is None:
            raise
        reason, hint = _diagnosis(given, str(error.__cause__))
        text = described(error.__cause__, folder)
        raise ModelError(f"the module fails on {what}: {reason}{text}", hint=hint) from error.__cause__


def _diagnosis(given: Given, text: str) -> tuple[str, str]:
    """The reason why the module rejects the inputs, if known, and a hint."""
    import torch

    weights = weight_types(given)
    for name, tensor in given.inputs.items():
        is_float = tensor.is_floating_point()
        if WANTS_INDICES.search(text) and tensor.dtype in (torch.float32, torch.float64, torch.int32):
            return (
                f"input '{name}' is {short(tensor.dtype)}, but the module uses it as indices. ",
                f"pass {name}.long()",
            )
        is_other = weights and tensor.dtype not in weights and tensor.dtype != torch.bool
        if is_other and (is_float or MIXES_TYPES.search(text)):
            wanted = short(sorted(weights, key=str)[0])
            return (
                f"input '{name}' is {short(tensor.dtype)}, but the weights are {wanted}. ",
                f"pass {name}.to(torch.{wanted})",
            )
    if WRONG_DEVICE.search(text):
        return (
            "one of its tensors is on another device. ",
            "register tensors with register_buffer: plain attributes do not move with the module",
        )
    shapes = ", ".join(f"{name} {list(tensor.shape)} {short(tensor.dtype)}" for name, tensor in given.inputs.items())
    return "", f"check the factory's example inputs: {shapes}"


def weight_types(given: Given) -> "set[dtype]":
    """Types of the floating-point parameters."""
    return {each.dtype for each in given.module.parameters() if each.is_floating_point()}


def short(kind: object) -> str:
    """`torch.float32` -> `float32`."""
    return str(kind).removeprefix("torch.")
