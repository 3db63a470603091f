"""The report of a check or build: results for every file, as JSON and as an HTML page."""

from packager.core.to_json import plain
from packager.reporting.describing import Extras, MeasuredLatency, document
from packager.reporting.document import ReportDocument
from packager.reporting.measuring import measured
from packager.reporting.page import page, write_page
from packager.reporting.writing import as_text, write, write_json

__all__ = [
    "Extras",
    "MeasuredLatency",
    "ReportDocument",
    "as_text",
    "document",
    "measured",
    "page",
    "plain",
    "write",
    "write_json",
    "write_page",
]
