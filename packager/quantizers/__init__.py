"""Ways to make a variant of a model. Adding one: a file and a line here."""

from packager.quantizers.dequantized import Dequantized
from packager.quantizers.none import NoQuantizer
from packager.quantizers.quantizer import Quantizer
from packager.quantizers.unsigned import Unsigned

QUANTIZERS: dict[str, type[Quantizer]] = {
    NoQuantizer.NAME: NoQuantizer,
    Dequantized.NAME: Dequantized,
    Unsigned.NAME: Unsigned,
}

__all__ = ["QUANTIZERS", "Quantizer"]
