"""Models of other frameworks in projects: imported once, and kept in the store by content."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packager.config import ImporterTable, ModelTable
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError
from packager.core.user_functions import is_function
from packager.files.atomic import link_or_copy
from packager.files.hashes import known_sha256, sha256_of
from packager.files.store import Step, Store
from packager.importers import IMPORTERS, Importer, ImportSource
from packager.models.skeleton import READABLE
from packager.workflows.importing import starting, steps
from packager.workflows.importing.hub.naming import PREFIXES
from packager.workflows.importing.request import ImportRequest

IMPORTS = Step(
    name="imports",
    caller=__name__,
    computed_by=("packager.workflows.importing.steps", starting.CHILD),
)
ONNX = ".onnx"


def is_imported(path: Path, table: ImporterTable) -> bool:
    """Whether the model at `path` is one of another framework: an importer is named, or one reads it that is not for
    .onnx files."""
    if table.name or path.suffix == ONNX:
        return bool(table.name)
    try:
        source = source_of(path)
        return any(each().reads(source) for each in IMPORTERS.values())
    except OSError:  # a name that the system cannot have: whoever opens the model says so
        return False


def framework_of(path: Path, table: ImporterTable) -> str:
    """Name of the framework that a model is imported from; empty for one that is not imported."""
    return importer_of(path, table).FRAMEWORK if is_imported(path, table) else ""


def runs_code(path: Path, table: ImporterTable) -> bool:
    """Whether loading the model can run code."""
    return is_imported(path, table) and (is_code(path) or importer_of(path, table).RUNS_CODE)


def importer_of(path: Path, table: ImporterTable) -> Importer:
    return starting.importer_of(source_of(path), table.name)


def source_of(path: Path) -> ImportSource:
    """The source that an absolute path of a project means: a file, a folder, or a function of a module beside it."""
    return ImportSource(text=path.name, path=path.parent if is_code(path) else path)


def is_code(path: Path) -> bool:
    """Whether the last part is `module:function`."""
    return is_function(path.name) and not path.exists()


def refuse_names(name: str, path: Path) -> None:
    """Raises ConfigError for the name of a model on the hub: builds read the disk alone."""
    for place, part in enumerate(path.parts):
        if part.startswith(PREFIXES) and not path.exists():
            source = "/".join(path.parts[place:])
            raise ConfigError(
                f"model.{name}.path: {source} is on the hub, and a build reads files alone",
                hint=f"run mobpack import {source} -o {name}.onnx, and name that file",
            )


def refuse_absent(path: Path) -> None:
    """Raises ModelError for a model that does not exist. Functions and names of the hub have errors of their own."""
    is_name = is_code(path) or any(part.startswith(PREFIXES) for part in path.parts)
    try:
        is_there = is_name or path.exists()
    except OSError:  # a name that no file can have: reading it says why
        return
    if not is_there:
        raise ModelError(f"{path}: no such file or directory", hint=READABLE)


def onnx_of(name: str, table: ModelTable, store: Store, console: Console) -> Path:
    """The ONNX file of a model: its own, or the one that was imported for the same content. Raises MobpackError."""
    refuse_names(name, table.path)
    if not is_imported(table.path, table.importer):
        return table.path
    if table.encoder or table.with_past:
        raise ConfigError(f"model.{name}: encoders are read from .onnx files only", hint="import both parts first")
    source = source_of(table.path)
    importer = starting.importer_of(source, table.importer.name)
    request = ImportRequest(
        source=source.text,
        folder=table.path.parent,
        output=Path(f"{source.path.stem}{ONNX}" if not is_code(table.path) else f"{name}{ONNX}"),
        importer=importer.NAME,
        samples=table.importer.samples,
        sizes=table.importer.sizes,
        is_layout_kept=table.importer.keep_layout,
        is_code_allowed=table.importer.allow_code,
    )
    steps.refuse(importer, source, request)
    if is_code(table.path):  # what a function reads is not known: it is called for every build
        with store.scratch() as scratch:
            made_in(request, scratch, store, console)
            return kept(scratch, [sha256_of(scratch / request.output)], store) / request.output
    inputs: list[object] = [str(request.output), importer.NAME, environment_of(importer), dict(request.sizes)]
    inputs += [request.is_layout_kept]
    inputs += [contents(path) for path in (source.path, request.samples) if path]
    made = store.results(IMPORTS, inputs, lambda folder: made_in(request, folder, store, console))
    return made / request.output


def made_in(request: ImportRequest, folder: Path, store: Store, console: Console) -> None:
    steps.run(replace(request, output=folder / request.output), store, console)


def kept(folder: Path, inputs: Sequence[str], store: Store) -> Path:
    """The files of `folder` in the store."""

    def copy(made: Path) -> None:
        for file in files_in(folder):
            link_or_copy(file, made / file.name)

    return store.results(IMPORTS, list(inputs), copy)


def environment_of(importer: Importer) -> str:
    """The lock of the framework: another version, another import."""
    return importer.ENVIRONMENT.lock.read_text(encoding="utf-8") if importer.ENVIRONMENT else ""


def contents(path: Path) -> dict[str, str]:
    """sha256 of a file, or of every file of a folder, by relative path."""
    return {each.relative_to(path).as_posix(): known_sha256(each) for each in sorted(files_in(path))}


def files_in(path: Path) -> Iterator[Path]:
    return (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else iter((path,))
