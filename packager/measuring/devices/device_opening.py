"""Requests to open a model on a device: a file on its own, or a model of a package through its own class."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.engines.runners import Runnable
from packager.files.hashes import sha256_of
from packager.measuring.devices.link import Device, DeviceProgram, Link
from packager.measuring.devices.storage import DeviceStorage
from packager.models.weights import external_tensors

ANSWER_S = 300.0
"""Longest time to open a model, or to run it once."""
ORT = ".ort"
FORMATS: Mapping[bool, Mapping[str, str]] = {
    True: {"session.load_model_format": "ORT"},
    False: {"session.load_model_format": "ONNX"},
}
"""Whether a file is in ORT format -> the configuration that says so: on a device its name is its sha256."""


@dataclass(frozen=True, kw_only=True)
class Equipped:
    """A device that has the program, and how it is started there."""

    link: Link
    device: Device
    abi: str
    storage: DeviceStorage
    program: DeviceProgram
    assignment_class: str = ""
    """class of the package that tells which provider took which node; empty if there is none"""
    copied_bytes: int = 0
    """that were copied to equip it"""
    timeout_s: float = ANSWER_S


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A request to open a model."""

    words: Mapping[str, str]
    what: str
    """in errors"""
    temporary: tuple[str, ...] = ()
    """paths on the device that go with the session"""


def of_file(
    equipped: Equipped,
    model: Runnable,
    provider: str,
    *,
    options: Mapping[str, str],
    entries: Mapping[str, str],
    is_kept: bool,
) -> Opening:
    """Copies a model file to the device, and asks to open it with ONNX Runtime's own classes. Unless it `is_kept`, it
    is removed from there when the session ends."""
    place = equipped.storage.file(sha256_of(model.path))
    equipped.storage.put({place: model.path})
    settings = {**FORMATS[model.path.suffix == ORT], **entries, **model.settings}
    words = {
        "path": f"{equipped.storage.home}/{place}",
        "provider": provider,
        "optimize": str(int(model.is_optimized)),
        "threads": str(1 if model.threads is None else model.threads),
        **{f"entry.{key}": text for key, text in settings.items()},
        **{f"option.{key}": text for key, text in options.items()},
    }
    if equipped.assignment_class:
        words["assignment"] = equipped.assignment_class
    if named := _weights(model):
        folder, files = equipped.storage.libraries(named)
        equipped.storage.put(files)
        words["weights"] = f"{equipped.storage.home}/{folder}"
    temporary = () if is_kept else (words["path"],)
    return Opening(words=words, what=model.path.name, temporary=temporary)


def _weights(model: Runnable) -> dict[str, Path]:
    """Name -> file with weights that a graph refers to, of those in its folder of data."""
    if model.data_folder is None or model.path.suffix == ORT:
        return {}
    import onnx
    from onnx.external_data_helper import ExternalDataInfo

    proto = onnx.load(model.path, load_external_data=False)
    names = {ExternalDataInfo(tensor).location for tensor in external_tensors(proto)}
    return {name: model.data_folder / name for name in sorted(names)}


def of_package(
    equipped: Equipped,
    class_name: str,
    provider: str,
    data: str,
    *,
    threads: int = 0,
    options: Mapping[str, str] | None = None,
    is_proved: bool = False,
) -> Opening:
    """Asks a class of the package to load its model with `provider`, proved if that is wanted. What it keeps goes to
    the folder `data`."""
    words = {
        "class": class_name,
        "provider": provider.upper(),
        "threads": str(threads),
        "data": data,
        "libraries": equipped.program.libraries,
        **{f"option.{key}": text for key, text in (options or {}).items()},
        **({"proof": "1"} if is_proved else {}),
    }
    return Opening(words=words, what=class_name.rpartition(".")[2])
