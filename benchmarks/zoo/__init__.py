"""Real models out of public packages, each built for all targets: `python -m benchmarks.zoo`."""
