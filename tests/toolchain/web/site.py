"""Files of a site with a web package."""

from pathlib import Path

PAGE = b"<!doctype html><meta charset=utf-8><title>models</title><link rel=icon href=data:,>"


def files_of(folder: Path, root: str) -> dict[str, bytes]:
    """Files below `folder`, by their path on a site that has them below `root`."""
    return {
        f"{root}{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
