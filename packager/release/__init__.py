"""The files of a release: manifest, and the step that puts the finished folder in place."""

from packager.release.evidence import EVIDENCE, OF_ONE_MACHINE, evidence
from packager.release.manifest import ShippedScales, manifest, model_entry
from packager.release.ort_package import component, write_ort_package
from packager.release.publish import MANIFEST, staged

__all__ = [
    "EVIDENCE",
    "MANIFEST",
    "OF_ONE_MACHINE",
    "ShippedScales",
    "component",
    "evidence",
    "manifest",
    "model_entry",
    "staged",
    "write_ort_package",
]
