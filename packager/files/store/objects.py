"""Objects by their names in a place that several machines share: a folder, a web server, or a store that fsspec
knows."""

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.files import host
from packager.files.web import SCHEMES, WebFiles

INSTALL = "run: pip install 'mobpack[cache]'"
PACKAGES = {"gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "abfss": "adlfs", "webdav": "webdav4"}
"""Schemes -> the Python package for them that the extra does not have."""
READ_ONLY = "a web server lists no objects and takes none"
PART = ".part"
"""End of the name of a file that is not complete yet."""
CHANGED = ("LastModified", "last_modified", "mtime", "modified", "created")
"""Names that file systems of fsspec give to the time of a change: a datetime, or seconds since 1970."""
OPTIONS = {"s3": {"config_kwargs": {"connect_timeout": 5, "read_timeout": 20, "retries": {"max_attempts": 2}}}}
"""Settings of the libraries below fsspec: theirs wait for minutes where nobody answers."""


class AbsentError(Exception):
    """The folder of a store is not there. The message says which."""


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """An object in the list of a store."""

    name: str
    size_bytes: int
    changed_s: float | None
    """seconds since 1970; None if the store does not say"""


class Objects(Protocol):
    """A store of objects. Names are paths with slashes. Methods raise FileNotFoundError for an object that is not
    there, PermissionError where access is denied, and any other exception where the store fails."""

    @property
    def is_read_only(self) -> bool: ...

    def read(self, name: str, *, start: int = 0, limit_bytes: int) -> bytes:
        """The bytes from `start` on, at most `limit_bytes`."""
        ...

    def size_of(self, name: str) -> int | None:
        """Size in bytes; None if there is no such object."""
        ...

    def create(self, name: str, content: bytes) -> bool:
        """Writes an object that must not be there, completely or not at all. Returns False if it is there, however many
        others create it at the same moment (`If-None-Match: *`)."""
        ...

    def replace(self, name: str, content: bytes) -> None:
        """Writes an object, completely or not at all."""
        ...

    def upload(self, name: str, path: Path) -> None:
        """Writes the file at `path`, completely or not at all."""
        ...

    def listed(self, folder: str) -> Iterator[StoredObject]:
        """Every object below a folder."""
        ...

    def delete(self, name: str) -> None:
        """Removes an object; one that is gone already is no error."""
        ...


def open_objects(url: str) -> Objects:
    """The store at `url`: the path of a folder, `file://`, `memory://`, or an address that a package of fsspec knows.

    Connects to nothing. Raises ConfigError for an address that cannot be used, or whose package is missing.
    """
    refuse_unusable(url)
    parts = urlsplit(url)
    if parts.scheme == "file":
        return FolderObjects(root=Path(unquote(parts.path)))
    if "://" not in url:
        return FolderObjects(root=Path(url).absolute())
    if parts.scheme in SCHEMES:
        return WebObjects(web=WebFiles(root=url.rstrip("/")))
    try:
        import fsspec
    except ImportError as error:
        raise ConfigError(f"{url}: the Python package fsspec is missing", hint=INSTALL) from error
    try:
        files, root = fsspec.core.url_to_fs(url, use_listings_cache=False, **OPTIONS.get(parts.scheme, {}))
    except (ImportError, ValueError) as error:
        package = PACKAGES.get(parts.scheme)
        hint = f"run: pip install {package}" if package else INSTALL
        raise ConfigError(f"{url}: {error}", hint=hint) from error
    return FsspecObjects(files=files, root=root.rstrip("/"))


def refuse_unusable(url: str) -> None:
    """Raises ConfigError for an address with a password or a token in it, or one made of several."""
    parts = urlsplit(url)
    if parts.password or parts.query or parts.fragment:
        shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        raise ConfigError(
            f"the address of the cache {shown} has credentials or parameters in it",
            hint="leave them out: the cloud's own settings are used (AWS_PROFILE, GOOGLE_APPLICATION_CREDENTIALS, "
            "AZURE_STORAGE_ACCOUNT_NAME, a role of the machine)",
        )
    if "::" in url:
        raise ConfigError(f"the address of the cache {url} is a chain", hint="name the store alone: s3://bucket/prefix")
    if "://" in url and not (parts.netloc or parts.scheme in ("file", "memory")):
        raise ConfigError(f"the address of the cache {url} names no bucket", hint="for example: s3://bucket/prefix")


@dataclass(frozen=True, kw_only=True)
class FolderObjects:
    """A folder of this machine, or one that several machines mount. Files appear under their names when they are
    complete."""

    root: Path
    is_read_only: bool = False

    def read(self, name: str, *, start: int = 0, limit_bytes: int) -> bytes:
        self._refuse_absent()
        with user_files.opened(self.root / name) as file:
            file.seek(start)
            return file.read(limit_bytes)

    def size_of(self, name: str) -> int | None:
        self._refuse_absent()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return user_files.size_of(self.root / name)
        return None

    def create(self, name: str, content: bytes) -> bool:
        place = self.root / name
        if place.exists():
            return False
        with self._part(place) as part:
            part.write_bytes(content)
            try:
                place.hardlink_to(part)
            except FileExistsError:
                return False
            except OSError:  # a disk without hard links: what is there is replaced by another complete file
                host.replace(part, place)
        return True

    def replace(self, name: str, content: bytes) -> None:
        with self._part(self.root / name) as part:
            part.write_bytes(content)
            host.replace(part, self.root / name)

    def upload(self, name: str, path: Path) -> None:
        with self._part(self.root / name) as part:
            shutil.copyfile(path, part)
            host.replace(part, self.root / name)

    def listed(self, folder: str) -> Iterator[StoredObject]:
        for path in (self.root / folder).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                if path.is_file():
                    status = path.stat()
                    name = path.relative_to(self.root).as_posix()
                    yield StoredObject(name=name, size_bytes=status.st_size, changed_s=status.st_mtime)

    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    def _refuse_absent(self) -> None:
        if not self.root.parent.is_dir():
            raise AbsentError(f"{self.root.parent} does not exist: is the disk mounted?")

    @contextlib.contextmanager
    def _part(self, place: Path) -> Iterator[Path]:
        """Another name in the folder of `place`, for a file that is not complete yet."""
        self._refuse_absent()
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{uuid.uuid4().hex}{PART}")
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)


@dataclass(frozen=True, kw_only=True)
class WebObjects:
    """A web server: its objects are read by their names."""

    web: WebFiles
    is_read_only: bool = True

    def read(self, name: str, *, start: int = 0, limit_bytes: int) -> bytes:
        return self.web.read(name, start=start, limit_bytes=limit_bytes)

    def size_of(self, name: str) -> int | None:
        return self.web.size_of(name)

    def create(self, name: str, content: bytes) -> bool:
        raise PermissionError(READ_ONLY)

    def replace(self, name: str, content: bytes) -> None:
        raise PermissionError(READ_ONLY)

    def upload(self, name: str, path: Path) -> None:
        raise PermissionError(READ_ONLY)

    def listed(self, folder: str) -> Iterator[StoredObject]:
        raise PermissionError(READ_ONLY)

    def delete(self, name: str) -> None:
        raise PermissionError(READ_ONLY)


@dataclass(frozen=True, kw_only=True)
class FsspecObjects:
    """A store of fsspec. S3, GCS and Azure create an object only if it is not there; others look just before, and
    then write an object that is complete."""

    files: Any
    root: str
    is_read_only: bool = False

    def read(self, name: str, *, start: int = 0, limit_bytes: int) -> bytes:
        try:
            found = self.files.cat_file(self._path(name), start=start, end=start + limit_bytes)
        except (FileNotFoundError, PermissionError):
            raise
        except Exception:
            size_bytes = self.size_of(name)
            if size_bytes is None or size_bytes > start:
                raise
            return b""  # stores refuse a range that begins where the object ends: an empty object has no other
        return bytes(found[:limit_bytes])

    def size_of(self, name: str) -> int | None:
        try:
            return int(self.files.info(self._path(name)).get("size") or 0)
        except FileNotFoundError:
            return None

    def create(self, name: str, content: bytes) -> bool:
        self._make_parent(name)
        try:
            self.files.pipe_file(self._path(name), content, mode="create")
        except FileExistsError:
            return False
        except TypeError:  # a store without this mode
            if self.files.exists(self._path(name)):
                return False
            self.files.pipe_file(self._path(name), content)
        return True

    def replace(self, name: str, content: bytes) -> None:
        self._make_parent(name)
        self.files.pipe_file(self._path(name), content)

    def upload(self, name: str, path: Path) -> None:
        self._make_parent(name)
        self.files.put_file(str(path), self._path(name))

    def listed(self, folder: str) -> Iterator[StoredObject]:
        try:
            found = self.files.find(self._path(folder), detail=True)
        except FileNotFoundError:
            return
        for path, info in found.items():
            changed: Any = next((info[key] for key in CHANGED if info.get(key)), None)
            seconds = changed.timestamp() if hasattr(changed, "timestamp") else changed
            name = path.strip("/").removeprefix(self.root.strip("/")).strip("/")
            yield StoredObject(name=name, size_bytes=int(info.get("size") or 0), changed_s=seconds)

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _make_parent(self, name: str) -> None:
        """Makes the folder of an object where the store has folders. A bucket is not a folder: it must exist."""
        if not _is_flat(self.files):
            self.files.makedirs(str(PurePosixPath(self._path(name)).parent), exist_ok=True)


def _is_flat(files: Any) -> bool:
    protocol = files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)
    return bool({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"} & set(protocol))
