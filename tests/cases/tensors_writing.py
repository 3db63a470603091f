"""Data files of weights: aligned, shared, and copied by the kernel if possible."""

from packager.graph.weights.places import Place, chunks_of


def content(place: Place) -> bytes:
    return b"".join(chunks_of(place))
