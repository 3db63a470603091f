"""Cost of loading a model on Android, by the form its weights ship in: `python -m benchmarks.loading MODEL...`.

Measured in ONNX Runtime's own Android x86_64 library, one process for each number; memory is what the process has
more than before it loaded the model. Pages of a mapped file that were read count as resident but can be taken back.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy
import onnx

from packager.compile import session
from packager.engines.environments.android import Android, ProbeInput, ProbeJob
from packager.files.processes import commands
from packager.files.user_cache import cache_folder

MAPPED_ORT = {
    "session.load_model_format": "ORT",
    "session.use_ort_model_bytes_directly": "1",
    "session.use_ort_model_bytes_for_initializers": "1",
}
UNPACKED = {"session.disable_prepacking": "1"}
REPEATS = 5


@dataclass(frozen=True, kw_only=True)
class Form:
    """A file and how it is opened."""

    name: str
    path: Path
    job: ProbeJob


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Medians over processes of their own; memory in MiB above what the process had before."""

    form: str
    load_ms: float
    peak_mib: float
    resident_mib: float
    private_mib: float
    first_run_ms: float
    warm_run_ms: float
    run_private_mib: float


def measured(model: Path, folder: Path, *, repeats: int = REPEATS) -> list[Cost]:
    """Loads and runs each form of `model`; the forms are written to `folder`."""
    inputs = random_inputs(model, folder)
    return [cost(form, inputs, repeats) for form in forms(model, folder)]


def forms(model: Path, folder: Path) -> Iterator[Form]:
    skeleton, ort = folder / "skeleton.onnx", folder / "model.ort"
    onnx.save(onnx.load(model), skeleton, save_as_external_data=True, location="weights.bin", size_threshold=1024)
    to_ort(model, ort, folder)
    yield Form(name=".onnx", path=model, job=ProbeJob(level="all"))
    yield Form(name=".onnx, not packed", path=model, job=ProbeJob(level="all", entries=UNPACKED))
    yield Form(name=".ort", path=ort, job=ProbeJob(level="all"))
    yield Form(name=".ort mapped", path=ort, job=ProbeJob(level="all", is_mapped=True, entries=MAPPED_ORT))
    yield Form(
        name=".ort mapped, not packed",
        path=ort,
        job=ProbeJob(level="all", is_mapped=True, entries=MAPPED_ORT | UNPACKED),
    )
    yield Form(name="skeleton + weights", path=skeleton, job=ProbeJob(level="all"))
    yield Form(name="skeleton + weights, not packed", path=skeleton, job=ProbeJob(level="all", entries=UNPACKED))
    yield Form(
        name="skeleton as bytes + weights, not packed",
        path=skeleton,
        job=ProbeJob(level="all", is_mapped=True, data_folder=str(folder), entries=UNPACKED),
    )


def to_ort(model: Path, output: Path, folder: Path) -> None:
    job = {
        "graph": str(model),
        "data_folder": "",
        "output": str(output),
        "entries": {"session.save_model_format": "ORT", "session.disable_prepacking": "1"},
        "level": "all",
        "disabled_optimizers": ["NchwcTransformer"],
        "provider": "CPUExecutionProvider",
    }
    answer = commands.run_job([Path(session.__file__)], job, folder, crash="ONNX Runtime crashed", hint="")
    if "error" in answer:
        raise RuntimeError(answer["error"])


def random_inputs(model: Path, folder: Path) -> list[ProbeInput]:
    """Zeros and ones; a dimension without a size is 1 if it is the first, else 128."""
    graph = onnx.load(model, load_external_data=False).graph
    weights = {each.name for each in graph.initializer}
    inputs: list[ProbeInput] = []
    for index, each in enumerate(value for value in graph.input if value.name not in weights):
        tensor = each.type.tensor_type
        shape = [size.dim_value or (128 if axis else 1) for axis, size in enumerate(tensor.shape.dim)]
        element = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        file = folder / f"input-{index}.bin"
        file.write_bytes(numpy.random.default_rng(index).integers(0, 2, shape).astype(element).tobytes())
        names = {"float32": "float", "float64": "double"}
        inputs.append(
            ProbeInput(name=each.name, type=names.get(element.name, element.name), shape=tuple(shape), file=str(file))
        )
    return inputs


def cost(form: Form, inputs: list[ProbeInput], repeats: int) -> Cost:
    job = replace(form.job, is_explained=False, inputs=inputs, warm_runs=3)
    answers = [Android().probe(form.path, job) for _ in range(repeats)]

    def mib(when: str, what: str) -> float:
        return float(statistics.median(each[when][what] - each["before_kib"][what] for each in answers)) / 1024

    return Cost(
        form=form.name,
        load_ms=statistics.median(each["load_ms"] for each in answers),
        peak_mib=mib("loaded_kib", "peak"),
        resident_mib=mib("loaded_kib", "resident"),
        private_mib=mib("loaded_kib", "private"),
        first_run_ms=statistics.median(each["run_ms"][0] for each in answers),
        warm_run_ms=statistics.median(statistics.median(each["run_ms"][1:]) for each in answers),
        run_private_mib=mib("run_kib", "private"),
    )


def print_table(model: Path, costs: Iterable[Cost], *, digits: int = 0) -> None:
    print(f"{model.name}, {model.stat().st_size / 2**20:.0f} MiB")
    print("| form | load ms | peak MiB | resident | private | first run ms | warm ms | private after runs |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for each in costs:
        _, *numbers = astuple(each)
        print(f"| {each.form} | " + " | ".join(f"{number:.{digits}f}" for number in numbers) + " |")


def main() -> int:
    for argument in sys.argv[1:]:
        model = Path(argument)
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            print_table(model, measured(model, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
