"""Names of models on the hub."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from packager.core.errors import ConfigError

PREFIXES = ("hf:", "zoo:")
ZOO = "onnxmodelzoo"
"""the account that the ONNX Model Zoo moved to"""
PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
NAME = re.compile(rf"(?P<repository>{PART}/{PART})(?:@(?P<revision>{PART}))?(?:/(?P<file>.+))?")


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """A model in a repository of the hub."""

    text: str
    """as the user has given it"""
    repository: str
    """`owner/name`"""
    revision: str
    """branch, tag or commit; empty for the main branch"""
    file: str
    """path in the repository; empty if the repository has one model"""


def parse(source: str) -> HubModel | None:
    """The model that `source` names; None for a source on the disk. Raises ConfigError for what cannot be a name."""
    prefix, _, rest = source.partition(":")
    if f"{prefix}:" not in PREFIXES:
        return None
    found = NAME.fullmatch(f"{ZOO}/{rest}" if prefix == "zoo" else rest)
    file = (found["file"] or "") if found else ""
    if found is None or not is_inside(file):
        example = "zoo:resnet50_Opset17" if prefix == "zoo" else "hf:owner/name, hf:owner/name@v1.0/onnx/model.onnx"
        raise ConfigError(f"{source}: not the name of a model on the hub", hint=f"for example: {example}")
    return HubModel(text=source, repository=found["repository"], revision=found["revision"] or "", file=file)


def is_inside(path: str) -> bool:
    """Whether a path of the hub stays below the folder that it is relative to, on every system."""
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and ".." not in parts and not re.search(r'[\\:*?"<>|\x00-\x1f]', path)
