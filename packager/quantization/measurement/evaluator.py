"""Scores graphs one after the other in one process: a search needs hundreds of scores."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from packager.contract.telling import to_json
from packager.core.contract import Contract
from packager.core.errors import ConfigError, ModelError
from packager.core.user_functions import is_function
from packager.files.processes import limits
from packager.files.processes.channel import ChildProgram, CrashError, raise_failure
from packager.files.processes.inherited import users_code
from packager.files.processes.limits import OverTimeError
from packager.quantization.measurement.child import ScoringJob
from packager.quantization.measurement.metrics import Score, has_own_data
from packager.quantization.measurement.subject import MeasuredGraph
from packager.samples import Samples

THREADS = 2


def _silent(done: int, total: int) -> None:
    """Ignores progress."""


class Evaluator:
    """Scores quantized graphs against the float one; used in a `with` block.

    `metric` is "sqnr" (dB over all float outputs), "cosine" (mean over samples), "top1" (share of rows with the largest
    number at the same index), all against the float model on `samples`; or "module:function", of `code_folder`, which
    gets predict(inputs) -> outputs and returns a number, higher is better, on data of its own.
    """

    def __init__(
        self,
        original: MeasuredGraph,
        metric: str,
        folder: Path,
        *,
        samples: Samples | None = None,
        code_folder: Path | None = None,
        threads: int = THREADS,
        progress: Callable[[int, int], None] = _silent,
        outputs: Path | None = None,
        contract: Contract | None = None,
    ) -> None:
        """`folder` is scratch space, `outputs` a folder with the float model's outputs that calibration recorded; more
        are written to it. `progress` gets the number of the float model's samples done and the total. Raises
        ConfigError for a metric that does not exist, or that needs samples."""
        if samples is None and not has_own_data(metric):
            raise ConfigError(
                f"metric '{metric}' needs samples", hint="name calibration samples, or validation samples"
            )
        self.metric, self.progress = metric, progress
        self.original: float = 0.0
        """score of the float model"""
        self.uncompared: tuple[str, ...] = ()
        """outputs that are empty, NaN or infinite on every sample"""
        self._folder = folder
        self._program: ChildProgram | None = None
        self._samples = samples or Samples(reader="", description={}, count=0)
        self._job = ScoringJob(
            original=str(original.written(folder / "original.onnx")),
            data_folder=str(original.data_folder),
            metric=metric,
            code_folder=str((code_folder or Path.cwd()).absolute()),
            reader=self._samples.reader,
            description=dict(self._samples.description),
            count=self._samples.count,
            folder=str(folder),
            reference=str(outputs or folder / "reference"),
            threads=threads,
            contract=to_json(contract) if contract else None,
        )

    def __enter__(self) -> "Evaluator":
        """Runs the float model. Raises ModelError or ConfigError if that fails."""
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._end(is_in_order=kind is None)

    def score(self, graph_file: Path, data_folder: Path) -> Score:
        """Score of the graph in `graph_file`, which `as_measured` should have adapted.

        Raises ModelError if ONNX Runtime refuses it or crashes on it, ConfigError if the user's metric fails; the next
        graph can be scored all the same.
        """
        program = self._program or self._start()
        try:
            longest_s = self._longest_s(self._samples.count)
            answer = program.ask({"graph": str(graph_file), "data_folder": str(data_folder)}, longest_s)
        except OverTimeError as error:
            self._end(is_in_order=False)
            raise error.as_error(self._measuring(graph_file.name, "the samples")) from error
        except CrashError as error:
            self._end(is_in_order=False)
            raise ModelError(
                f"ONNX Runtime crashed on {graph_file.name} ({error.signal}); other graphs are scored in a new process",
                hint=error.hint(
                    "skip this graph; if the float model crashes too, report it to ONNX Runtime with the model"
                ),
            ) from error
        raise_failure(answer)
        worst = answer.get("worst", {})
        return Score(metric=self.metric, value=answer["score"], original=self.original, **worst)

    def _start(self) -> ChildProgram:
        module = ["-m", "packager.quantization.measurement.child"]
        self._program = ChildProgram(module, asdict(self._job), self._folder, inherits=users_code(), is_limited=True)
        try:
            answer = self._program.answer(self._longest_s())
            while "done" in answer:
                self.progress(answer["done"], self._samples.count)
                answer = self._program.answer(self._longest_s())
            raise_failure(answer)
        except OverTimeError as error:
            self._end(is_in_order=False)
            raise error.as_error(self._measuring("the float model", "one sample")) from error
        except CrashError as error:
            self._end(is_in_order=False)
            raise ModelError(
                f"ONNX Runtime crashed while it ran the float model ({error.signal})",
                hint=error.hint("check that the model runs on one of the samples with onnxruntime alone"),
            ) from error
        except BaseException:
            self._end(is_in_order=False)
            raise
        self.original = answer["original"]
        self.uncompared = tuple(answer.get("uncompared", ()))
        return self._program

    def _measuring(self, graph: str, samples: str) -> str:
        return f"metric {self.metric} of {graph}" if is_function(self.metric) else f"running {graph} on {samples}"

    def _longest_s(self, samples: int = 1) -> float | None:
        """The longest time for a number of samples; a function of the user has data of its own."""
        return limits.seconds(limits.SLOW if is_function(self.metric) else samples)

    def _end(self, *, is_in_order: bool) -> None:
        if self._program:
            self._program.end(is_in_order=is_in_order)
        self._program = None
