"""`python -m tests.contract_table [--write]`: prints the table of results/contract_table.md, or puts it there."""

import sys
import tempfile
from pathlib import Path

from tests.contract_table import page, sides


def measured(folder: Path) -> list[page.Row]:
    """Asks all sides; `folder` is empty."""
    (folder / "project").mkdir()
    asked = sides.prepared(folder / "project", sides.OTHERS)
    others = []
    for target, side in sides.OTHERS.items():
        own = folder / target
        own.mkdir()
        others.append(side(asked, own))
    return page.rows(sides.python(asked), others)


def main() -> None:
    assert sys.argv[1:] in ([], ["--write"]), __doc__
    with tempfile.TemporaryDirectory() as scratch:
        found = page.table(measured(Path(scratch)))
    if sys.argv[1:]:
        page.write(found)
    else:
        print(found, end="")


if __name__ == "__main__":
    main()
