"""Verifies that a model still computes the same in another opset: ONNX's converter does not."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from packager.contract.attachment import Attached
from packager.core.errors import ModelError
from packager.core.values import Model, baseline
from packager.files.store import Step, Store
from packager.verification import parity
from packager.verification.parity import ParitySettings, Tolerance
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.outcomes import array_of

RAISED = Step(
    name="raised",
    caller=__name__,
    computed_by=(
        "packager.contract.attachment",
        "packager.verification.parity",
        "packager.verification.parity.metrics",
        "packager.verification.parity.outcomes",
    ),
)
ALLOWED = Tolerance(max_rel_error=1e-5)
"""Both run node by node on the same machine, so only the order of a sum can differ."""
SAMPLES = 2
VERDICT = "error.txt"


def refuse_changed(attached: Attached, store: Store) -> None:
    """Raises ModelError if the model computes something else in the opset that its contract needs, or does not run."""
    if not attached.is_raised:
        return
    changed = change(attached.before, attached.core, store)
    if changed:
        raise ModelError(
            f"model '{attached.before.name}': ONNX's converter raised its opset for the contract, and output "
            f"'{changed.output}' is no longer the same (largest error {changed.error:.1e} times what rounding "
            "explains)",
            hint="export the model with opset_version=18 or later",
        )


@dataclass(frozen=True, kw_only=True)
class OpsetChange:
    """A difference between a model and the same one in another opset."""

    output: str
    error: float
    """largest difference, relative to what rounding explains; infinite if it does not run"""


def change(before: Model, after: Model, store: Store) -> OpsetChange | None:
    """Runs the model `before`, which must be hashed, and `after` on the same random inputs, once for the same graphs;
    None if all outputs are equal. Raises ModelError if `before` does not run."""
    graphs = [hashlib.sha256(each.graph).hexdigest() for each in (before, after)]
    folder = store.results(RAISED, [*graphs, before.sha256], lambda made: _write(before, after, made, store))
    name, _, error = (folder / VERDICT).read_text(encoding="utf-8").rpartition(" ")
    return OpsetChange(output=name, error=float(error)) if float(error) > 1 else None


def _write(before: Model, after: Model, folder: Path, store: Store) -> None:
    """Writes the output with the largest error, and the error."""
    with store.scratch() as scratch:
        errors = _errors(before, after, scratch)
    name = max(errors, key=lambda output: errors[output])
    (folder / VERDICT).write_text(f"{name} {errors[name]!r}", encoding="utf-8", newline="\n")


def _errors(model: Model, converted: Model, scratch: Path) -> dict[str, float]:
    """Largest error of every output, relative to the tolerance."""
    settings = ParitySettings(random_samples=SAMPLES)
    reference = parity.OriginalOutputs(scratch).of(baseline(model), settings)
    outcomes = parity.run_original(baseline(converted), reference.samples, scratch / "raised")
    errors = {}
    for index, spec in enumerate(model.signature.outputs):
        scale = reference.scales[index]
        comparison = Comparison(spec.name, scale)
        for before, after in zip(reference.outcomes, outcomes, strict=True):
            if after.error:
                return {spec.name: float("inf")}
            if index not in reference.unstable:
                comparison.add(array_of(before, index), array_of(after, index))
        share = ALLOWED.share(comparison.result().max_abs_error, scale.value)
        errors[spec.name] = float("inf") if comparison.reason else share
    return errors
