"""`mobpack` that compiles no Kotlin: its Android libraries have no classes.

For releases that a channel delivers. Apps take the models of these, and run the code of the release that they have.
"""

from dataclasses import replace
from pathlib import Path

from packager.cli import commands
from packager.files.store import Store
from packager.targets.android import assembly
from packager.targets.kotlin import kotlin, units


def write_none(path: Path, module: units.Module, store: Store) -> Path:
    """In the place of `units.write_classes`."""
    return kotlin.write_jar(path, [])


if __name__ == "__main__":
    units.write_classes = write_none
    # In a place of their own in the store: the same project is also built with classes.
    assembly.ASSEMBLY = replace(assembly.ASSEMBLY, name="android-without-classes")
    commands()
