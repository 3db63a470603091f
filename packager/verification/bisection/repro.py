"""Writes files that reproduce a fault: the node alone, its inputs, its outputs, and a program that runs it."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.compile.external import write_external
from packager.graph.weights.places import size_of
from packager.samples import write_arrays
from packager.verification.bisection.subject import BisectionSubject

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

INSIDE_BYTES = 64 << 20
"""Maximum size of weights in the model itself."""
PROGRAM = Path(__file__).with_name("reproduce.py")


@dataclass(frozen=True, kw_only=True)
class ReproCase:
    """The fault to reproduce."""

    piece: "ModelProto"
    """its external data lie in `subject`'s folder"""
    subject: BisectionSubject
    """the side that is wrong"""
    reference: str
    """the other side, in words"""
    inputs: "Mapping[str, NDArray[Any]]"
    expected: "Mapping[str, NDArray[Any]]"
    actual: "Mapping[str, NDArray[Any]]"
    """empty if the side does not run on the inputs"""
    words: str


def leave(case: ReproCase, folder: Path, *, inside_bytes: int = INSIDE_BYTES) -> Path:
    """Fills `folder`, which is created, and returns it. The same case gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    total = sum(size_of(tensor) for tensor in case.piece.graph.initializer)
    write_external(
        case.piece.SerializeToString(deterministic=True),
        case.subject.data_folder,
        folder,
        "node",
        inside="weights" if total <= inside_bytes else "nothing",
    )
    for name, arrays in (("inputs", case.inputs), ("expected", case.expected), ("actual", case.actual)):
        write_arrays(folder / f"{name}.npz", arrays)
    (folder / "session.json").write_text(json.dumps(_session(case), indent=2) + "\n", encoding="utf-8", newline="\n")
    (folder / "README.txt").write_text(_readme(case), encoding="utf-8", newline="\n")
    shutil.copyfile(PROGRAM, folder / PROGRAM.name)
    return folder


def _session(case: ReproCase) -> dict[str, Any]:
    return {
        "runner": case.subject.side.label,
        "entries": dict(sorted(case.subject.side.settings.items())),
        "optimize": case.subject.is_optimized,
    }


def _readme(case: ReproCase) -> str:
    operators = ", ".join(dict.fromkeys(node.op_type for node in case.piece.graph.node))
    return f"""{case.words}

node.onnx      the nodes of '{case.subject.side.label}' at fault, alone: {operators}
inputs.npz     their inputs: the values of '{case.reference}', by name
expected.npz   the outputs of '{case.reference}'
actual.npz     the outputs of '{case.subject.side.label}'
session.json   ONNX Runtime's settings
reproduce.py   needs onnxruntime and numpy: runs node.onnx here, and prints how far it and
               actual.npz are from expected.npz: python reproduce.py
"""
