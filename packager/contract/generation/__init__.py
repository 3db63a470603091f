"""The kind `generated`: a text that a model makes token by token."""

from packager.contract.generation.kind import Generated

__all__ = ["Generated"]
