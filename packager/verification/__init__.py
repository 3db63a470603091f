"""Checks of what ships: kernels, parity, partitions, golden vectors, and the first node that differs."""
