"""Reads models of other frameworks, and compares what their converters write with the frameworks themselves."""

from packager.workflows.importing.fetched import run
from packager.workflows.importing.request import Request
from packager.workflows.importing.steps import Result

__all__ = ["Request", "Result", "run"]
