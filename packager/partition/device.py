"""Which nodes of a file a provider of Android's ONNX Runtime takes, asked of that library itself, on this machine."""

from pathlib import Path
from typing import Literal

from packager.atomic import link_or_copy
from packager.environments.android import Android, ProbeJob
from packager.errors import ModelError
from packager.partition.measured import SESSION_ENTRIES, Assignment, assignment, mark
from packager.providers import PROVIDERS

DeviceProvider = Literal["xnnpack", "nnapi"]
WORDS: dict[DeviceProvider, str] = {
    "xnnpack": "ONNX Runtime {} for Android, XNNPACK",
    "nnapi": "ONNX Runtime {} for Android, NNAPI provider, drivers of API level {} that take all",
}
"""Provider -> what measured, in words."""


def measure_on_android(model: Path, provider: DeviceProvider, scratch: Path) -> Assignment:
    """As `measured.measure`, for the ONNX file `model` whose external data lie beside it.

    NNAPI's drivers are not here: what its provider hands over is measured, what a phone's driver makes of it is not.
    Raises ToolError where the environment is missing, ModelError where the library refuses the model.
    """
    marked = mark(model, None, scratch)
    for file in marked.data_folder.iterdir():
        if file.is_file() and not (scratch / file.name).exists():
            link_or_copy(file, scratch / file.name)
    options = PROVIDERS[provider]().options() if provider == "nnapi" else {}
    device = Android()
    job = ProbeJob(provider=provider, options=options, entries=SESSION_ENTRIES)
    try:
        answer = device.probe(marked.path, job)
    except ModelError as error:
        raise ModelError(error.message.replace(str(marked.path), model.name), hint=error.hint) from error
    return assignment(answer, marked, by=WORDS[provider].format(answer["version"], device.nnapi_feature_level))
