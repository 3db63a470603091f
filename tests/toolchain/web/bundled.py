"""Web packages as an app ships them that has its modules bundled: a page asks for a few files in place of sixty."""

import re
import shutil
from pathlib import Path

from tests.toolchain import node
from tests.toolchain.kept import kept, linked

BUNDLE = Path(__file__).with_name("bundle.mjs")
ENTRIES = ("index.js", "updates.js")
"""of a package whose models a channel delivers"""
WORKER = "web/worker.js"
ADDRESS = re.compile(r"import\.meta\.url")


def bundled(package: Path, *entries: str) -> Path:
    """A package, of whose JavaScript are left the bundled `entries`, files in `lib`, and that of its worker.

    Nobody may write to it.
    """

    def make(made: Path) -> None:
        for each in sorted(package.iterdir()):
            if each.is_dir() and each.name != "lib":
                shutil.copytree(each, made / each.name, copy_function=linked)
        esbuild = node.project("web") / "node_modules" / "esbuild" / "lib" / "main.js"
        done = node.run([BUNDLE, esbuild, package / "lib", made / "lib", *entries, WORKER], cwd=made)
        assert (done.returncode, done.output) == (0, "")
        inner = [each.read_text(encoding="utf-8") for each in (made / "lib").glob("*/**/*.js")]
        assert not any(map(ADDRESS.search, inner)), "an address is not that of the outermost folder"

    return kept("web-bundled", make, package, BUNDLE, *entries)
