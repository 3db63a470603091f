"""Results of a store, put and listed."""

from pathlib import Path


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def put(path: Path, content: str) -> None:
    """Put a new file in place: a coarse clock may show no new time for a change in place."""
    path.with_name("other").write_text(content)
    path.with_name("other").replace(path)
