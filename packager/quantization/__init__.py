"""Turns a model and a quantizer into a variant: prepares, calibrates, searches and measures.

Imports nothing here: calibration and measurement run in child processes, in which every import costs time again.
"""
