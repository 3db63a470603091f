"""Output files of a conversion, and its result as JSON."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, kw_only=True)
class WrittenModel:
    """A model that was written, and its differences from the framework's outputs."""

    files: tuple[Path, ...]
    """the model: one file, or two from 2 GiB on"""
    size_bytes: int
    sha256: str
    """sha256 of the first file"""
    opset: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    sizes: tuple[dict[str, int], ...]
    """sizes of the dynamic dimensions, for each compared sample"""
    errors: tuple[OutputResult, ...]

    def as_json(self, origin: Mapping[str, str]) -> dict[str, object]:
        """The result for `--json`; `origin` has the programs that the model comes from."""
        return {
            "files": [str(file) for file in self.files],
            "size-bytes": self.size_bytes,
            "sha256": self.sha256,
            "opset": self.opset,
            **origin,
            "inputs": [_port(each) for each in self.inputs],
            "outputs": [_port(each) for each in self.outputs],
            "samples": list(self.sizes),
            "errors": [_error(each) for each in self.errors],
        }


def _port(port: Port) -> dict[str, object]:
    return {"name": port.name, "type": port.element, "shape": list(port.dimensions)}


def _error(result: OutputResult) -> dict[str, object]:
    return {
        "output": result.name,
        "max-abs-error": result.max_abs_error,
        "share-of-tolerance": _finite(result.max_share),
    }


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return None if number == float("inf") else number
