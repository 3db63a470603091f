"""Models that are open on a device: files on their own, or the models of a package through its own classes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from packager.core.errors import ModelError, ToolError
from packager.devices import values
from packager.devices.conversation import Conversation
from packager.devices.link import Device, GoneError, Link, Start
from packager.devices.storage import Storage
from packager.files.hashes import sha256_of
from packager.models.weights import external_tensors
from packager.runners import Loading, Outcome, Pace, Runnable, Times
from packager.samples.sample import arrays_of

if TYPE_CHECKING:
    pass

ANSWER_S = 300.0
"""Longest time to open a model, or to run it once."""
ORT = ".ort"
FORMATS: Mapping[bool, Mapping[str, str]] = {
    True: {"session.load_model_format": "ORT"},
    False: {"session.load_model_format": "ONNX"},
}
"""Whether a file is in ORT format -> the configuration that says so: on a device its name is its sha256."""
MISSING = re.compile(r"is not supported in this build|no provider|UnsatisfiedLinkError|dlopen failed", re.IGNORECASE)
"""In messages about a provider or a library that the runtime lacks."""


@dataclass(frozen=True, kw_only=True)
class Equipped:
    """A device that has the program, and how it is started there."""

    link: Link
    device: Device
    abi: str
    storage: Storage
    program: Start
    assignment_class: str = ""
    """class of the package that tells which provider took which node; empty if there is none"""
    copied_bytes: int = 0
    """that were copied to equip it"""
    timeout_s: float = ANSWER_S


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One round of times on a device, with what is measured besides."""

    times: Times
    first_ns: int = 0
    """of the first run after the load"""
    pss_bytes: int | None = None
    """its share of the memory that it uses, at the end"""
    mapped_bytes: int | None = None
    """of the files of models that it has mapped"""


@dataclass(frozen=True, kw_only=True)
class Assigned:
    provider: str
    nodes: int
    macs: int = 0
    """multiply-accumulates in them, as far as the build has counted"""


@dataclass(frozen=True, kw_only=True)
class About:
    """A model that is open."""

    runtime: str
    provider: str
    """that started"""
    fallbacks: tuple[str, ...] = ()
    """why others did not, as text"""
    assigned: tuple[Assigned, ...] | None = None
    """nodes of each provider; None if ONNX Runtime does not tell"""
    file: str = ""
    sha256: str = ""
    size_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class OutputTest:
    """An output of a sample, compared on the device with the values of the build machine."""

    name: str
    sample: int
    max_abs_error: float
    max_rel_error: float
    scale: float
    mismatch_count: int
    tolerance: float
    absolute_tolerance: float
    failure: str
    """empty if it passed"""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A request to open a model."""

    words: Mapping[str, str]
    what: str
    """in errors"""
    temporary: tuple[str, ...] = ()
    """paths on the device that go with the session"""


class DeviceSession:
    """A model that is open on a device, in a process of its own; follows the protocol of a runner's session."""

    def __init__(self, equipped: Equipped, opening: Opening, folder: Path) -> None:
        """Files go below `folder`, an existing scratch folder.

        Raises ModelError if the runtime refuses the model or crashes, ToolError if it does not work there, GoneError if
        the device is gone.
        """
        self._equipped = equipped
        self._folder = folder
        self._place = equipped.storage.run_folder()
        self._temporary = (self._place, *opening.temporary)
        self._sample: Path | None = None
        self._described: Mapping[str, str] = {}
        try:
            program = replace(equipped.program, folder=self._place)
            self._program = Conversation(equipped.link, equipped.device.serial, program, folder)
        except BaseException:
            equipped.storage.remove(*self._temporary)
            raise
        try:
            answer = self._ask("open", opening.words, f"opening {opening.what}")
        except BaseException:
            self._end()
            raise
        self.opened = about_of(answer)
        self.loading = Loading(
            seconds=answer["load_ns"] / 1e9,
            base_bytes=answer.get("base_bytes"),
            threads=int(opening.words["threads"]) or None,
        )
        self.about = f"ONNX Runtime {self.opened.runtime} on {equipped.device.name}"
        found = self.opened.assigned
        self.node_count = sum(each.nodes for each in found) if found else None
        own = [each for each in found or () if not each.provider.upper().startswith("CPU")]
        self.placed = sum(each.nodes for each in own) if found and self.opened.provider.lower() != "cpu" else None

    def run(self, sample: Path, folder: Path) -> Outcome:
        import numpy

        try:
            described = self._given(sample)
        except values.UnsupportedError as error:
            return Outcome(outputs=None, error=str(error))
        place = f"{self._place}/outputs"
        answer = self._ask("run", {**described, "outputs": place}, "running the model")
        if "full" in answer:
            raise ToolError(
                f"the disk of {self._equipped.device.name} is full: {answer['full']}",
                hint="free some space on it; `mobpack device clean` removes mobpack's files",
            )
        if answer["error"]:
            return Outcome(outputs=None, error=answer["error"])
        raw = self._folder / "outputs.bin"
        self._equipped.link.pull(self._equipped.device.serial, place, raw)
        content = raw.read_bytes()
        for index, entry in enumerate(answer["outputs"]):
            numpy.save(folder / f"{index}.npy", values.read(entry, content))
        raw.unlink()
        return Outcome(outputs=folder)

    def time(self, sample: Path, pace: Pace) -> Times:
        return self.timed(sample, pace).times

    def timed(self, sample: Path, pace: Pace) -> Timed:
        described = self._given(sample)
        wanted = {
            "warm-up-seconds": str(pace.warm_up_seconds),
            "seconds": str(pace.seconds),
            "runs": str(pace.runs),
            "least-runs": str(pace.least_runs),
        }
        longest = self._equipped.timeout_s + pace.seconds + pace.warm_up_seconds
        answer = self._ask("time", {**described, **wanted}, "timing the model", longest)
        return timed_of(answer)

    def self_test(self) -> tuple[OutputTest, ...]:
        """Every output of every sample of the package, compared on the device by the package's own code."""
        answer = self._ask("self-test", {}, "testing the model")
        return tests_of(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._program.close()
        self._equipped.storage.remove(*self._temporary)

    def _given(self, sample: Path) -> Mapping[str, str]:
        """Copies a sample to the device, unless it is the one that is there, and describes it."""
        if self._sample != sample:
            raw = self._folder / "inputs.bin"
            described = values.write(arrays_of(sample), raw)
            place = f"{self._place}/inputs"
            self._equipped.link.push(self._equipped.device.serial, raw, place)
            self._described, self._sample = {**described, "inputs": place}, sample
            raw.unlink()
        return self._described

    def _ask(self, verb: str, words: Mapping[str, str], doing: str, timeout_s: float | None = None) -> dict[str, Any]:
        answer = self._program.ask(verb, words, doing=doing, timeout_s=timeout_s or self._equipped.timeout_s)
        where = self._equipped.device.name
        if "broken" in answer or ("refused" in answer and MISSING.search(answer["refused"])):
            raise ToolError(
                f"{where}: {answer.get('broken') or answer['refused']}",
                hint="give the ONNX Runtime that the app uses with --runtime onnxruntime-android-VERSION.aar",
            )
        if "refused" in answer:
            raise ModelError(f"{where} refuses, {doing}: {answer['refused']}", hint="leave this provider out there")
        return answer


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
) -> Opening:
    """Asks a class of the package to load its model with `provider`; what it keeps goes to the folder `data`."""
    words = {
        "class": class_name,
        "provider": provider.upper(),
        "threads": str(threads),
        "data": data,
        "libraries": equipped.program.libraries,
        **{f"option.{key}": text for key, text in (options or {}).items()},
    }
    return Opening(words=words, what=class_name.rpartition(".")[2])


@dataclass(frozen=True, kw_only=True)
class PackagedModel:
    """A model of a package, as its class describes it."""

    class_name: str
    name: str
    version: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    providers: tuple[str, ...]
    """of the package, in lower case"""
    tests_itself: bool


def describe(equipped: Equipped, class_names: tuple[str, ...], folder: Path) -> tuple[PackagedModel, ...]:
    """The models among the classes of a package."""
    place = equipped.storage.run_folder()
    try:
        with Conversation(
            equipped.link, equipped.device.serial, replace(equipped.program, folder=place), folder
        ) as program:
            words = {"classes": ",".join(class_names)}
            answer = program.ask("describe", words, doing="reading the package", timeout_s=equipped.timeout_s)
    finally:
        equipped.storage.remove(place)
    if failure := answer.get("broken") or answer.get("refused"):
        raise ToolError(
            f"{equipped.device.name} cannot load the package: {failure}",
            hint="give the ONNX Runtime that the app uses with --runtime onnxruntime-android-VERSION.aar",
        )
    return tuple(
        PackagedModel(
            class_name=each["class"],
            name=each["name"],
            version=each["version"],
            inputs=tuple(each["inputs"]),
            outputs=tuple(each["outputs"]),
            providers=tuple(each_name.lower() for each_name in each["providers"]),
            tests_itself=each["tests-itself"],
        )
        for each in answer["models"]
    )


def timed_of(answer: Mapping[str, Any]) -> Timed:
    """The answer to a request for times."""
    if answer["error"]:
        return Timed(times=Times(error=answer["error"]))
    times = Times(
        warm_up_ns=tuple(answer["warm_up_ns"]),
        times_ns=tuple(answer["times_ns"]),
        cpu_ns=answer["cpu_ns"] or 0,
        peak_bytes=answer["peak_bytes"],
    )
    return Timed(
        times=times,
        first_ns=answer["first_ns"],
        pss_bytes=answer["pss_bytes"],
        mapped_bytes=answer["mapped_bytes"],
    )


def tests_of(answer: Mapping[str, Any]) -> tuple[OutputTest, ...]:
    """The answer to a request for a self-test."""
    return tuple(
        OutputTest(
            name=each["name"],
            sample=each["sample"],
            max_abs_error=float(each["maxAbsError"]),
            max_rel_error=float(each["maxRelError"]),
            scale=float(each["scale"]),
            mismatch_count=each["mismatchCount"],
            tolerance=float(each["tolerance"]),
            absolute_tolerance=float(each["absoluteTolerance"]),
            failure=each["failure"],
        )
        for each in answer["outputs"]
    )


def about_of(answer: Mapping[str, Any]) -> About:
    """The answer to a request to open a model."""
    found = answer.get("assignment")
    return About(
        runtime=answer["version"],
        provider=str(answer["provider"]).lower(),
        fallbacks=tuple(f"{each['provider']}: {each['reason']}" for each in answer.get("fallbacks", ())),
        assigned=None
        if found is None
        else tuple(
            Assigned(provider=each["provider"], nodes=each["nodes"], macs=each.get("macs", 0)) for each in found
        ),
        file=answer.get("file", ""),
        sha256=answer.get("sha256", ""),
        size_bytes=answer.get("size", 0),
    )


__all__ = [
    "About",
    "Assigned",
    "DeviceSession",
    "Equipped",
    "GoneError",
    "Opening",
    "OutputTest",
    "PackagedModel",
    "Timed",
    "describe",
    "of_file",
    "of_package",
]
