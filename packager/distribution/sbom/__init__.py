"""Bills of materials: the parts of a package, its models with their cards, and licences, as CycloneDX."""

from packager.distribution.sbom.bill import DescribedModels, bill
from packager.distribution.sbom.conflicts import Conflict, conflicts, unnamed
from packager.distribution.sbom.spdx import spdx, spdx_library

__all__ = ["Conflict", "DescribedModels", "bill", "conflicts", "spdx", "spdx_library", "unnamed"]
