"""A model converted as a build converts it, for bisections."""

from pathlib import Path
from typing import Any

import onnx
import onnx.numpy_helper

from packager.engines.runners.cpu import Cpu
from packager.verification.bisection import Side
from tests.cases.onnx_text import compiled


def converted(folder: Path, model: onnx.ModelProto, label: str, **settings: Any) -> Side:
    made = compiled(folder / label, model)
    given = {"runner": Cpu(), "settings": made.settings, **settings}
    return Side(label=label, path=made.path, data_folder=None, **given)
