"""Asks Android's ONNX Runtime on this machine which nodes of a file a provider takes."""

from pathlib import Path

from packager.engines.environments.android import Android, ProbeJob
from packager.engines.environments.runtime import shipped_version
from packager.engines.session.refusals import explain
from packager.files.atomic import link_or_copy
from packager.providers import provider_of
from packager.verification.partition.measured import SESSION_ENTRIES, OfferedNodes, assignment, mark


def measure_on_android(model: Path, provider: str, scratch: Path) -> OfferedNodes:
    """Like `measured.measure`, for the ONNX file `model` whose external data lie beside it.

    NNAPI's drivers are not here: this measures which nodes its provider hands over, not what a phone's driver does with
    them. Raises ToolError if the environment is missing, ModelError if the library crashes on the model.
    """
    marked = mark(model, model.parent, scratch)
    for file in marked.data_folder.iterdir():
        if file.is_file() and not (scratch / file.name).exists():
            link_or_copy(file, scratch / file.name)
    asked, device = provider_of(provider), Android()
    job = ProbeJob(provider=provider, options=asked.placement_options(), entries=SESSION_ENTRIES)
    answer = device.ask(marked.path, job)
    words = asked.ANDROID_CHECK.format(api_level=device.nnapi_feature_level)
    by = f"ONNX Runtime {shipped_version()} for Android, {words}"
    return assignment(answer, marked, by=by, refusal=explain(answer.get("error", "")))
