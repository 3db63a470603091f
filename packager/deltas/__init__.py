"""Differences between two versions of a file, for apps that update their models: docs/deltas.md has the format."""

from packager.deltas.applying import apply
from packager.deltas.layout import Header, header
from packager.deltas.making import make

__all__ = ["Header", "apply", "header", "make"]
