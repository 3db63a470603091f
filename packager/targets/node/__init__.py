"""Node: an npm package for servers, tools and Electron, over onnxruntime-node."""

from packager.targets.node.target import Node

__all__ = ["Node"]
