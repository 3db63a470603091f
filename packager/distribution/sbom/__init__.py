"""Bills of materials: the parts of a package, its models with their cards, and licences, as CycloneDX."""

from packager.distribution.sbom.bill import Described, bill
from packager.distribution.sbom.conflicts import Conflict, conflicts, unnamed
from packager.distribution.sbom.spdx import spdx, spdx_library

__all__ = ["Conflict", "Described", "bill", "conflicts", "spdx", "spdx_library", "unnamed"]
