"""Rules for the text of every file of the repository."""

import ast
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from packager.files.processes import downloads
from tests.toolchain.require import require

ROOT = Path(__file__).parents[2]

# Written in two halves, so that this file does not hold what it forbids.
REGISTRY_HOSTS = [
    "pypi" + ".org",
    "python" + "hosted",
    "npm" + "js",
    "deb." + "debian",
    "security." + "debian",
    "archive." + "ubuntu",
    "repo1." + "maven",
    "repo." + "maven",
    "maven." + "google",
    "dl." + "google",
    "proxy." + "golang",
    "static." + "crates",
    "hugging" + "face.co/",
    "conda" + ".anaconda",
]
MACHINE_FOLDERS = ("work", "root", "home", "tmp", "mnt", "Users", "private")
MACHINE_PATH = re.compile(rf"(?<![\w.~>-])/(?:{'|'.join(MACHINE_FOLDERS)})/[\w.]|\.\./" + r"shared\b|[A-Z]:\\Users")


@cache
def texts() -> dict[str, str]:
    """Path -> text of every text file that is, or would be, in git."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False)
    require(listed.returncode == 0, "not a git checkout")
    found = {}
    for name in sorted(filter(None, listed.stdout.decode().split("\0"))):
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in content:
            found[name] = content.decode("utf-8")
    return found


def lines_with(pattern: re.Pattern[str], words: Sequence[str]) -> list[str]:
    """`words`: each line that `pattern` finds has one of them, so that few files are looked through line by line."""
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts().items()
        if any(word in text for word in words)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_text_file_names_machines_or_has_odd_line_ends_or_marks_of_a_merge() -> None:
    # Every machine has its own mirrors, which the clients know.
    assert lines_with(re.compile("|".join(re.escape(host) for host in REGISTRY_HOSTS)), REGISTRY_HOSTS) == []
    assert lines_with(MACHINE_PATH, [*(f"/{each}/" for each in MACHINE_FOLDERS), "/shared", ":\\Users"]) == []
    wrong = [name for name, text in texts().items() if "\r" in text or (text and not text.endswith("\n"))]
    assert wrong == []
    found = lines_with(re.compile(r"[ \t]+$"), [" \n", "\t\n"])
    # an alphabet may have a blank
    found = [line for line in found if "/src/main/resources/" not in line]
    assert [line for line in found if not line.split(":")[0].endswith(".md")] == []
    marks = [each * 7 for each in "<>|"]
    assert lines_with(re.compile(rf"^({'|'.join(map(re.escape, marks))}) "), marks) == []


def test_versions_that_packages_are_built_with_are_in_pins_alone() -> None:
    """Dotted triples only: shorter versions are found in too many other numbers."""
    pinned = set(re.findall(r"\b\d+\.\d+\.\d+\b", " ".join(strings(downloads.pins()["android"]))))
    assert pinned
    pattern = re.compile(r"(?<![\d.])(?:" + "|".join(map(re.escape, sorted(pinned))) + r")(?![\d.])")
    code = ("templates/", "packager/", "scripts/", "sample_apps/")
    found = lines_with(pattern, sorted(pinned))
    assert [line for line in found if line.startswith(code) and "pins.toml" not in line] == []


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    return [value] if isinstance(value, str) else []


def test_names_of_tests_differ_and_docstrings_begin_otherwise() -> None:
    # Python keeps the last of two functions with one name, and pytest never sees the first.
    twice = []
    for name, text in texts().items():
        if name.startswith("tests/") and name.endswith(".py"):
            names = re.findall(r"^def (test_\w+)", text, re.MULTILINE)
            twice += [f"{name}: {each}" for each in sorted(set(names)) if names.count(each) > 1]
    assert twice == []
    # `Name of the variant`, not `What the variant is called`.
    places = [name for name in texts() if name.endswith(".py")]
    assert {name.partition("/")[0] for name in places} >= {"packager", "benchmarks", "scripts", "tests"}
    assert {name: found for name in places if (found := questions(texts()[name]))} == {}


def docstrings(source: str) -> list[str]:
    """Docstrings of the module, its classes and functions, and those below fields and constants."""
    bodies = [body for node in ast.walk(ast.parse(source)) if isinstance(body := getattr(node, "body", []), list)]
    values = [statement.value for body in bodies for statement in body if isinstance(statement, ast.Expr)]
    return [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def questions(source: str) -> list[str]:
    found = docstrings(source) if "What" in source else ()  # parsing takes time
    return [text for text in found if text.split()[:1] == ["What"]]
