"""Facts about a worker, which it tells of itself: what it runs, and what it can do."""

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packager import __version__
from packager.engines.runners import RUNNERS
from packager.files.store import key_of
from packager.files.store.closure import INSTALLED, content_of
from packager.measuring.fleet.security import trusted_by

MACOS, ARM64, GPU = "macos", "arm64", "gpu"


@dataclass(frozen=True, kw_only=True)
class WorkerAbout:
    mobpack: str
    code: str
    """digest of mobpack's modules: one that was changed by hand counts as another version"""
    python: str
    abilities: tuple[str, ...] = ()
    """resources that it has by its nature"""
    runners: Mapping[str, str] = field(default_factory=dict)
    """runner -> why it cannot run here; empty if it can"""
    unseen: tuple[str, ...] = ()
    """files that it was asked for and does not see"""
    trusts: str = ""
    """from whom it takes code, in words; empty for a process that is not a worker"""


def about(runners: Sequence[str] = (), files: Sequence[str] = (), dask_worker: Any = None) -> WorkerAbout:
    """Facts about this process; `files` are paths that it needs to see. Dask gives `dask_worker`, by its name,
    where this process is a worker."""
    return WorkerAbout(
        mobpack=__version__,
        code=_code(),
        python=f"{platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}",
        abilities=tuple(_abilities()),
        runners={name: _missing(name) for name in runners},
        unseen=tuple(name for name in files if not Path(name).exists()),
        trusts=trusted_by(dask_worker) if dask_worker else "",
    )


def _code() -> str:
    modules = sorted(path for path in INSTALLED.package.rglob("*") if path.suffix == ".py")
    return key_of([[INSTALLED.name(path), key_of(content_of(path).hex())] for path in modules])


def _missing(name: str) -> str:
    reasons = [each.missing() for each in RUNNERS[name]("")]
    return "" if not all(reasons) else "; ".join(dict.fromkeys(filter(None, reasons)))


def _abilities() -> list[str]:
    found = {
        MACOS: sys.platform == "darwin",
        ARM64: platform.machine() in ("arm64", "aarch64"),
        GPU: shutil.which("nvidia-smi") is not None,
    }
    return [name for name, is_there in found.items() if is_there]
