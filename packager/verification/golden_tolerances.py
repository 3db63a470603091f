"""Tolerances of golden vectors: what a phone may differ by."""

from dataclasses import replace

from packager.vectors import Allowed
from packager.verification.golden_scores import Scores
from packager.verification.parity import ParitySettings, Tolerance

HEADROOM = 2.0
"""Device tolerance multiplier: factor between the error measured here and the tolerance on a phone, if the user set no
numeric tolerance."""


def allowed_of(settings: ParitySettings, output: str, *, scale: float, measured: float) -> Allowed:
    """The tolerance of `output`, whose relative error here was `measured`."""
    told = settings.tolerance_of(output)
    rtol, atol = _parts(told, settings.general, measured)
    return Allowed(rtol=rtol, atol=atol, scale=float(f"{scale:.3g}"), mismatches=told.max_mismatches)


def allowed_of_scores(settings: ParitySettings, output: str, scores: Scores) -> Allowed:
    """The tolerance of an output of which only `scores` are compared: they may be small numbers beside large ones."""
    found = allowed_of(settings, output, scale=scores.scale, measured=scores.moves_by)
    atol = min(found.atol, found.rtol * found.scale) if found.rtol else found.atol
    return replace(found, atol=atol, mismatches=found.mismatches + scores.hidden_count)


def _parts(told: Tolerance, general: Tolerance, measured: float) -> tuple[float, float]:
    """Both parts of a tolerance. If the user set it in other terms than an error: the general one, or more if that
    would already fail here."""
    if told.max_rel_error is not None:
        return told.max_rel_error, told.atol_of(told.max_rel_error)
    if told.max_abs_error is not None:
        return 0.0, told.max_abs_error
    rtol = max(general.max_rel_error or 0.0, float(f"{HEADROOM * measured:.1g}"))
    return rtol, general.atol_of(rtol)
