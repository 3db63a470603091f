"""The kind `image`: pictures of any size, converted to the model's input."""

from packager.contract.image.kind import PictureInput

__all__ = ["PictureInput"]
