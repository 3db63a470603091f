"""The kind `text` of inputs: strings, which the graph tokenizes."""

from packager.contract.tokens.kind import StringInput

__all__ = ["StringInput"]
