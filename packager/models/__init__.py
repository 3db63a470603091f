"""From the user's ONNX file to a checked Model whose weights stay where they are."""

from packager.models.load import hashed, load
from packager.models.opsets import blockers, refuse_blocked
from packager.models.weights import data_folder

__all__ = ["blockers", "data_folder", "hashed", "load", "refuse_blocked"]
