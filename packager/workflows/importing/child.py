"""Loads a model in its framework, records its outputs and converts it; a process of its own, in the framework's
environment (`starting.py`).

It reads the JSON of a `ImportJob` and prints JSON lines: `{"warn": text}` for each warning, then the keys of
`starting.Answer`, or `{"failed": class in packager.core.errors, "message", "hint"}`. The job's folder receives
`graph.onnx`, with its weights beside it, and `samples` and `recorded`, with one file per sample.
"""

import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from packager.core.errors import MobpackError, ModelError
from packager.files.atomic import NO_SPACE
from packager.files.processes.channel import Channel
from packager.importers import IMPORTERS, ImportSource
from packager.workflows.importing import sampling
from packager.workflows.importing.request import ImportJob

GRAPH = "graph.onnx"
Say = Callable[[Mapping[str, object]], None]


def imported(job: ImportJob, say: Say) -> dict[str, object]:
    """Every step that needs the framework. Raises MobpackError."""
    importer = IMPORTERS[job.importer]()
    source = ImportSource(text=job.text, path=Path(job.path))
    with in_words(f"{importer.FRAMEWORK} cannot load {job.text}", "it may be damaged, or from another version"):
        loaded = importer.load(source)
    recorded = sampling.record(loaded, job, say)
    with in_words(f"the converter cannot write {job.text} as ONNX", "it has no ONNX for a part of the model"):
        converted = loaded.convert(Path(job.folder) / GRAPH)
    return {
        "inputs": [asdict(each) for each in loaded.inputs],
        "outputs": list(recorded.outputs),
        "sizes": recorded.sizes,
        "shapes": recorded.shapes,
        "framework": loaded.made_with,
        "converter": converted.converter,
        "names": dict(converted.names),
    }


@contextlib.contextmanager
def in_words(what: str, hint: str) -> Iterator[None]:
    """Makes a ModelError of any exception in the block but our own and those of a full disk or memory."""
    try:
        yield
    except (MobpackError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            raise
        raise ModelError(f"{what}: {type(error).__name__}: {sampling.reason(error)}", hint=hint) from error


def main() -> int:
    job = ImportJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()
    warnings.simplefilter("ignore")  # those of frameworks concern their internals
    logging.disable(logging.WARNING)
    with contextlib.chdir(job.folder):  # files that a framework writes into the current folder stay out of the user's
        channel.answer(lambda: imported(job, channel.say))
    return 0


if __name__ == "__main__":
    sys.exit(main())
