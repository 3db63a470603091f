"""The bytes of a data file."""

from packager.graph.weights.places import Place, chunks_of


def content(place: Place) -> bytes:
    return b"".join(chunks_of(place))
