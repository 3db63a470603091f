"""Ways to make a variant of a model. Adding one: a file and a line here."""

from packager.quantizers.none import NoQuantizer
from packager.quantizers.quantizer import Quantizer

QUANTIZERS: dict[str, type[Quantizer]] = {NoQuantizer.NAME: NoQuantizer}

__all__ = ["QUANTIZERS", "Quantizer"]
