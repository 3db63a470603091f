"""Compares what ships with the original."""

from packager.samples import sample_files
from packager.verification.parity.check import CheckedParity, check
from packager.verification.parity.drawing import REDRAWS, SEEDS, movement
from packager.verification.parity.outcomes import array_of, numbers_in
from packager.verification.parity.reference import (
    Accepted,
    OriginalOutputs,
    Reference,
    graph_of,
    random_inputs,
    run_original,
)
from packager.verification.parity.rows import rows_of, sorted_outputs
from packager.verification.parity.runs import SampleRuns
from packager.verification.parity.scale import NO_RANGE, Scale
from packager.verification.parity.settings import ParitySettings
from packager.verification.parity.subject import Subject, is_own_original
from packager.verification.parity.tolerance import FAR, Tolerance, default_distance, default_tolerance

__all__ = [
    "FAR",
    "NO_RANGE",
    "REDRAWS",
    "SEEDS",
    "Accepted",
    "CheckedParity",
    "OriginalOutputs",
    "ParitySettings",
    "Reference",
    "SampleRuns",
    "Scale",
    "Subject",
    "Tolerance",
    "array_of",
    "check",
    "default_distance",
    "default_tolerance",
    "graph_of",
    "is_own_original",
    "movement",
    "numbers_in",
    "random_inputs",
    "rows_of",
    "run_original",
    "sample_files",
    "sorted_outputs",
]
