"""Reads models of other frameworks, and compares what their converters write with the frameworks themselves."""

from packager.workflows.importing.fetched import run
from packager.workflows.importing.request import ImportRequest
from packager.workflows.importing.steps import ImportResult

__all__ = ["ImportRequest", "ImportResult", "run"]
