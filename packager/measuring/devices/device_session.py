"""Models that are open on a device, each in a process of its own."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from packager.core import parsing
from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.runners import Loading, Outcome, Pace, Times
from packager.measuring.devices import values
from packager.measuring.devices.conversation import Conversation, unreadable
from packager.measuring.devices.device_answers import (
    OutputTest,
    PackagedModel,
    Timed,
    about_of,
    models_of,
    tests_of,
    timed_of,
)
from packager.measuring.devices.device_opening import Equipped, Opening
from packager.samples.sample import arrays_of

MISSING = re.compile(r"is not supported in this build|no provider|UnsatisfiedLinkError|dlopen failed", re.IGNORECASE)
"""In messages about a provider or a library that the runtime lacks."""


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
            with self._checked(f"opening {opening.what}"):
                self.opened = about_of(answer)
                self.loading = Loading(
                    seconds=int(answer["load_ns"]) / 1e9,
                    base_bytes=int(answer.get("base_bytes") or 0) or None,
                    threads=int(opening.words["threads"]) or None,
                )
        except BaseException:
            self._end()
            raise
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
        if answer.get("error"):
            return Outcome(outputs=None, error=str(answer["error"]))
        raw = self._folder / "outputs.bin"
        self._equipped.link.pull(self._equipped.device.serial, place, raw)
        content = raw.read_bytes()
        with self._checked("running the model"):
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
        with self._checked("timing the model"):
            return timed_of(answer)

    def self_test(self) -> tuple[OutputTest, ...]:
        """Every output of every sample of the package, compared on the device by the package's own code."""
        answer = self._ask("self-test", {}, "testing the model")
        with self._checked("testing the model"):
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

    def _ask(self, verb: str, words: Mapping[str, str], doing: str, timeout_s: float | None = None) -> Json:
        answer = self._program.ask(verb, words, doing=doing, timeout_s=timeout_s or self._equipped.timeout_s)
        where = self._equipped.device.name
        if "broken" in answer or ("refused" in answer and MISSING.search(str(answer["refused"]))):
            raise ToolError(
                f"{where}: {answer.get('broken') or answer['refused']}",
                hint="give the ONNX Runtime that the app uses with --runtime onnxruntime-android-VERSION.aar",
            )
        if "refused" in answer:
            raise ModelError(f"{where} refuses, {doing}: {answer['refused']}", hint="leave this provider out there")
        return answer

    def _checked(self, doing: str) -> AbstractContextManager[None]:
        """In the block, values are taken out of an answer. Raises ToolError if they are not there."""
        return parsing.damage_as(lambda reason: unreadable(self._equipped.device.name, doing, reason))


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
    with parsing.damage_as(lambda reason: unreadable(equipped.device.name, "reading the package", reason)):
        return models_of(answer)
