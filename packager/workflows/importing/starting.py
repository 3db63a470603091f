"""Starts the framework's process in its environment."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import packager
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError, nearest
from packager.core.parsing import Json
from packager.files.processes import limits
from packager.files.processes.channel import ChildProgram, CrashError, raise_failure
from packager.files.processes.inherited import users_code
from packager.importers import IMPORTERS, Importer, ImportSource, Input
from packager.workflows.importing.request import ImportJob, ImportRequest
from packager.workflows.importing.sampling import HINT_SIZES

CHILD = "packager.workflows.importing.child"
MOUNT = f"""
import importlib.util, runpy, sys
spec = importlib.util.spec_from_file_location("packager", {str(packager.__file__)!r})
sys.modules["packager"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Program that makes mobpack, and no other package beside it, known to an isolated Python, and runs a module of it."""

CHECKPOINTS = (".pt", ".pth", ".ckpt", ".safetensors")
"""Suffixes of weights and pickles of PyTorch"""
HINT_CHECKPOINT = (
    "write a function that makes the model, loads the weights (of a dictionary, the part with the weights: "
    "model.load_state_dict(torch.load(file)['state_dict'])) and returns it; then mobpack export module:function"
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Result of the framework's process."""

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    sizes: tuple[dict[str, int], ...]
    """sizes of the dynamic dimensions, for each sample"""
    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    """shapes of the outputs, for each sample"""
    framework: str
    """name and version"""
    converter: str
    """name and version"""
    names: Mapping[str, str]
    """inputs and outputs in the graph -> their names"""


def importer_of(source: ImportSource, name: str = "") -> Importer:
    """The plug-in `name`, or else the one that reads `source`. Raises ConfigError if there is none."""
    if name:
        if name not in IMPORTERS:
            raise ConfigError(f"--from: unknown importer '{name}'", hint=nearest(name, IMPORTERS))
        return IMPORTERS[name]()
    found = [each() for each in IMPORTERS.values() if each().reads(source)]
    if not found and source.path.is_file() and not source.path.stat().st_size:
        raise ModelError(f"{source.text}: the file is empty", hint="save the model again")
    if not found and source.path.suffix in CHECKPOINTS:
        raise ConfigError(f"{source.text}: PyTorch needs the code of the model, too", hint=HINT_CHECKPOINT)
    if not found:
        forms = ", ".join(f"{each.NAME} ({each.SOURCES})" for each in IMPORTERS.values())
        raise ConfigError(f"{source.text}: no importer reads it", hint=f"importers: {forms}; --from names one")
    return found[0]


def run(importer: Importer, source: ImportSource, request: ImportRequest, scratch: Path, console: Console) -> Answer:
    """Runs the import in the importer's environment. Raises ToolError if that is missing, the error that the process
    reports, or ModelError if it crashes."""
    job: ImportJob | None = job_of(importer, source, request, scratch)
    answer: Json = {}
    while job:
        answer, job = _answered(importer, source, job, scratch, console)
    raise_failure(answer)
    return answer_of(answer)


def _answered(
    importer: Importer, source: ImportSource, job: ImportJob, scratch: Path, console: Console
) -> tuple[Json, ImportJob | None]:
    """The last line that the process prints; after a crash on random inputs, the job with larger ones."""
    answer: Json = {}
    larger = 0
    is_loaded = False
    with started(importer, job, scratch) as program:
        program.close_stdin()
        try:
            for answer in program.lines(limits.seconds(limits.SLOW)):
                if "warn" in answer:
                    console.warn(answer["warn"])
                is_loaded, larger = is_loaded or "loaded" in answer, answer.get("larger", larger)
        except CrashError as error:
            if larger:
                return {}, replace(job, factor=larger)
            what = "running" if is_loaded else "reading"
            hint = HINT_SIZES if is_loaded else "it may be damaged: save it again"
            raise ModelError(
                f"{importer.FRAMEWORK} crashed while {what} {source.text} ({error.signal})", hint=error.hint(hint)
            ) from error
        except limits.OverTimeError as error:
            raise error.as_error(f"{'running' if is_loaded else 'reading'} {source.text}") from error
    return answer, None


def answer_of(answer: Json) -> Answer:
    """The Answer in what the process has printed last."""
    return Answer(
        inputs=tuple(Input(**{**each, "shape": tuple(each["shape"])}) for each in answer["inputs"]),
        outputs=tuple(answer["outputs"]),
        sizes=tuple(answer["sizes"]),
        shapes=tuple(tuple(map(tuple, shapes)) for shapes in answer["shapes"]),
        framework=answer["framework"],
        converter=answer["converter"],
        names=answer["names"],
    )


def started(importer: Importer, job: ImportJob, scratch: Path) -> ChildProgram:
    """The process, in the environment of `importer`. Raises ToolError if that is not installed."""
    environment = importer.ENVIRONMENT
    if environment is None:
        return ChildProgram(["-m", CHILD], asdict(job), scratch, inherits=users_code(), is_limited=True)
    if missing := environment.missing():
        hint = environment.borrowed_from or f"mobpack doctor --install {environment.name}"
        raise ToolError(f"{importer.FRAMEWORK} is {missing}", hint=f"run: {hint}")
    command = (*environment.command(), "-c", MOUNT)
    variables = environment.variables()
    return ChildProgram(
        [CHILD],
        asdict(job),
        scratch,
        command=command,
        inherits=users_code(),
        environment=variables,
        is_limited=True,
    )


def job_of(importer: Importer, source: ImportSource, request: ImportRequest, scratch: Path) -> ImportJob:
    return ImportJob(
        importer=importer.NAME,
        text=source.text,
        path=str(source.path),
        folder=str(scratch),
        samples=str(request.folder / request.samples) if request.samples else "",
        sample_count=request.sample_count,
        sizes=dict(request.sizes),
    )
