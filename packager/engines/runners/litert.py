"""Runs LiteRT on the .tflite file that a model was made from: the original's own numbers, before any conversion."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.litert import LiteRt as Environment
from packager.engines.runners import engines
from packager.engines.runners.runner import ORIGINAL, Runnable, Session

CHILD = Path(__file__).with_name("litert_child.py")
SUFFIX = ".tflite"


@dataclass(frozen=True, kw_only=True)
class LiteRt:
    NAME: ClassVar[str] = "litert"
    OPENS: ClassVar[str] = ORIGINAL
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = "LiteRT"
    about: ClassVar[str] = "LiteRT on the .tflite file beside a model, from which it was made"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # the .tflite file is no part of the model

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        if model.source is None:
            return f"it opens only {SUFFIX} files that lie beside a model"
        beside = model.source.with_suffix(SUFFIX)
        return "" if beside.is_file() else f"there is no {beside.name} beside {model.source.name}"

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        assert model.source
        job = {
            **engines.described(model, folder),
            "engine": str(CHILD),
            "threads": model.threads or 0,
            "model": str(model.source.with_suffix(SUFFIX).absolute()),
        }
        return engines.served(job, Environment(), folder)
