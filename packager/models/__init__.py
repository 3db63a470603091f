"""Loads the user's ONNX file as a checked Model whose weights stay where they are."""

from packager.core.values import data_folder
from packager.models.computed_shapes import with_constant_shapes
from packager.models.load import data_files_of, hashed, load, rebuilt
from packager.models.opsets import blockers, fits_ort_format, refuse_blocked, refuse_too_large
from packager.models.shapes import fix_shapes
from packager.models.signature import signature_of
from packager.models.traits import derived, traits_of

__all__ = [
    "blockers",
    "data_files_of",
    "data_folder",
    "derived",
    "fits_ort_format",
    "fix_shapes",
    "hashed",
    "load",
    "rebuilt",
    "refuse_blocked",
    "refuse_too_large",
    "signature_of",
    "traits_of",
    "with_constant_shapes",
]
