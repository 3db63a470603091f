"""The kind `spans` of outputs: named parts of a text."""

from packager.contract.spans.kind import Spans

__all__ = ["Spans"]
