"""Determines which nodes of a graph each provider takes: by asking the provider if it runs here, otherwise by its
rules."""
