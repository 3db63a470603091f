"""The target python: a wheel."""

from packager.targets.python.target import Python

__all__ = ["Python"]
