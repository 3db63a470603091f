"""Computes the moments of values: the sum of x x^T over their rows x, in a process that runs the samples."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from packager.files.processes import limits
from packager.files.processes.channel import run_with_progress
from packager.files.processes.inherited import users_code
from packager.files.store import Step, Store, key_of
from packager.quantization.calibration.calibrate import READERS
from packager.quantization.calibration.moments_child import MomentsJob, file_name
from packager.samples import Samples

MOMENTS = Step(
    name="moments", caller=__name__, computed_by=(__name__, "packager.quantization.calibration.moments_child", READERS)
)


@dataclass(frozen=True, kw_only=True)
class MomentsRequest:
    graph: bytes
    """serialized ModelProto in floating point with external references"""
    weights_sha256: str
    """of the model's file and its external data"""
    data_folder: Path
    """of the external data"""
    widths: Mapping[str, int]
    """value -> numbers in a row"""
    samples: Samples
    threads: int = 2

    @property
    def key(self) -> list[object]:
        """The inputs of the result in the store."""
        return [
            key_of(self.graph.hex()),
            self.weights_sha256,
            dict(self.widths),
            self.samples.fingerprint,
            self.samples.count,
            version("onnxruntime"),
        ]


def moments_of(request: MomentsRequest, store: Store, progress: Callable[[int, int], None]) -> Mapping[str, Path]:
    """Value -> .npy file of its moments. Raises ConfigError for samples that cannot be used, ModelError for values that
    are not finite."""
    names = list(request.widths)

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            _run(request, names, scratch, folder, progress)

    found = store.results(MOMENTS, request.key, make)
    return {name: found / file_name(number) for number, name in enumerate(names)}


def _run(
    request: MomentsRequest, names: list[str], scratch: Path, folder: Path, progress: Callable[[int, int], None]
) -> None:
    graph = scratch / "graph.onnx"
    graph.write_bytes(request.graph)
    values = scratch / "values"
    values.mkdir()
    job = MomentsJob(
        graph=str(graph),
        data_folder=str(request.data_folder),
        names=names,
        widths=[request.widths[name] for name in names],
        reader=request.samples.reader,
        description=dict(request.samples.description),
        count=request.samples.count,
        threads=request.threads,
        scratch=str(values),
        folder=str(folder),
    )
    run_with_progress(
        "packager.quantization.calibration.moments_child",
        asdict(job),
        scratch,
        lambda done: progress(done, len(names)),
        crash="ONNX Runtime crashed while it ran the calibration samples",
        hint="check that the model runs on one of the samples with onnxruntime alone",
        inherits=users_code(),
        longest_s=limits.seconds(),
    )
