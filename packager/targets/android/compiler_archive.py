"""A class-data archive of the Kotlin compiler: runs that start from it take two seconds less of CPU.

The first run makes it where MOBPACK_KOTLIN_ARCHIVES names a folder, for ten seconds of CPU and 125 MB. It is of use
where one environment compiles five packages or more, as tests do.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from packager.files import host
from packager.processes import commands

VARIABLE = "MOBPACK_KOTLIN_ARCHIVES"
MARK = ".made"
"""End of the name of an empty file: a process makes the archive, or has tried."""


@contextmanager
def flags(java: Sequence[str | Path], jars: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Flags for a run of the compiler in the block: from its archive, or to make it after the block.

    `java` is the program with its own flags, `jars` are the class path.
    """
    folder = os.environ.get(VARIABLE)
    archive = Path(folder).absolute() / _name(jars) if folder else None
    if archive and archive.is_file():
        yield f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"
    elif archive and _is_first(archive):
        with _making(archive, java, jars) as listing:
            yield (listing,)
    else:
        yield ()


def _name(jars: Sequence[Path]) -> str:
    known = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    return f"kotlin-{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.jsa"


def _is_first(archive: Path) -> bool:
    """Whether no other process makes the archive, and this one may write there."""
    try:
        Path(f"{archive}{MARK}").touch(exist_ok=False)
    except OSError:
        return False
    return True


@contextmanager
def _making(archive: Path, java: Sequence[str | Path], jars: Sequence[Path]) -> Iterator[str]:
    """Gives the flag that lists the classes of a run, and makes the archive of these; after an error, another process
    may."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        names, made = Path(scratch, "classes.txt"), Path(scratch, "archive")
        try:
            yield f"-XX:DumpLoadedClassList={names}"
            dump = ("-Xshare:dump", f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={made}")
            path = os.pathsep.join(map(str, jars))
            commands.run([*java, *dump, "-Xlog:disable", "-cp", path], what="an archive of the Kotlin compiler")
        except BaseException:
            Path(f"{archive}{MARK}").unlink(missing_ok=True)
            raise
        host.replace(made, archive)
