"""Differences between two versions of a file, for apps that update their models: docs/formats.md has the format."""

from packager.distribution.deltas.applying import apply
from packager.distribution.deltas.layout import Header, header
from packager.distribution.deltas.making import make

__all__ = ["Header", "apply", "header", "make"]
