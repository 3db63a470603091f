"""Makes every file that mobpack would ship of ONNX's own test cases: `python -m benchmarks.conformance_make FOLDER...`.

A FOLDER holds `model.onnx`. For each, in their order, one line of JSON is printed: `{"case", "refused"}` with what
mobpack says against the model, or `{"case", "files": {form: {"path", "settings"}}, "refusals": {form: words}}`. The
graph of a file is described in `engine.json`, for engines that read ONNX by themselves. Conversions run in this
process, one after the other: a process for each would take most of the time.
"""

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager import models
from packager.compile import converter
from packager.compile.compile import REPLAY, SHARED
from packager.compile.plan import NO_PACKING
from packager.contract import PlainInput, PlainOutput
from packager.contract.attachment import Tables, attach
from packager.core.errors import MobpackError
from packager.core.values import baseline
from packager.engines.runners import Runnable, engines
from packager.engines.session.refusals import explain

if TYPE_CHECKING:
    from packager.core.values import Model, Variant

LIMIT_S = 60
"""A case that takes longer ends its process."""
FIXED_ORT, UNFUSED_ORT, UNFUSED, FUSED = "fixed .ort", "unfused .ort", "unfused ONNX", "fused ONNX"
FORMS = (FIXED_ORT, UNFUSED_ORT, UNFUSED, FUSED)
"""The files that plans are made of (packager/compile/plan.py)."""
CONTRACT = "contract, fixed .ort"
"""The first of them, of the model as the contract's writer leaves it: every input and output has a table."""


@dataclass(frozen=True)
class Step:
    """A conversion as `packager.compile.compile` asks for it."""

    form: str
    output: str
    is_unfused: bool
    over: str = ""
    """the form whose weights an ONNX file uses"""
    settings: Mapping[str, str] = field(default_factory=dict)


STEPS = (
    Step(FIXED_ORT, f"fixed/{SHARED}", is_unfused=False, settings=NO_PACKING),
    Step(UNFUSED, "fixed/unfused.onnx", is_unfused=True, over=FIXED_ORT, settings=NO_PACKING),
    Step(UNFUSED_ORT, f"unfused/{SHARED}", is_unfused=True, settings={**REPLAY, **NO_PACKING}),
    Step(FUSED, "unfused/fixed.onnx", is_unfused=False, over=UNFUSED_ORT, settings=NO_PACKING),
)


def made(folder: Path) -> dict[str, Any]:
    """Convert the model in `folder`, and say how that ended."""
    try:
        model = models.load(folder / "model.onnx", "model")
        models.refuse_blocked(model)
        variant = baseline(models.hashed(model), "fp32")
    except MobpackError as error:
        return {"refused": f"{error.message}; {error.hint}".replace(f"{folder / 'model.onnx'}: ", "")}
    files: dict[str, Any] = {}
    refusals: dict[str, str] = {}
    describe(folder, variant)
    for form, found in (*conversions(folder, variant, STEPS), *with_contract(folder, model)):
        if isinstance(found, str):
            refusals[form] = found
        else:
            files[form] = found
    return {"files": files, "refusals": refusals}


def describe(folder: Path, variant: "Variant") -> None:
    """Writes the job with which engines open the variant's graph."""
    graph = folder / "described.onnx"
    graph.write_bytes(variant.graph)
    job = engines.described(Runnable(path=graph, data_folder=variant.data_folder), folder)
    (folder / "engine.json").write_text(json.dumps(job), encoding="utf-8")


def with_contract(folder: Path, model: "Model") -> Iterator[tuple[str, "str | dict[str, Any]"]]:
    own = folder / "contract"
    own.mkdir(exist_ok=True)
    try:
        attached = attach(
            model,
            Tables(
                inputs={each.name: PlainInput() for each in model.signature.inputs},
                outputs={each.name: PlainOutput() for each in model.signature.outputs},
            ),
        )
        variant = baseline(models.hashed(attached.model), "fp32")
    except MobpackError as error:
        yield CONTRACT, f"{error.message}; {error.hint}"
        return
    yield from ((CONTRACT, found) for _, found in conversions(own, variant, STEPS[:1]))


def conversions(
    folder: Path, variant: "Variant", steps: Sequence[Step]
) -> Iterator[tuple[str, "str | dict[str, Any]"]]:
    """Form -> its file, or the reason why there is none. Forms that need a file that failed are left out."""
    graph = folder / "graph.onnx"
    graph.write_bytes(variant.graph)
    disabled: dict[str, list[str]] = {}
    for step in steps:
        if step.over and step.over not in disabled:
            continue
        output = folder / step.output
        output.parent.mkdir(exist_ok=True)
        job = converter.ConversionJob(
            graph=str(graph),
            data_folder=str(variant.data_folder),
            output=str(output),
            scratch=str(folder),
            source_bytes=variant.size_bytes,
            is_unfused=step.is_unfused,
            shared=str(output.parent / SHARED) if step.over else "",
            disabled_optimizers=disabled.get(step.over, []),
        )
        answer: dict[str, Any] = converter.answer(job)
        if "ok" in answer:
            disabled[step.form] = answer["ok"]["disabled_optimizers"]
            yield step.form, {"path": str(output), "settings": dict(step.settings)}
        else:
            unheld = f"ORT format cannot hold {answer.get('unheld')}"
            yield step.form, explain(answer["error"]) if "error" in answer else unheld


def main() -> None:
    for name in sys.argv[1:]:
        signal.alarm(LIMIT_S)
        print(json.dumps({"case": Path(name).name, **made(Path(name))}), flush=True)


if __name__ == "__main__":
    main()
