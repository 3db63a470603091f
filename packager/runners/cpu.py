"""ONNX Runtime's CPU provider in a process of its own, computing int8 exactly as ARM does."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager import tools
from packager.environments import ensure
from packager.environments.arm64 import Arm64
from packager.errors import ModelError
from packager.runners.runner import Outcome, Runnable

SESSION_ENTRIES = {
    "session.qdqisint8allowed": "1",  # S8S8 stays signed, as on ARM: then x86 and ARM agree bit for bit
    "session.x64quantprecision": "1",  # without it AVX2 saturates 8-bit products (onnxruntime issue 16472)
}


@dataclass(frozen=True, kw_only=True)
class Cpu:
    NAME: ClassVar[str] = "cpu"

    def missing(self) -> str:
        return ""

    def run(self, model: Runnable, samples: tuple[Path, ...], folder: Path) -> tuple[Outcome, ...]:
        entries = {**SESSION_ENTRIES, **model.settings}
        if model.path.suffix != ".ort" and model.is_optimized:
            # Here it rewrites the graph: int8 weights become uint8, and QLinearMatMul of int8 by uint8 has no kernel.
            del entries["session.x64quantprecision"]
        if model.data_folder:
            entries["session.model_external_initializers_file_folder_path"] = str(model.data_folder)
        job = {
            "model": str(model.path),
            "from_memory": model.data_folder is not None,
            "optimize": model.is_optimized,
            "entries": entries,
            "samples": [str(sample) for sample in samples],
            "folder": str(folder),
        }
        core = Arm64() if model.needs_fp16 else None
        if core:
            ensure(core)
        answer = tools.run_job(
            [Path(__file__).with_name("child.py")],
            job,
            folder,
            command=core.command() if core else (),
            environment=core.variables() if core else None,
            owner=core.NAME if core else "",
            crash="ONNX Runtime crashed while running the model",
            hint="give real inputs with [parity] samples; if those crash too, the model must change",
        )
        if "error" in answer:
            raise ModelError(
                f"ONNX Runtime cannot load the model: {answer['error']}", hint="mobpack inspect shows what it uses"
            )
        return tuple(
            Outcome(outputs=Path(item["outputs"]) if item["outputs"] else None, error=item["error"])
            for item in answer["outcomes"]
        )
