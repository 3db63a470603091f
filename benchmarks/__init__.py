"""Measurements of mobpack beside the tools that people use today. No tests: seconds depend on the machine."""
