"""Searches the fastest settings of a model on a device: provider, threads, options, within the allowed error."""
