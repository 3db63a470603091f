"""sample_apps/vision: the command that its README names, and the network that it writes."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
