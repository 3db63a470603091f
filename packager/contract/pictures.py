"""The picture that an output refers to, and places in it."""

from packager.contract.kind import Core, Placement
from packager.core.errors import ConfigError, nearest
from packager.core.signature import ElementType
from packager.graph.writer import Writer


def placement_of(core: Core, image: str) -> Placement | None:
    """Position of the picture of the input `image`, or of the only one; None without pictures.

    Raises ConfigError if there is no such input, or if none is named and there are several.
    """
    if image and image not in core.placements:
        hint = nearest(image, core.placements) if core.placements else "take out 'image': the model takes no picture"
        raise ConfigError(f"image '{image}' is not an input with a picture", hint=hint)
    if not image and len(core.placements) > 1:
        raise ConfigError(
            f"the model takes {len(core.placements)} pictures",
            hint=f"set image to one of {', '.join(core.placements)}",
        )
    found = core.placements[image] if image else next(iter(core.placements.values()), None)
    if found and not found.core_width:
        raise ConfigError(
            'is about places in a picture, and resize = "height" gives each picture a width of its own',
            hint='use resize = "letterbox" with a size',
        )
    return found


def upright(writer: Writer, places: str, placement: Placement, *, pairs: int) -> tuple[str, str]:
    """`places` [k, 2 * pairs] of the core, x before y, in pixels of the upright picture; its size [2 * pairs]."""
    offset, made, size = _sides(writer, placement, pairs)
    moved = writer.node("Sub", writer.cast(places, ElementType.DOUBLE), offset)
    return writer.node("Div", writer.node("Mul", moved, size), made), size


def seen(writer: Writer, places: str, placement: Placement) -> str:
    """`places` [k, 2], double, of the upright picture, x before y, in pixels of the core."""
    offset, made, size = _sides(writer, placement, 1)
    return writer.node("Add", writer.node("Div", writer.node("Mul", places, made), size), offset)


def _sides(writer: Writer, placement: Placement, pairs: int) -> tuple[str, str, str]:
    """double [2 * pairs]: x and y of where the upright picture lies in the core, its size there, and its own size."""
    offset, made, size = (
        writer.cast(writer.node("Concat", *(x, y) * pairs, axis=0), ElementType.DOUBLE)
        for x, y in (
            (placement.offset_x, placement.offset_y),
            (placement.made_width, placement.made_height),
            (placement.width, placement.height),
        )
    )
    return offset, made, size
