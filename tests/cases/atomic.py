"""Two ways to write a file that appears whole."""

from pathlib import Path

from packager.files.atomic import atomic_file, atomic_files


def write(path: Path, content: bytes = b"whole") -> None:
    with atomic_file(path) as file:
        file.write(content)


def write_files(path: Path) -> None:
    with atomic_files(path.parent) as folder:
        (folder / path.name).write_bytes(b"whole")
