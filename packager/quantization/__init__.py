"""From a model and a quantizer to a variant: what to prepare, calibrate, search and measure for it.

Nothing is imported here: calibration and measurement start processes of their own, where every import is paid again.
"""
