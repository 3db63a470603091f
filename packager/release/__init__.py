"""The files of a release: layouts, manifest, and the step that puts the finished folder in place."""

from packager.release.evidence import EVIDENCE, OF_ONE_MACHINE, evidence
from packager.release.layouts import SPDX_SUFFIX, beside, described, layout
from packager.release.manifest import Shipped, ShippedScales, manifest, model_entry
from packager.release.ort_package import component, write_ort_package
from packager.release.publish import MANIFEST, staged

__all__ = [
    "EVIDENCE",
    "MANIFEST",
    "OF_ONE_MACHINE",
    "SPDX_SUFFIX",
    "Shipped",
    "ShippedScales",
    "beside",
    "component",
    "described",
    "evidence",
    "layout",
    "manifest",
    "model_entry",
    "staged",
    "write_ort_package",
]
