"""Opens the models of this package."""

import hashlib
from importlib.resources import files

from onnxruntime import InferenceSession


def opened(name: str, sha256: str) -> InferenceSession:
    """A session of the model in the file `name`. Raises ValueError if the file is not the one of this package."""
    content = files(__package__).joinpath("models", name).read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError(f"{name} is damaged: install the package again")
    return InferenceSession(content, providers=["CPUExecutionProvider"])
