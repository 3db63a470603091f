"""What is measured, and on what."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class MeasuredGraph:
    """A graph that can be run."""

    graph: bytes
    """serialized ModelProto"""
    data_folder: Path
    """of its external data"""

    def written(self, path: Path) -> Path:
        """`path`, with the graph in it: what a process of its own can open."""
        path.write_bytes(self.graph)
        return path
