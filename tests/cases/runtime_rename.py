"""A renamed ONNX Runtime runs beside the original in one process, each with its own classes and libraries."""

NAME = "acme"
