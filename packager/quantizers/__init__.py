"""Ways to make a variant of a model. Adding one: a file and a line here."""

from packager.quantizers.dequantized import Dequantized
from packager.quantizers.none import NoQuantizer
from packager.quantizers.quantizer import Quantizer

QUANTIZERS: dict[str, type[Quantizer]] = {NoQuantizer.NAME: NoQuantizer, Dequantized.NAME: Dequantized}

__all__ = ["QUANTIZERS", "Quantizer"]
