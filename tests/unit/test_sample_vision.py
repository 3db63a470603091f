"""sample_apps/vision: the command that its README names, and the network that it writes."""

import importlib.util
import pickle
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.toolchain import vision

ROOT = Path(__file__).parents[2]


@cache
def script() -> ModuleType:
    """classifier.py as a module."""
    spec = importlib.util.spec_from_file_location("vision_classifier", ROOT / vision.FOLDER / "classifier.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("call", [b"cos\nsystem\n", b"cbuiltins\neval\n", b"ctorch\nHalfStorage\n"])
def test_weights_that_would_run_something_are_refused(call: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(b"".join(pickle.dumps(each) for each in (1, 2, 3)) + call + b"(S'true'\ntR.")
    with pytest.raises(pickle.UnpicklingError, match="has no place among weights"):
        script().weights(path)
