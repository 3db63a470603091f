"""Readers of files that users get from others, each as a function that gets any bytes."""

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from random import Random

from benchmarks.abuse.mutations import change_fields
from benchmarks.fuzz import seeds

Reader = Callable[[bytes, Path], object]
"""Gets an input and an empty folder."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "gpt2.tiktoken", "tokenizer.model")
"""Files of tokenizers: the first byte of an input says which."""
SWITCH = ord("0")
"""The first byte of an input that says how the rest is read, as a digit."""


@dataclass(frozen=True, kw_only=True)
class Target:
    about: str
    read: Reader
    seeds: Callable[[Path], Mapping[str, bytes]]
    """gets an empty folder"""
    modules: tuple[str, ...]
    """files and folders of packager/ whose branches count"""
    longest_bytes: int
    words: Callable[[], frozenset[str]] = frozenset
    """put into inputs"""
    change: Callable[[bytes, Random], bytes] | None = None
    """changes an input so that it stays in its format"""


def model(content: bytes, folder: Path) -> None:
    from packager.models.load import load

    load(_file(folder, "m.onnx", content), "m")


def config(content: bytes, folder: Path) -> None:
    from packager.config.loading import load

    load(_file(folder, "mobpack.toml", content))


def tokenizer(content: bytes, folder: Path) -> None:
    from packager.contract import tokenization
    from packager.core.errors import MobpackError

    path = _file(folder, TOKENIZERS[_switch(content) % len(TOKENIZERS)], content[1:])
    try:
        tokenization.alone(tokenization.read(path))
    except MobpackError:
        tokenization.read_decoder(path)


def delta(content: bytes, folder: Path) -> None:
    """A whole delta, or its instructions alone: a fuzzer finds no sha256 and no deflate stream."""
    from packager.distribution import deltas
    from tests.cases.delta_vectors import SOURCE, packed

    if not content.startswith(b"MPDELTA"):
        size = int.from_bytes(content[:2], "little")
        content = packed(content[2:], SOURCE, bytes(size))
    deltas.apply(_file(folder, "old", SOURCE), BytesIO(content), folder / "new")


def archive(content: bytes, folder: Path) -> None:
    """A zip, a tarball, or the tarball inside gzip."""
    from packager.distribution.differences import archives
    from packager.distribution.release import contents

    kind, content = _switch(content), content[1:]
    name = "a.zip" if kind % 3 == 0 else "a.tgz"
    path = _file(folder, name, gzip.compress(content, 1) if kind % 3 == 2 else content)
    (folder / "out").mkdir()
    contents.unpack(path, folder / "out")
    contents.inside(path)
    archives.contents(path)


def device_package(content: bytes, folder: Path) -> None:
    """A library for Android, or the samples in a sound one."""
    from packager.measuring.devices.package import read

    kind, content = _switch(content), content[1:]
    whole = content if kind % 2 == 0 else seeds.library({"assets/mobpack/m.golden.safetensors": content})
    runtime = _file(folder, "runtime.aar", seeds.android_runtime())
    (folder / "out").mkdir()
    read(_file(folder, "a.aar", whole), runtime, folder / "out")


def metadata(content: bytes, folder: Path) -> None:
    """Metadata of TUF as it is, or as the next file of a channel whose keys have signed it, whatever it says."""
    from packager.distribution.channel.document import parsed_releases
    from packager.distribution.channel.roots import trusted_root

    kind, content = _switch(content), content[1:]
    if kind % 4 == 0:
        trusted_root(seeds.signed(content), "the root")
    elif kind % 4 == 1:
        parsed_releases(content, "releases.json")
    else:
        place = seeds.signed_channel(folder, content, is_root=kind % 4 == 2)
        place.current()
        place.newest()


def scales(content: bytes, folder: Path) -> None:
    from packager.quantization.scales import read

    read(_file(folder, "scales.safetensors", content))


def _file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _switch(content: bytes) -> int:
    return content[0] - SWITCH if content else 0


def _keys_of_schema() -> frozenset[str]:
    text = (seeds.ROOT / "docs" / "mobpack.schema.json").read_text(encoding="utf-8")
    return frozenset(re.findall(r'"([a-z][a-z0-9-]{2,30})"', text))


def _texts_of_seeds(made: Callable[[Path], Mapping[str, bytes]]) -> Callable[[], frozenset[str]]:
    """The strings of JSON in seeds."""

    def words() -> frozenset[str]:
        with seeds.scratch() as folder:
            texts = b"\n".join(made(folder).values()).decode(errors="replace")
        return frozenset(re.findall(r'"[A-Za-z_-]{3,30}"', texts))

    return words


TARGETS: Mapping[str, Target] = {
    "model": Target(
        about="the reader of ONNX files",
        read=model,
        seeds=seeds.models,
        modules=("models", "graph/traversal.py"),
        longest_bytes=4096,
        change=change_fields,
    ),
    "config": Target(
        about="mobpack.toml",
        read=config,
        seeds=seeds.configs,
        modules=("config", "core/toml.py", "core/parsing.py"),
        longest_bytes=2048,
        words=_keys_of_schema,
    ),
    "tokenizer": Target(
        about="files of tokenizers, and the graphs that are made of them",
        read=tokenizer,
        seeds=seeds.tokenizers,
        modules=("contract/tokenization",),
        longest_bytes=4096,
        words=_texts_of_seeds(seeds.tokenizers),
    ),
    "delta": Target(
        about="deltas, applied",
        read=delta,
        seeds=seeds.deltas,
        modules=("distribution/deltas/applying.py", "distribution/deltas/layout.py"),
        longest_bytes=1024,
    ),
    "archive": Target(
        about="packages: .zip, .aar and .tgz",
        read=archive,
        seeds=seeds.archives,
        modules=("files/zips.py", "distribution/release/contents.py", "distribution/differences/archives.py"),
        longest_bytes=4096,
    ),
    "package": Target(
        about="libraries for Android that devices run, with their samples",
        read=device_package,
        seeds=seeds.device_packages,
        modules=("measuring/devices/package.py", "vectors/reading.py", "vectors/generated.py"),
        longest_bytes=2048,
        words=_texts_of_seeds(seeds.device_packages),
    ),
    "metadata": Target(
        about="metadata of channels, and their lists of releases",
        read=metadata,
        seeds=seeds.documents,
        modules=tuple(f"distribution/channel/{name}.py" for name in ("document", "repository", "roles", "roots")),
        longest_bytes=8192,
        words=_texts_of_seeds(seeds.documents),
    ),
    "scales": Target(
        about="files of scales, which are safetensors",
        read=scales,
        seeds=seeds.scales,
        modules=("quantization/scales.py", "vectors/safetensors.py", "core/parsing.py"),
        longest_bytes=1024,
        words=_texts_of_seeds(seeds.scales),
    ),
}
