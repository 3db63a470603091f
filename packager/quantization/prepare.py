"""Prepares a float graph for calibration and integer kernels: folds batch norms, computes constants, infers types."""

from importlib.metadata import version
from pathlib import Path

from packager.core.errors import ModelError
from packager.core.values import Model
from packager.engines.session.refusals import explain, hint_for
from packager.files.processes import commands
from packager.files.store import Step, Store, key_of
from packager.quantization.borders import own_values, with_outputs, without_outputs

PREPARE = Step(name="prepare", caller=__name__, computed_by=(__name__, "packager.quantization.borders"))
ENTRIES = {"session.disable_prepacking": "1"}
FOLDING = ["ConstantFolding"]
LARGEST_GROWTH = 1.25
"""Maximum growth of the model by folding, as a factor: tensors that are broadcast from small ones are better
computed at run time."""


def prepared(model: Model, store: Store) -> bytes:
    """The graph of `model`, which must be hashed, after ONNX Runtime's basic rewrites; weights stay where they are.

    Raises ModelError for a graph that ONNX Runtime refuses.
    """

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            saved = _saved(model, scratch, [])
            if len(saved) > LARGEST_GROWTH * model.size_bytes + 65536:
                saved = _saved(model, scratch, FOLDING)
        (folder / "graph.onnx").write_bytes(saved)

    folder = store.results(PREPARE, [key_of(model.graph.hex()), model.sha256, version("onnxruntime")], make)
    return (folder / "graph.onnx").read_bytes()


def _saved(model: Model, scratch: Path, disabled: list[str]) -> bytes:
    graph, output = scratch / "graph.onnx", scratch / "prepared.onnx"
    kept = own_values(model)
    graph.write_bytes(with_outputs(model.graph, kept))
    answer = commands.run_job(
        [Path(__file__).parents[1] / "compile" / "session.py"],
        {
            "graph": str(graph),
            "data_folder": str(model.data_folder),
            "output": str(output),
            "entries": ENTRIES,
            "level": "basic",
            "disabled_optimizers": disabled,
            "provider": "CPUExecutionProvider",
        },
        scratch,
        crash=f"{model.path}: ONNX Runtime crashed while preparing it",
        hint="report it to ONNX Runtime with the model; a simpler export may avoid it",
    )
    if "error" in answer:
        error = str(answer["error"])
        raise ModelError(f"{model.path}: ONNX Runtime cannot prepare it: {explain(error)}", hint=hint_for(error))
    return without_outputs(output.read_bytes(), kept)
