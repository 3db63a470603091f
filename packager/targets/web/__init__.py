"""The web: an npm package for browsers and Node, with ONNX Runtime's WebAssembly inside."""

from packager.targets.web.target import Web

__all__ = ["Web"]
