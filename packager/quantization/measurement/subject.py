"""The graphs that are measured."""

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
        """Writes the graph to `path`, so that another process can open it; returns `path`."""
        path.write_bytes(self.graph)
        return path
