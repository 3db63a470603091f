"""Which models export, convert, quantize and ship: `python -m benchmarks.matrix`."""
