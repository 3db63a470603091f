"""`mobpack delta`: the difference between two versions of a file, small enough to send to apps."""

from pathlib import Path

import click

from packager.cli.options import MODEL


@click.command(short_help="Make or apply the difference between two versions of a file.")
@click.argument("old", type=MODEL)
@click.argument("new", type=MODEL)
@click.option("--out", type=MODEL, required=True, metavar="FILE", help="File to write.")
@click.option("--apply", "is_applied", is_flag=True, help="Apply the delta NEW to OLD, and write the result to --out.")
def delta(old: Path, new: Path, out: Path, is_applied: bool) -> None:
    """Write the delta that makes the file NEW of the file OLD, for whoever has OLD.

    Models in the formats ORT and ONNX are compared tensor by tensor; other files are searched for bytes that both
    have.
    """
    from packager.core.console import Console
    from packager.core.errors import ToolError
    from packager.distribution import deltas
    from packager.files.atomic import atomic_file

    if is_applied:
        try:
            file = new.open("rb")
        except OSError as error:
            raise ToolError(f"cannot read {new}: {error.strerror}", hint="give a file of `mobpack delta`") from error
        with file:
            deltas.apply(old, file, out)
        Console().result(f"{out}: {out.stat().st_size:,} bytes, its sha256 is the one in the delta")
        return
    content = deltas.make(old, new)
    with atomic_file(out) as result:
        result.write(content)
    size = new.stat().st_size
    Console().result(f"{out}: {len(content):,} bytes, {len(content) / max(1, size):.1%} of {size:,}")
