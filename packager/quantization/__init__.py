"""From a model and a quantizer to a variant: what to prepare, calibrate, search and measure for it."""

from packager.quantization.making import draft_of
from packager.quantization.variants import Made, settings_of, variant
from packager.values import own_numbers

__all__ = ["Made", "draft_of", "own_numbers", "settings_of", "variant"]
