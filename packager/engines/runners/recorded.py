"""Reads outputs that were saved before a model became ONNX, instead of computing them."""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from packager.core.errors import ConfigError, ToolError
from packager.core.user_files import opened
from packager.engines.runners.runner import ORIGINAL, Loading, Outcome, Pace, Runnable, Session, Times
from packager.files.zips import DAMAGE, ONE_SAMPLE, opened_zip

HINT = "save them with numpy.savez(file, output_name=array) under the name of the sample, sample-0.npz for sample-0.npz"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    NAME: ClassVar[str] = "recorded"
    OPENS: ClassVar[str] = ORIGINAL
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "outputs that the model gave before it was exported, from [parity] recorded"

    folder: str
    """folder with an .npz for each sample, keyed by output name; empty if the user named none"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # the recordings are files of the user's, which change

    def missing(self) -> str:
        if not self.folder:
            return "[parity] recorded names no outputs"
        return "" if Path(self.folder).is_dir() else f"[parity] recorded: no such folder: {self.folder}"

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return "nothing runs"

    def open(self, model: Runnable, folder: Path) -> Session:
        return RecordedSession(Path(self.folder), model.path)


class RecordedSession:
    about = "recorded outputs"
    placed: int | None = None
    node_count: int | None = None
    loading = Loading()

    def __init__(self, recordings: Path, graph: Path) -> None:
        """`graph` determines the order of outputs."""
        import onnx

        proto = onnx.ModelProto.FromString(graph.read_bytes())
        self._names = [output.name for output in proto.graph.output]
        self._recordings = recordings

    def run(self, sample: Path, folder: Path) -> Outcome:
        """Raises ConfigError if nothing was recorded for `sample`, or not all outputs."""
        import numpy

        path = self._recordings / sample.name
        try:
            with opened(path) as file, opened_zip(file, ONE_SAMPLE), numpy.load(file) as arrays:
                found = {name: arrays[name] for name in arrays.files}
        except (*DAMAGE, MemoryError) as error:
            raise ConfigError(
                f"[parity] recorded: cannot read {path}: {error or 'it is damaged'}", hint=HINT
            ) from error
        if missing := [name for name in self._names if name not in found]:
            raise ConfigError(
                f"{path} has no output '{missing[0]}'; it has {', '.join(sorted(found)) or 'none'}", hint=HINT
            )
        for index, name in enumerate(self._names):
            numpy.save(folder / f"{index}.npy", found[name])
        return Outcome(outputs=folder)

    def time(self, sample: Path, pace: Pace) -> Times:
        raise ToolError("recorded outputs have no times", hint="time another runner")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""
