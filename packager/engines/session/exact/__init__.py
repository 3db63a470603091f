"""ONNX Runtime's CPU provider with the same results on every x86 processor, as a reference for models.

Phones have ARM, whose 8-bit products are exact. On x86 three things depend on the processor, measured by
`tests/unit/test_exact.py`: products of uint8 by int8 saturate with AVX2 or AVX-512 and without VNNI, Softmax sums in an
order that depends on the width of vectors, and the NCHWc layout blocks channels by that width.
"""

from packager.engines.session.exact.opening import opened
from packager.engines.session.exact.processor import saturates

__all__ = ["opened", "saturates"]
