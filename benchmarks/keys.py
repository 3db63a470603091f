"""How often commits change the keys of stored results: `python -m benchmarks.keys [--last 100] [--until COMMIT]`.

Unpacks every commit and asks which steps have another key than in the commit before, by the steps as they are declared
now. Then the time that a process needs for all keys of the code that runs.
"""

import argparse
import importlib
import io
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from packager.files.store import Step, closure
from packager.files.store.closure import Code

ROOT = Path(__file__).parents[1]
KEYS_OF_ALL = """
import importlib, sys, time
modules = [importlib.import_module(name) for name in sys.argv[1:]]
from packager.files.store import Step
steps = {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Step)}
started = time.perf_counter()
for step in steps.values():
    step.code
print(f"{len(steps)} keys in {1000 * (time.perf_counter() - started):.0f} ms")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", type=int, default=100, help="so many commits; default: 100")
    parser.add_argument("--until", default="HEAD", metavar="COMMIT", help="the newest of them")
    arguments = parser.parse_args()
    changes = changed_keys(commits(arguments.last, arguments.until))
    print(f"of the last {arguments.last} commits until {arguments.until} so many change the key of")
    for name, count in sorted(changes.items(), key=lambda item: (item[1], item[0])):
        print(f"  {count:4}  {name}")
    print(
        subprocess.run([sys.executable, "-c", KEYS_OF_ALL, *callers()], text=True, capture_output=True).stdout, end=""
    )


def callers() -> list[str]:
    """The modules that declare steps."""
    paths = sorted((ROOT / "packager").rglob("*.py"))
    names = [path.relative_to(ROOT).with_suffix("").parts for path in paths if "caller=__name__" in path.read_text()]
    return [".".join(each[:-1] if each[-1] == "__init__" else each) for each in names]


def steps() -> Mapping[str, Step]:
    values = [value for name in callers() for value in vars(importlib.import_module(name)).values()]
    return {value.name: value for value in values if isinstance(value, Step)}


def commits(count: int, until: str) -> list[str]:
    """One more than `count`, the oldest first."""
    listed = git("rev-list", "--first-parent", f"--max-count={count + 1}", until)
    return listed.decode().split()[::-1]


def changed_keys(found: list[str]) -> Counter[str]:
    """Step -> the number of commits that change its key; `any code or template` is what one key for all would count."""
    changes: Counter[str] = Counter(dict.fromkeys((*steps(), "any code or template"), 0))
    before: dict[str, str] = {}
    for commit in found:
        after = codes(commit)
        if before:
            changes.update(name for name in after if before[name] != after[name])
        before = after
    return changes


def codes(commit: str) -> dict[str, str]:
    closure.forget()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "packager", "templates"))) as archive:
            archive.extractall(folder, filter="data")
        code = Code(package=Path(folder, "packager"), templates=Path(folder, "templates"))
        trees = git("rev-parse", f"{commit}:packager", f"{commit}:templates").decode()
        return {**{name: step.code_in(code) for name, step in steps().items()}, "any code or template": trees}


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    main()
