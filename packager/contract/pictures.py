"""Finds the picture that an output refers to."""

from packager.contract.kind import Core, Placement
from packager.core.errors import ConfigError, nearest


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
    return core.placements[image] if image else next(iter(core.placements.values()), None)
