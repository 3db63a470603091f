"""Packages that a lock of npm names, fetched side by side and unpacked: what `npm ci` does, with a quarter of its work.

Every archive is checked against its hash in the lock, and no script of a package runs. What no test reads is left out.
"""

import base64
import hashlib
import json
import os
import platform
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from packager.core.errors import ToolError

CONNECTIONS = 8
TIMEOUT_S = 60
GZIP = 16 + zlib.MAX_WBITS
EXECUTABLE = 0o111
OTHER_BYTES = "the registry serves other bytes than package-lock.json names; do not use them"
NOT_THERE = "check the network and the registry that npm is set to (npm config get registry), then run again"
SYSTEM = {"linux": "linux64-bin", "darwin": "osx-bin"}
MACHINES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}
MACHINE = MACHINES.get(platform.machine(), platform.machine())
LEFT_OUT = re.compile(
    rf"""
    .*\.map                                                                # of sources, for debuggers
    | .*/android/\.cxx/.*                                                  # what a publisher's own build has left
    | onnxruntime-node/bin/napi-v\d+/(?!{sys.platform}/{MACHINE}/).*         # 240 MB
    | (hermes-compiler|react-native/sdks)/hermesc/(?!{SYSTEM.get(sys.platform, "")}/).*
    """,
    re.VERBOSE,
)
"""Files by their package and the path in it: a twelfth of all, a sixth of their bytes."""


@dataclass(frozen=True)
class Locked:
    """A package in its place of a project."""

    place: str
    """the folder, below that of the project"""
    name: str
    version: str
    integrity: str
    """`sha512-` and a hash of the archive in base64; or other words that npm knows"""
    commands: Mapping[str, str]
    """files of the package, by the names of the commands that they are"""

    def address(self, registry: str) -> str:
        """The place of the archive in a registry."""
        return f"{registry.strip().rstrip('/')}/{self.name}/-/{self.name.rpartition('/')[2]}-{self.version}.tgz"


def packages_of(lock: Path) -> tuple[Locked, ...]:
    """The packages in `package-lock.json` that are for this machine, without those that others bundle."""
    packages: Mapping[str, Mapping[str, Any]] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return tuple(
        Locked(
            place=path,
            name=entry.get("name") or path.rpartition("node_modules/")[2],
            version=entry["version"],
            integrity=entry["integrity"],
            commands=entry.get("bin", {}),
        )
        for path, entry in packages.items()
        if "integrity" in entry and not entry.get("inBundle") and _is_for_this_machine(entry)
    )


def _is_for_this_machine(entry: Mapping[str, Any]) -> bool:
    """Whether npm would install the package: what is not optional always."""
    suits = (_suits(entry.get("os", ()), sys.platform), _suits(entry.get("cpu", ()), MACHINE))
    return not entry.get("optional") or all(suits)


def _suits(names: Sequence[str], own: str) -> bool:
    """`names` are those that suit, or with `!` those that do not."""
    wanted = [name for name in names if not name.startswith("!")]
    return f"!{own}" not in names and (not wanted or own in wanted)


def install(lock: Path, folder: Path, registry: str) -> None:
    """Fills `folder` with what `lock` names. Raises ToolError."""
    packages = packages_of(lock)
    pool = _connections(registry)
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for _ in threads.map(partial(_install, folder=folder, registry=registry, pool=pool), packages):
            pass
    for each in packages:
        _link_commands(each, folder)


def _connections(registry: str) -> urllib3.PoolManager:
    """Connections to the registry that stay, as every package would otherwise begin one."""
    parts = urlsplit(registry.strip())
    proxy = getproxies().get(parts.scheme)
    options: dict[str, Any] = {
        "maxsize": CONNECTIONS,
        "timeout": TIMEOUT_S,
        "retries": urllib3.Retry(3, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504)),
    }
    if proxy and not proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, **options)
    return urllib3.PoolManager(**options)


def _install(package: Locked, *, folder: Path, registry: str, pool: urllib3.PoolManager) -> None:
    archive = _fetched(package.address(registry), pool)
    if not is_right(archive, package.integrity):
        raise ToolError(f"{package.name} {package.version} is not the locked package", hint=OTHER_BYTES)
    unpack(archive, folder / package.place, package.name)


def _fetched(address: str, pool: urllib3.PoolManager) -> bytes:
    try:
        answer = pool.request("GET", address)
    except urllib3.exceptions.HTTPError as error:
        raise ToolError(f"{address}: {error}", hint=NOT_THERE) from error
    if answer.status != 200:
        raise ToolError(f"{address}: status {answer.status}", hint=NOT_THERE)
    return answer.data


def is_right(archive: bytes, integrity: str) -> bool:
    """Whether the hash of an archive is the locked one."""
    algorithm, _, wanted = integrity.partition("-")
    return algorithm == "sha512" and base64.b64encode(hashlib.sha512(archive).digest()).decode() == wanted


def unpack(archive: bytes, place: Path, name: str) -> None:
    """Writes the files of the package `name` without what is LEFT_OUT. Raises ToolError for what npm does not pack."""
    made: set[Path] = set()
    for path, is_executable, content in entries(archive):
        if LEFT_OUT.fullmatch(f"{name}/{path}"):
            continue
        file = place / path
        if file.parent not in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            made.add(file.parent)
        file.write_bytes(content)
        if is_executable:
            file.chmod(file.stat().st_mode | EXECUTABLE)


def entries(archive: bytes) -> Iterator[tuple[str, bool, bytes]]:
    """The files in a package's archive: the path in the package, whether it is a program, and the bytes.

    Links and devices, which npm leaves out, are refused, and so are paths that lead out of the package.
    """
    content = BytesIO(zlib.decompress(archive, GZIP))
    with tarfile.open(fileobj=content, mode="r:") as tar:
        for entry in tar:
            if file := tar.extractfile(entry) if entry.isfile() else None:
                yield _inside(entry.name), bool(entry.mode & EXECUTABLE), file.read()
            elif not entry.isdir():
                raise ToolError(f"{entry.name}: an entry of type {entry.type!r}", hint="npm packs files alone")


def _inside(path: str) -> str:
    """The path in the package: archives have all in one folder, with any name."""
    inside = PurePosixPath(path).parts[1:]
    if not inside or ".." in inside or path.startswith("/"):
        raise ToolError(f"the path {path} leads out of the package", hint="do not use the package")
    return "/".join(inside)


def _link_commands(package: Locked, folder: Path) -> None:
    """The package's commands, in `.bin` beside it."""
    modules = folder / package.place[: package.place.rindex("node_modules") + len("node_modules")]
    for command, file in package.commands.items():
        program = folder / package.place / file
        if not program.is_file():
            continue
        program.chmod(program.stat().st_mode | EXECUTABLE)
        link = modules / ".bin" / command
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(program, link.parent))
