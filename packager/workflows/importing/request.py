"""Options of an import, as both processes read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packager.verification.parity.allclose import ATOL, RTOL

SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    source: str
    """a file, a folder, `module:function`, or a model of the hub, `hf:owner/name`"""
    folder: Path
    """what a relative `source` is relative to"""
    output: Path
    importer: str = ""
    """name of the plug-in; by default, the one that reads the source"""
    sample_count: int = SAMPLES
    samples: Path | None = None
    """.npz by input name, or a folder of them; by default, random inputs"""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """sizes of dynamic dimensions in random inputs"""
    rtol: float = RTOL
    atol: float = ATOL
    is_code_allowed: bool = False
    """whether code in the source may run"""
    is_layout_kept: bool = False
    """whether inputs and outputs stay channels last, where that costs a Transpose"""
    keep: Path | None = None
    """folder to keep the samples and the framework's outputs in"""
    is_forced: bool = False
    """whether the model is written even if its outputs differ"""
    is_strict: bool = False
    """whether warnings are errors"""
    is_updated: bool = False
    """whether a model of the hub is the newest, instead of the one in the lock"""
    fetched: Path | None = None
    """the model on the disk, if `source` names one of the hub"""


@dataclass(frozen=True, kw_only=True)
class ImportJob:
    """An import as passed to the framework's process."""

    importer: str
    text: str
    path: str
    folder: str
    """folder for the graph, `samples` and `recorded`"""
    samples: str
    """empty for random inputs"""
    sample_count: int
    sizes: dict[str, int]
    factor: int = 1
    """of the sizes of dynamic dimensions in random inputs"""
