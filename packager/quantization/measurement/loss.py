"""Judges what a variant lost: says when its outputs are no longer those of the float model, and enforces a budget."""

from packager.core.errors import GateError
from packager.quantization.measurement.metrics import COSINE, SQNR, TOP1, Score

LEAST = {SQNR: 10.0, COSINE: 0.95, TOP1: 0.9}
"""Scores below which outputs differ visibly: noise of a tenth of the power, which is also a cosine of 0.95."""
MOST_LOST = 0.1
"""Share of the float model's score by a metric of the user's that a variant may lose without a warning."""


def doubt(score: Score, samples: str) -> str:
    """A sentence about a variant whose outputs differ much from the float model's on `samples`; empty if they do
    not."""
    unit = " dB" if score.metric == SQNR else ""
    found = f"{score.metric} is {score.value:.3g}{unit} on {samples}"
    if score.metric in LEAST:
        if score.value >= LEAST[score.metric]:
            return ""
        stronger = ", which is more noise than signal" if score.metric == SQNR and score.value < 0 else ""
        limit = f"below {LEAST[score.metric]:g}{unit}"
        return f"{found}{stronger}: {limit} the outputs are no longer those of the float model"
    if score.drop <= MOST_LOST * abs(score.original):
        return ""
    return f"{score.metric} falls from {score.original:.3g} to {score.value:.3g}: more than a tenth is lost"


def refuse_over_budget(score: Score, max_drop: float, samples: str) -> None:
    """Raises GateError for a drop of more than `max_drop`."""
    if not score.is_within(max_drop):
        raise GateError(
            f"{score.metric} drops by {score.drop:.3g} on {samples}: the budget is {max_drop:g}",
            hint="quantize less of the model: quantizer auto searches for what keeps the budget; or allow more with "
            "--max-drop, or write the model nevertheless with --force",
        )
