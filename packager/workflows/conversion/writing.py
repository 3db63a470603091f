"""Output files of a conversion, and its result as JSON."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError, ToolError
from packager.files.atomic import atomic_files, copy_rest
from packager.workflows.conversion.comparison import OutputResult
from packager.workflows.conversion.graph import Port


def refuse_output(output: Path) -> None:
    """Raises ConfigError or ToolError if no model can be written to `output`."""
    if output.suffix != ".onnx":
        raise ConfigError(f"{output}: the output must be an .onnx file", hint=f"name it {output.stem}.onnx")
    if output.is_dir():
        raise ConfigError(f"{output} is a folder", hint="give a file name")
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise ToolError(f"cannot write to {folder}", hint="check its permissions, or choose another --output")


def keep(scratch: Path, folder: Path) -> None:
    """Copies samples and the framework's outputs to the folders for `[parity] samples` and `recorded`."""
    for kind in ("samples", "recorded"):
        with atomic_files(folder / kind) as unfinished:
            for file in sorted((scratch / kind).iterdir()):
                with file.open("rb") as content, (unfinished / file.name).open("wb") as copy:
                    copy_rest(content, copy)


def port_as_json(port: Port) -> dict[str, Any]:
    return {"name": port.name, "type": port.element, "shape": list(port.dimensions)}


def errors_as_json(results: Sequence[OutputResult]) -> list[dict[str, Any]]:
    return [
        {"output": each.name, "max-abs-error": each.max_abs_error, "share-of-tolerance": _finite(each.max_share)}
        for each in results
    ]


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return None if number == float("inf") else number
