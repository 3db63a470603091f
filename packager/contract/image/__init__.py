"""Pictures of any size, as apps have them, made into what a model was trained on."""

from packager.contract.image.kind import PictureInput

__all__ = ["PictureInput"]
