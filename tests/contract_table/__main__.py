"""`python -m tests.contract_table [--write]`: prints the table of results/contract_table.md, or puts it there."""

import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from tests.contract_table import page, sides


def measured(folder: Path, targets: Collection[str] = tuple(sides.OTHERS)) -> list[page.Row]:
    """Asks the sides of `targets`; `folder` is empty."""
    (folder / "project").mkdir()
    asked = sides.prepared(folder / "project", targets)
    others = []
    for target in targets:
        own = folder / target
        own.mkdir()
        others.append(sides.OTHERS[target](asked, own))
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
