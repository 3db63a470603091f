"""Which picture an output is about."""

from packager.contract.kind import Core, Placement
from packager.core.errors import ConfigError, nearest


def placement_of(core: Core, image: str) -> Placement | None:
    """Where the picture of the input `image` lies in what the core sees, or of the only one; None without pictures.

    Raises ConfigError when there is no such input, or none is named and there are several.
    """
    if image and image not in core.placements:
        hint = nearest(image, core.placements) if core.placements else "take out 'image': the model takes no picture"
        raise ConfigError(f"image '{image}' is no input with a picture", hint=hint)
    if not image and len(core.placements) > 1:
        raise ConfigError(
            f"the model takes {len(core.placements)} pictures",
            hint=f"image = NAME; one of {', '.join(core.placements)}",
        )
    return core.placements[image] if image else next(iter(core.placements.values()), None)
