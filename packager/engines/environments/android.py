"""android: ONNX Runtime's own Android x86_64 library on x86_64 Linux, for checks; it is never shipped.

The library is the published one, unchanged: it shows which models the runtime on a phone accepts, and what they
compute. Shims replace the parts of Android: its system libraries (`bionic/`), and a Neural Networks API that accepts
every model without computing, so that ONNX Runtime's NNAPI provider reports which nodes it would take.
"""

import platform
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments import bionic, onnxruntime_android
from packager.engines.environments.environment import folder_for, make_once, not_installed
from packager.files.processes import commands, downloads
from packager.files.processes.children import python
from packager.providers import CPU, provider_of

LIBRARY_IN_AAR = "jni/x86_64/libonnxruntime.so"
HEADER_IN_AAR = "headers/onnxruntime_c_api.h"
PROBE = Path(__file__).with_name("android_probe.py")


@dataclass(frozen=True, kw_only=True)
class Android:
    """The ONNX Runtime that Android packages depend on."""

    NAME: ClassVar[str] = "android"
    about: ClassVar[str] = "ONNX Runtime for Android on this machine: what XNNPACK and NNAPI take of a model"

    sdk: int = 34
    """Android SDK version that the device reports"""
    nnapi_feature_level: int = 31
    """feature level of its Neural Networks API, from 27 (Android 8.1) to 31 (Android 12, the last with new
    operators)"""

    def unsupported(self) -> str:
        """Why this machine cannot support it, or empty."""
        is_suitable = sys.platform == "linux" and platform.machine() == "x86_64"
        return "" if is_suitable else "Android's x86_64 libraries load on x86_64 Linux only"

    def missing(self) -> str:
        """Why it cannot be used yet, or empty."""
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        """Downloads ONNX Runtime and a C compiler, and builds the shims. Raises ToolError on failure."""
        if reason := self.unsupported():
            raise ToolError(f"the environment android cannot be installed: {reason}")
        make_once(_folder(), _install)

    def command(self) -> tuple[str, ...]:
        """Command that runs a Python program: append its path and arguments."""
        return python()

    def variables(self) -> Mapping[str, str]:
        folder = _folder()
        return {
            "LD_LIBRARY_PATH": f"{folder / 'onnxruntime'}:{folder / 'system'}",
            "ro.build.version.sdk": str(self.sdk),
            "NNAPI_FEATURE_LEVEL": str(self.nnapi_feature_level),
        }

    def probe(self, model: Path, job: "ProbeJob", *, outputs: Path | None = None) -> Json:
        """Like `ask`, but raises ModelError if the runtime rejects the model."""
        answer = self.ask(model, job, outputs=outputs)
        if "error" in answer:
            raise ModelError(
                f"{model}: ONNX Runtime for Android cannot load it with provider {job.provider}: {answer['error']}",
                hint="mobpack inspect shows what the model uses",
            )
        return answer

    def ask(self, model: Path, job: "ProbeJob", *, outputs: Path | None = None) -> Json:
        """Answer of `android_probe.py` for `model`; output files go to `outputs`, if given.

        Raises ToolError if the environment is not installed, and ModelError if the runtime crashes.
        """
        if reason := self.missing():
            raise ToolError(f"the environment android is not installed: {reason}")
        with tempfile.TemporaryDirectory() as scratch:
            return commands.run_job(
                [PROBE],
                {
                    **asdict(job),
                    "registered_name": provider_of(job.provider).REGISTERED_NAME,
                    "model": str(model.absolute()),
                    "folder": str((outputs or Path(scratch)).absolute()),
                },
                Path(scratch),
                crash=f"{model}: ONNX Runtime for Android crashed on it with provider {job.provider}",
                hint="leave this provider out for this model",
                environment=self.variables(),
                command=self.command(),
                owner=self.NAME,
            )


@dataclass(frozen=True, kw_only=True)
class ProbeInput:
    name: str
    type: str
    shape: tuple[int, ...]
    file: str
    """file with raw little-endian numbers"""


@dataclass(frozen=True, kw_only=True)
class ProbeJob:
    """How to load a model, and what to report."""

    provider: str = CPU.NAME
    options: Mapping[str, str] = field(default_factory=dict)
    """options of the provider; for nnapi its flags by name: `{"CPU_DISABLED": "1"}`"""
    entries: Mapping[str, str] = field(default_factory=dict)
    """session configuration"""
    data_folder: str = ""
    """folder of the model's external data, if it is not the model's own"""
    level: Literal["disabled", "basic", "all"] = "basic"
    """graph optimization level. Providers choose nodes after the basic level; higher levels only rename CPU
    fallbacks"""
    is_mapped: bool = False
    """whether to pass the file as mapped bytes instead of its path"""
    is_explained: bool = True
    """whether to report which provider took which node; costs time and memory, so disable it for measurements"""
    inputs: Sequence[ProbeInput] = ()
    """without inputs the model is not run"""
    warm_runs: int = 0
    """number of runs after the first"""


def _folder() -> Path:
    return folder_for("android", [downloads.pin(onnxruntime_android.PUBLISHED).sha256, bionic.content_key()])


def _install(folder: Path) -> None:
    (folder / "onnxruntime").mkdir()
    with zipfile.ZipFile(onnxruntime_android.archive()) as archive:
        for member in (LIBRARY_IN_AAR, HEADER_IN_AAR):
            (folder / "onnxruntime" / Path(member).name).write_bytes(archive.read(member))
    (folder / "system").mkdir()
    bionic.build([folder / "onnxruntime" / "libonnxruntime.so"], folder / "system")
    # ONNX Runtime loads it by name for NNAPI, so it is not among the library's dependencies.
    bionic.build_one(bionic.SOURCES / "libneuralnetworks.c", folder / "system" / "libneuralnetworks.so")
