"""ONNX Runtime's CPU provider with the same numbers on every x86 processor, for whatever judges a model.

What ships runs on ARM, whose 8-bit products are exact. On x86 three things depend on the processor, measured by
`tests/test_exact.py`: products of uint8 by int8 saturate where there is AVX2 or AVX-512 and no VNNI, Softmax
adds in an order of the width of vectors, and the NCHWc layout blocks channels by that width.
"""

from packager.session.exact.opening import opened
from packager.session.exact.processor import saturates

__all__ = ["opened", "saturates"]
