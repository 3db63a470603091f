"""Runs XNNPACK: in the installed ONNX Runtime if that has it, else in ONNX Runtime's Android library on this
machine."""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments import CHILD, SIGNED
from packager.engines.environments.android import Android, ProbeInput, ProbeJob
from packager.engines.environments.runtime import shipped_version
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Loading, Outcome, Pace, Runnable, Session, Times, job

if TYPE_CHECKING:
    from numpy import ndarray

PROVIDER = "XnnpackExecutionProvider"
ELEMENTS = {
    "float32": "float",
    "float64": "double",
    **{name: name for name in ("uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16")},
}
"""numpy's names of types -> those of `environments/android_probe.py`."""
EACH_ALONE = "Android's library runs each sample in a process of its own here, which cannot be timed"
DTYPES = {element: name for name, element in ELEMENTS.items()}


@dataclass(frozen=True, kw_only=True)
class Xnnpack:
    NAME: ClassVar[str] = "xnnpack"
    OPENS: ClassVar[str] = "xnnpack"
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "XNNPACK, in the installed ONNX Runtime or in Android's"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        if _is_installed():
            return f"onnxruntime {version('onnxruntime')}"
        return " ".join([*Android().command(), *Android().variables().values()])

    def missing(self) -> str:
        return "" if _is_installed() else Android().missing()

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return "" if _is_installed() else EACH_ALONE

    def open(self, model: Runnable, folder: Path) -> Session:
        if _is_installed():
            host = Host(program=CHILD, words="ONNX Runtime {version}, XNNPACK")
            return ProcessSession(host, job(model, PROVIDER, SIGNED), folder)
        return AndroidSession(model, folder)


def _is_installed() -> bool:
    import onnxruntime

    return PROVIDER in onnxruntime.get_available_providers()


class AndroidSession:
    """A model in ONNX Runtime's Android library; each sample runs in a process of its own."""

    def __init__(self, model: Runnable, folder: Path) -> None:
        """Raises ModelError if the runtime refuses the model or crashes, ToolError if the environment is incomplete.

        Samples are written to `folder`.
        """
        self.loading = Loading()
        self._model = model
        self._folder = folder
        answer = Android().ask(model.path, _job(model, is_explained=True))
        counts = _placed(answer)
        if refusal := answer.get("error"):
            raise ModelError(f"the runtime cannot load the model: {refusal}", hint="mobpack inspect shows what it uses")
        if not counts.get(PROVIDER):
            raise ModelError(f"{PROVIDER} takes no node of it", hint="disable this runner for this model")
        self.about = f"ONNX Runtime {shipped_version()} for Android on {platform.machine()}, XNNPACK"
        # Each partition of an ORT-format file is one node.
        is_counted = model.path.suffix != ".ort"
        self.placed = counts[PROVIDER] if is_counted else None
        self.node_count = sum(counts.values()) if is_counted else None

    def run(self, sample: Path, folder: Path) -> Outcome:
        import numpy

        with numpy.load(sample) as arrays:
            feed = {name: arrays[name] for name in arrays.files}
        for name, array in feed.items():
            if array.dtype.name not in ELEMENTS:
                return Outcome(
                    outputs=None, error=f"input '{name}': the runner xnnpack does not support {_kind(array)}"
                )
        inputs = tuple(self._written(feed))
        answer = Android().ask(self._model.path, _job(self._model, inputs=inputs), outputs=folder)
        for index, output in enumerate(answer.get("outputs", ())):
            raw = Path(output["file"])
            array = numpy.fromfile(raw, DTYPES[output["type"]]).reshape(output["shape"])
            raw.unlink()
            numpy.save(folder / f"{index}.npy", array)
        error = answer.get("error", "")
        return Outcome(outputs=None if error else folder, error=error)

    def time(self, sample: Path, pace: Pace) -> Times:
        raise ToolError(EACH_ALONE, hint="time another runner")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing runs between two samples."""

    def _written(self, feed: "Mapping[str, ndarray[Any, Any]]") -> Iterator[ProbeInput]:
        """The inputs in the probe's format; those of the next sample replace them."""
        for index, (name, array) in enumerate(feed.items()):
            path = self._folder / f"input-{index}.bin"
            path.write_bytes(array.tobytes())
            kind = ELEMENTS[array.dtype.name]
            yield ProbeInput(name=name, type=kind, shape=array.shape, file=str(path))


def _job(model: Runnable, *, is_explained: bool = False, inputs: tuple[ProbeInput, ...] = ()) -> ProbeJob:
    return ProbeJob(
        provider=Xnnpack.NAME,
        entries={**SIGNED, **model.settings},
        data_folder=str(model.data_folder.absolute()) if model.data_folder else "",
        level="all" if model.is_optimized else "disabled",
        is_explained=is_explained,
        inputs=inputs,
    )


def _placed(answer: Json) -> dict[str, int]:
    """Provider -> number of nodes it takes."""
    if not answer.get("subgraphs") and answer.get("all_on"):
        return {answer["all_on"]: 1}
    counts: dict[str, int] = {}
    for group in answer.get("subgraphs", ()):
        counts[group["provider"]] = counts.get(group["provider"], 0) + len(group["nodes"])
    return counts


def _kind(array: "ndarray[Any, Any]") -> str:
    return "strings" if array.dtype.kind in "UO" else str(array.dtype)
