"""Modules that the models of this package share."""
