"""Proposes names for inputs, outputs and dimensions whose own names say nothing in an app's code."""

import re
from collections.abc import Iterator, Mapping

from packager.core.signature import Dimension, ElementType, Signature, TensorSpec

WORDS = "input|output|tensor|node|fetch_name|onnx|name|arg|var|val|unk|dynamic_axes|DynamicDimension|s"
NUMBERED = re.compile(rf"(?:{WORDS})?[_:.]*\d+", re.IGNORECASE)
"""`fetch_name_0`, `onnx::3`, `unk__6`, `495`: exporters write these where nobody gave a name"""
PATH = re.compile(r".*[/:].*")
"""`StatefulPartitionedCall:0`, `/model/layer/Add_output_0`: places in another framework's graph"""
WHOLE_NUMBERS = (ElementType.INT32, ElementType.INT64)


def proposals(signature: Signature) -> Mapping[str, str]:
    """Key of `[model.NAME.rename]` -> proposed name; each name once, dimensions of the same meaning excepted."""
    taken = {spec.name for spec in (*signature.inputs, *signature.outputs)}
    found: dict[str, str] = {}
    for spec in (*signature.inputs, *signature.outputs):
        if says_nothing(spec.name):
            better = _of_input(spec) if spec in signature.inputs else _of_output(spec)
            found[spec.name] = _free(better, taken)
            taken.add(found[spec.name])
    for spec in (*signature.inputs, *signature.outputs):
        found |= dict(_of_dimensions(spec))
    return found


def says_nothing(name: str) -> bool:
    return bool(NUMBERED.fullmatch(name) or PATH.fullmatch(name))


def _of_input(spec: TensorSpec) -> str:
    if _is_picture(spec):
        return "image"
    return "ids" if spec.element in WHOLE_NUMBERS and len(spec.shape) == 2 else "features"


def _of_output(spec: TensorSpec) -> str:
    if len(spec.shape) == 2:
        return "scores"
    return "map" if len(spec.shape) == 4 else "result"


def _of_dimensions(spec: TensorSpec) -> Iterator[tuple[str, str]]:
    for axis, size in enumerate(spec.shape):
        if not isinstance(size, int) and (not size or says_nothing(size)):
            yield size or f"{spec.name}.{axis}", _of_axis(spec, axis)


def _of_axis(spec: TensorSpec, axis: int) -> str:
    if axis == 0:
        return "batch"
    if _is_picture(spec):
        sides = [each for each in range(1, 4) if not _is_channels(spec.shape[each])]
        return "height" if axis == sides[0] else "width"
    return "length" if axis == 1 else f"size{axis}"


def _is_picture(spec: TensorSpec) -> bool:
    is_pixels = spec.element in (ElementType.FLOAT, ElementType.FLOAT16, ElementType.UINT8)
    return is_pixels and len(spec.shape) == 4 and (_is_channels(spec.shape[1]) or _is_channels(spec.shape[3]))


def _is_channels(size: Dimension) -> bool:
    return size in (1, 3)


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(f"{name}{number}" for number in range(2, len(taken) + 3) if f"{name}{number}" not in taken)
