"""Tables over all code points, in pages of 256: most pages are alike, and are stored once."""

from collections.abc import Mapping, Sequence

from packager.graph.writer import Writer

END = 0x110000
"""stands before, between and after texts; a token found in a text is END + 1 + its id"""
PAGE = 256


def look_up(writer: Writer, points: str, rows: Mapping[int, Sequence[int]], usual: int, end: int) -> str:
    """int32 [points, width]: `rows` of code points, int64 [points], filled up with 0; `usual` for code points without
    a row, `end` for END and above."""
    import numpy

    width = max(1, max(map(len, rows.values()), default=1))
    full = numpy.zeros((END + PAGE, width), numpy.int32)
    full[:, 0] = usual
    full[END:, 0] = end
    for point, row in rows.items():
        full[point] = [*row, *(0 for _ in range(width - len(row)))]
    pages, places = numpy.unique(full.reshape(-1, PAGE * width), axis=0, return_inverse=True)
    known = writer.node("Min", points, END)
    page = writer.node(
        "Gather", writer.constant(places.reshape(-1).astype(numpy.int64) * PAGE), writer.node("Div", known, PAGE)
    )
    place = writer.node("Add", page, writer.node("Mod", known, PAGE))
    return writer.node("Gather", writer.constant(pages.reshape(-1, width)), place)
