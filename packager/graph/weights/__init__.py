"""Reads weights where they lie, turns them into other numbers in a stream, and writes them."""
