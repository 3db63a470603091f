"""Imports of models on the disk, and of those that are named on the hub: these are fetched first, and locked."""

from dataclasses import replace
from pathlib import Path

from packager.core.console import Console
from packager.files.atomic import atomic_file
from packager.files.store import Store
from packager.workflows.conversion import writing
from packager.workflows.importing import hub, steps
from packager.workflows.importing.hub import lock
from packager.workflows.importing.request import ImportRequest
from packager.workflows.importing.steps import ImportResult

SHORT = 12
"""digits of a commit in texts"""


def run(request: ImportRequest, store: Store, console: Console) -> ImportResult:
    """Imports, compares and writes the model, and for one of the hub its lock, `OUTPUT.lock`. On failure, writes
    nothing and raises a MobpackError."""
    model = hub.parse(request.source)
    if model is None:
        return steps.run(request, store, console)
    writing.refuse_output(request.output)
    place = lock.place(request.output)
    known = None if request.is_updated else lock.read(place, request.source)
    with store.scratch() as scratch:
        found = hub.fetch(model, known, scratch, console)
    name = f"{request.source.partition('@')[0]}@{found.lock.commit[:SHORT]}"
    result = steps.run(replace(request, source=name, fetched=found.path), store, console)
    written = write(place, lock.text(found.lock))
    return replace(result, files=(*result.files, written))


def write(path: Path, text: str) -> Path:
    with atomic_file(path) as file:
        file.write(text.encode())
    return path
