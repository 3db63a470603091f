"""Measurements of mobpack against the tools people use today; never tests: the machine decides the seconds."""
