"""The files of a release: manifest, and the step that puts the finished folder in place."""

from packager.distribution.release.evidence import EVIDENCE, OF_ONE_MACHINE, evidence
from packager.distribution.release.manifest import ShippedScales, manifest, model_entry
from packager.distribution.release.ort_package import component, write_ort_package
from packager.distribution.release.publish import MANIFEST, staged

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
