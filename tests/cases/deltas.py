"""Deltas: every pair of files comes back, hostile ones are refused, and memory stays small."""

import numpy
import numpy.typing

NOISE = numpy.random.default_rng(0)
