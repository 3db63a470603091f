"""Provenance: an in-toto statement of what made which file of a release, from its lock, its plans and its files."""

from packager.distribution.provenance.chain import links
from packager.distribution.provenance.parameters import BuildParameters
from packager.distribution.provenance.statement import FILE_NAME, Statement, read, statement

__all__ = ["FILE_NAME", "BuildParameters", "Statement", "links", "read", "statement"]
