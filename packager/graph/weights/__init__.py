"""Reads weights where they lie, converts them in a stream, and writes them."""
