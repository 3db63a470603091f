"""Unicode's normalization forms, for all characters of a text at once (Unicode Standard Annex 15)."""

from collections.abc import Collection
from dataclasses import replace

from packager.contract.tokenization import unicode
from packager.contract.tokenization.normalizing import alignment, composing, maps
from packager.contract.tokenization.normalizing.composing import Characters
from packager.contract.tokenization.normalizing.steps import Forms
from packager.contract.tokenization.pages import is_member, number_of
from packager.contract.tokenization.stages import Points, if_any
from packager.core.signature import ElementType
from packager.graph.writer import Writer

CLASSES = 256
"""more than there are canonical combining classes"""


def write(writer: Writer, text: Points, form: Forms) -> Points:
    """`text` in a form; texts without characters that it changes are left as they are."""
    may_change = is_member(writer, text.points, _unstable(form))
    return if_any(writer, may_change, lambda inner: _changed(inner, text, form), lambda _: text)


def _unstable(form: Forms) -> set[int]:
    """Code points that the form may change, alone or with those before them."""
    decompositions = unicode.decompositions(compatible=form.is_compatible)
    marks = set(unicode.combining_classes())
    if not form.composes:
        return marks | set(decompositions)
    pairs = composing.pairs()
    return marks | {second for _, second in pairs} | (set(decompositions) - _restored(form))


def _restored(form: Forms) -> set[int]:
    """Code points that compose to themselves again."""
    canonical = unicode.decompositions(compatible=False)
    made = set(composing.pairs().values())
    return {
        point
        for point, parts in unicode.decompositions(compatible=form.is_compatible).items()
        if point in made and parts == canonical.get(point)
    }


def _changed(writer: Writer, text: Points, form: Forms) -> Points:
    found = _ordered(writer, _decomposed(writer, text, form))
    if form.composes:
        found = composing.write(writer, found)
    return alignment.write(writer, text, found.points, found.replaced)


def _decomposed(writer: Writer, text: Points, form: Forms) -> Characters:
    size = writer.node("Squeeze", writer.node("Shape", text.points))
    places = writer.node("Range", 0, size, 1)
    numbered = Points(points=text.points, starts=places, ends=places)
    made = maps.write(writer, numbered, unicode.decompositions(compatible=form.is_compatible))
    earlier = writer.node("Concat", [-1], writer.node("Slice", made.starts, [0], [-1], [0]), axis=0)
    is_first = writer.node("Not", writer.node("Equal", made.starts, earlier))
    kind = number_of(writer, made.points, unicode.combining_classes())
    return Characters(
        points=made.points,
        classes=writer.cast(kind, ElementType.INT64),
        replaced=writer.cast(is_first, ElementType.INT64),
    )


def _ordered(writer: Writer, found: Characters) -> Characters:
    order = _order(writer, found.classes)
    points, classes, replaced = (
        writer.node("Gather", value, order) for value in (found.points, found.classes, found.replaced)
    )
    return Characters(points=points, classes=classes, replaced=replaced)


def _order(writer: Writer, classes: str) -> str:
    """Canonical Ordering Algorithm: marks between two starters by class; those of one class keep their order."""
    starters = writer.cast(writer.node("Equal", classes, 0), ElementType.INT64)
    key = writer.node("Mul", writer.node("CumSum", starters, 0), CLASSES)
    _, order = writer.nodes("TopK", 2, writer.node("Add", key, classes), writer.node("Shape", classes), largest=0)
    return order


def reordered(writer: Writer, text: Points, marks: Collection[int]) -> Points:
    """`text` with all marks in canonical order, if it has one of `marks`.

    What a mark comes from follows its new place, as in tokenizers.
    """

    classes = unicode.combining_classes()
    decomposed = unicode.decompositions(compatible=False).items()
    composed = {point: classes[parts[0]] for point, parts in decomposed if parts[0] in classes}

    def changed(inner: Writer) -> Points:
        kind = inner.cast(number_of(inner, text.points, {**classes, **composed}), ElementType.INT64)
        return replace(text, points=inner.node("Gather", text.points, _order(inner, kind)))

    return if_any(writer, is_member(writer, text.points, marks), changed, lambda _: text)
