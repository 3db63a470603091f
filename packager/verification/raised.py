"""Verifies that a model still computes the same in the opset that its contract needs: ONNX's converter does not."""

import hashlib
from pathlib import Path

from packager.contract.attachment import Attached
from packager.core.errors import ModelError
from packager.core.values import baseline
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
    """Runs the original and the converted model on the same random inputs, once for the same graphs.

    Raises ModelError if an output differs, or if the model does not run.
    """
    if not attached.is_raised:
        return
    graphs = [hashlib.sha256(each.graph).hexdigest() for each in (attached.before, attached.core)]
    inputs = [*graphs, attached.before.sha256]
    folder = store.results(RAISED, inputs, lambda made: _write(attached, made, store))
    name, _, error = (folder / VERDICT).read_text(encoding="utf-8").rpartition(" ")
    if float(error) > 1:
        raise ModelError(
            f"model '{attached.before.name}': ONNX's converter raised its opset for the contract, and output '{name}' "
            f"is no longer the same (largest error {float(error):.1e} times what rounding explains)",
            hint="export the model with opset_version=18 or later",
        )


def _write(attached: Attached, folder: Path, store: Store) -> None:
    """Writes the output with the largest error, and the error."""
    with store.scratch() as scratch:
        errors = _errors(attached, scratch)
    name = max(errors, key=lambda output: errors[output])
    (folder / VERDICT).write_text(f"{name} {errors[name]!r}", encoding="utf-8", newline="\n")


def _errors(attached: Attached, scratch: Path) -> dict[str, float]:
    """Largest error of every output, relative to the tolerance."""
    settings = ParitySettings(random_samples=SAMPLES)
    reference = parity.References(scratch).of(baseline(attached.before), settings)
    outcomes = parity.run_original(baseline(attached.core), reference.samples, scratch / "raised")
    errors = {}
    for index, spec in enumerate(attached.before.signature.outputs):
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
