"""Locates a model's weights: external references, checked before anything follows them."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packager.core import user_files
from packager.core.errors import ModelError
from packager.core.values import data_folder
from packager.graph.rewriting import finishing
from packager.graph.weights.places import size_of

if TYPE_CHECKING:
    from onnx import ModelProto, StringStringEntryProto, TensorProto


def external_tensors(proto: "ModelProto") -> Iterator["TensorProto"]:
    """Every tensor whose data lies outside the message: initializers of all graphs, and attributes of all nodes."""
    return (tensor for tensor, _ in finishing.external_tensors(proto))


def resolve_external_data(proto: "ModelProto", path: Path) -> tuple[Path, ...]:
    """Rewrites every external location to the real file name and returns the data files besides `path`, sorted.

    Raises ModelError for a location outside the model's folder, a missing file or one that is too short.
    """
    folder, own = data_folder(path), user_files.resolved(path)
    files: dict[str, Path] = {}
    for tensor in external_tensors(proto):
        entries = {entry.key: entry for entry in tensor.external_data}
        if "location" not in entries:
            raise ModelError(f"{path}: tensor '{tensor.name}' is external but names no file", hint="export it again")
        location = entries["location"].value
        if location not in files:
            files[location] = own if location == own.name else _data_file(path, location, tensor.name)
        file = files[location]
        entries["location"].value = file.relative_to(folder).as_posix()
        length = _number(entries, "length", tensor, path) if "length" in entries else size_of(tensor)
        check_length(tensor, length, path)
        needed = _number(entries, "offset", tensor, path) + length
        if needed > file.stat().st_size:
            raise ModelError(
                f"{file}: {file.stat().st_size:,} bytes, but tensor '{tensor.name}' reaches to byte {needed:,}",
                hint="the data file is truncated or belongs to another model: copy it again",
            )
    return tuple(sorted({file for file in files.values() if file != own}))


def check_length(tensor: "TensorProto", length: int, path: Path) -> None:
    """Raises ModelError if the length of a tensor's data does not match its shape and element type."""
    expected = size_of(tensor)
    if expected not in (0, length) or (length and 0 in tensor.dims):
        raise ModelError(
            f"{path}: tensor '{tensor.name}' of shape {list(tensor.dims)} needs {expected:,} bytes, has {length:,}",
            hint="the file is damaged: export it again",
        )


def _number(entries: "Mapping[str, StringStringEntryProto]", key: str, tensor: "TensorProto", path: Path) -> int:
    text = entries[key].value if key in entries else "0"
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ModelError(f"{path}: tensor '{tensor.name}' has no usable {key}: {text!r}", hint="export it again")
    return int(text)


def _data_file(path: Path, location: str, tensor: str) -> Path:
    parts = PurePosixPath(location)
    if parts.is_absolute() or ".." in parts.parts or Path(location).is_absolute():
        raise ModelError(
            f"{path}: tensor '{tensor}' points outside the model's folder: {location!r}",
            hint="put the data file beside the model and save it with a relative location",
        )
    file = path.parent / location
    if _is(file.is_dir):
        raise ModelError(
            f"{path}: {file} is a folder, not the data file of tensor '{tensor}'", hint="export the model again"
        )
    if not _is(file.is_file):
        raise ModelError(
            f"{path}: external data file not found: {file}",
            hint=f"copy {parts.name} beside the model; tensor '{tensor}' and maybe others are in it",
        )
    real = user_files.resolved(file)
    if not real.is_relative_to(data_folder(path)):
        raise ModelError(
            f"{file} is a link out of the model's folder, which ONNX Runtime refuses to follow",
            hint="copy the model and its data files into one folder",
        )
    return real


def _is(kind: Callable[[], bool]) -> bool:
    try:
        return kind()
    except OSError:  # for example, a name longer than the disk allows
        return False
