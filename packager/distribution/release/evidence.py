"""`evidence.json`: what the machine of a build measured. It belongs to that machine: no decision and no other file of a
release depends on it, and another machine may write another one beside the same packages."""

import platform
import sys
from collections.abc import Sequence

from packager import __version__
from packager.core.characters import to_json
from packager.core.findings import Report
from packager.distribution.release.manifest import parity_entry, partition_entry

EVIDENCE = "evidence.json"
OF_ONE_MACHINE = (EVIDENCE, "report.html", "report.json")
"""Files of a release that say what one machine measured: comparisons leave them out."""
SCHEMA_VERSION = 1


def evidence(report: Report, *, warnings: Sequence[str], contradictions: Sequence[str]) -> str:
    """The evidence as JSON text: `warnings` follow from what was measured, `contradictions` are between rules and what
    providers said."""
    document = {
        "schema-version": SCHEMA_VERSION,
        "mobpack": __version__,
        "machine": {"system": sys.platform, "processor": platform.machine()},
        "parity": [parity_entry(each) for each in report.parities],
        "engines": [
            {"model": each.model, "variant": each.variant, "sha256": each.sha256, "summary": each.words}
            for each in report.agreements
        ],
        "partitions": [partition_entry(each) for each in report.measured],
        "contradictions": list(contradictions),
        "warnings": list(warnings),
    }
    return to_json(document, indent=2) + "\n"
