"""Where the files of a channel lie: a folder, a web server, or a store that fsspec knows, such as S3 or WebDAV."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

from packager.core import user_files
from packager.core.errors import ConfigError, ToolError
from packager.distribution.channel.webdav import Moving, is_webdav
from packager.files import host
from packager.files.atomic import atomic_file
from packager.files.web import SCHEMES, WebFiles

LOCK = ".lock"
INSTALL = "run: pip install 'mobpack[channel]'"
CHANGED = ("LastModified", "last_modified", "mtime", "modified", "created")
"""Names that file systems of fsspec give to the time of a change: a datetime, or seconds since 1970."""
CHECK = "check the address, its credentials and the network, and run the same command again: it continues"

CHECK_FOLDER = "check the folder's permissions and its free disk space, and run the same command again: it continues"


class AbsentError(Exception):
    """There is no file under a name."""


class ExistsError(Exception):
    """A file is there already that was to be created."""


class ChangedError(Exception):
    """A file that was to be replaced has another content than before."""


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file in a store."""

    name: str
    size_bytes: int
    changed_s: float | None
    """seconds since 1970; None if the store does not say"""


class ChannelStorage(Protocol):
    """Files by their names, paths with slashes. Every method raises ToolError if the store cannot be reached."""

    @property
    def has_lists(self) -> bool:
        """Whether it lists its files, and takes new ones: a web server does neither."""
        ...

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        """The content of a file, at most one byte more than the limit; None if there is none."""
        ...

    def opened(self, name: str) -> IO[bytes]:
        """A file to read, which may never end. Raises AbsentError if it is not there."""
        ...

    def create(self, name: str, content: bytes) -> None:
        """Writes a file that must not be there, completely or not at all. Raises ExistsError if it is, however many
        others create it at the same moment (`If-None-Match: *`)."""
        ...

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        """Writes a file completely or not at all over the one that has the `expected` content; None: over none. Raises
        ChangedError if it has another (`If-Match`)."""
        ...

    def upload(self, name: str, path: Path) -> None:
        """Writes the file at `path` under a name."""
        ...

    def listed(self, folder: str) -> list[StoredFile]:
        """The files below a folder, sorted by name."""
        ...

    def delete(self, name: str) -> None: ...


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Names the file that an opened store stops giving, as ToolError."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror or error}", hint=CHECK) from error


def open_storage(url: str) -> ChannelStorage:
    """The store at `url`: a folder's path, `file://`, a web server to read from, or an address that a package of fsspec
    knows.

    Raises ConfigError for an unknown kind of address, or one whose package is missing; ToolError for a store
    that does not answer.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return ChannelFolder(root=Path(unquote(parts.path)))
    if "://" not in url:
        return ChannelFolder(root=Path(url))
    if parts.scheme in SCHEMES:
        return WebServer(web=WebFiles(root=url.rstrip("/")))
    try:
        import fsspec
    except ImportError as error:
        raise ConfigError(f"{url}: addresses need the Python package fsspec", hint=INSTALL) from error
    try:
        files, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{url}: {error}", hint=f"install the package that it names; {INSTALL}") from error
    except Exception as error:  # some stores are connected to at once, and every library has errors of its own
        raise ToolError(f"{url}: {type(error).__name__}: {error}", hint=CHECK) from error
    stored = Moving(files=files) if is_webdav(files) else files
    return RemoteChannel(files=stored, root=root.rstrip("/"), url=url)


@dataclass(frozen=True, kw_only=True)
class ChannelFolder:
    """A folder of this machine. One process writes at a time; readers wait for nobody and see whole files."""

    root: Path
    has_lists: bool = True

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        with self._failing(name):
            try:
                with user_files.opened(self.root / name) as file:
                    return file.read(limit_bytes + 1)
            except FileNotFoundError:
                return None

    def opened(self, name: str) -> IO[bytes]:
        with self._failing(name):
            try:
                return user_files.opened(self.root / name)
            except FileNotFoundError as error:
                raise AbsentError from error

    def create(self, name: str, content: bytes) -> None:
        with self._locked(name):
            if (self.root / name).exists():
                raise ExistsError
            self._write(name, content)

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        with self._locked(name):
            if self._present(name, expected) != expected:
                raise ChangedError
            self._write(name, content)

    def _present(self, name: str, expected: bytes | None) -> bytes | None:
        return self.read(name, limit_bytes=len(expected or b""))

    def upload(self, name: str, path: Path) -> None:
        with self._locked(name), atomic_file(self.root / name) as file, user_files.opened(path) as source:
            shutil.copyfileobj(source, file)

    def listed(self, folder: str) -> list[StoredFile]:
        with self._failing(folder):
            return sorted(self._each(folder), key=lambda each: each.name)

    def _each(self, folder: str) -> Iterator[StoredFile]:
        for path in (self.root / folder).rglob("*"):
            if not path.name.startswith(".") and path.is_file():
                status = path.stat()
                name = path.relative_to(self.root).as_posix()
                yield StoredFile(name=name, size_bytes=status.st_size, changed_s=status.st_mtime)

    def delete(self, name: str) -> None:
        with self._locked(name):
            (self.root / name).unlink(missing_ok=True)

    def _write(self, name: str, content: bytes) -> None:
        with atomic_file(self.root / name) as file:
            file.write(content)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with self._failing(name):
            self.root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.root / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                host.lock(descriptor)
                yield
            finally:
                os.close(descriptor)

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ToolError(f"{self.root / name}: {error.strerror or error}", hint=CHECK_FOLDER) from error


@dataclass(frozen=True, kw_only=True)
class WebServer:
    """A channel as devices see it: files by their names, and nothing else."""

    web: WebFiles
    has_lists: bool = False

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        with self._failing(name):
            try:
                return self.web.read(name, limit_bytes=limit_bytes + 1)
            except FileNotFoundError:
                return None

    def opened(self, name: str) -> IO[bytes]:
        with self._failing(name):
            try:
                return self.web.opened(name)
            except FileNotFoundError as error:
                raise AbsentError from error

    def create(self, name: str, content: bytes) -> None:
        raise self._read_only()

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        raise self._read_only()

    def upload(self, name: str, path: Path) -> None:
        raise self._read_only()

    def listed(self, folder: str) -> list[StoredFile]:
        raise self._read_only()

    def delete(self, name: str) -> None:
        raise self._read_only()

    def _read_only(self) -> ConfigError:
        return ConfigError(
            f"{self.web.root} can only be read: a web server lists no files and takes none",
            hint="name the place that it serves: a folder, s3://, gs://, abfs:// or webdav://",
        )

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ToolError(f"{self.web.root}/{name}: {error.strerror or error}", hint=CHECK) from error


@dataclass(frozen=True, kw_only=True)
class RemoteChannel:
    """A store of fsspec. S3, GCS and Azure create a file only if it is not there; elsewhere, such as in WebDAV, it is
    looked for just before, which leaves a moment for another publisher. So does replacing a file, everywhere."""

    files: Any
    root: str
    url: str
    has_lists: bool = True

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        with self._failing(name):
            self.files.invalidate_cache()
            try:
                with self.files.open(self._path(name), "rb") as file:
                    return bytes(file.read(limit_bytes + 1))
            except FileNotFoundError:
                return None

    def opened(self, name: str) -> IO[bytes]:
        with self._failing(name):
            try:
                file: IO[bytes] = self.files.open(self._path(name), "rb")
            except FileNotFoundError as error:
                raise AbsentError from error
            return file

    def create(self, name: str, content: bytes) -> None:
        with self._failing(name):
            self.files.invalidate_cache()
            if self.files.exists(self._path(name)):
                raise ExistsError
            self._make_parent(name)
            try:
                self.files.pipe_file(self._path(name), content, mode="create")
            except FileExistsError as error:
                raise ExistsError from error
            except TypeError:  # a store without this mode
                self.files.pipe_file(self._path(name), content)

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        if self.read(name, limit_bytes=len(expected or b"")) != expected:
            raise ChangedError
        with self._failing(name):
            self._make_parent(name)
            self.files.pipe_file(self._path(name), content)

    def upload(self, name: str, path: Path) -> None:
        with self._failing(name):
            self._make_parent(name)
            self.files.put_file(str(path), self._path(name))

    def listed(self, folder: str) -> list[StoredFile]:
        with self._failing(folder):
            self.files.invalidate_cache()
            found = self.files.find(self._path(folder), detail=True)
            return sorted((self._stored(path, info) for path, info in found.items()), key=lambda each: each.name)

    def _stored(self, path: str, info: dict[str, Any]) -> StoredFile:
        changed: Any = next((info[key] for key in CHANGED if info.get(key)), None)
        seconds = changed.timestamp() if hasattr(changed, "timestamp") else changed
        name = path.strip("/").removeprefix(self.root.strip("/")).strip("/")
        return StoredFile(name=name, size_bytes=int(info.get("size") or 0), changed_s=seconds)

    def delete(self, name: str) -> None:
        with self._failing(name):
            self.files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _make_parent(self, name: str) -> None:
        """Folders of stores that have some; others do nothing."""
        self.files.makedirs(str(PurePosixPath(self._path(name)).parent), exist_ok=True)

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        try:
            yield
        except (AbsentError, ExistsError, ToolError):
            raise
        except Exception as error:  # every store's library has errors of its own
            raise ToolError(f"{self.url}: {name}: {type(error).__name__}: {error}", hint=CHECK) from error
