"""Real models out of public packages, each built for phones: `python -m benchmarks.zoo`."""
