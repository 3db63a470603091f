"""Hours of ordinary trouble for the generated runtimes: `python -m benchmarks.soak`."""
