"""Contracts in TypeScript: pictures, sounds and states reach the graph as they are, and what comes out has names.

The models are small graphs that tell what they were given; ONNX Runtime runs them under Node through a package's own
JavaScript.
"""

LOWEST = -float("inf")
