"""Downloads ONNX Runtime's archive for iOS, which no package registry has."""

import ssl
import tempfile
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from packager import __version__
from packager.core.errors import ToolError
from packager.core.parsing import whole_number
from packager.files import host
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.user_cache import cache_folder

Progress = Callable[[int, int], None]
"""called with the received and the total bytes; the total is 0 if the server does not state it"""
TIMEOUT_S = 60
"""longest time without data"""
PIECE_BYTES = 1 << 20
WORTH_ANOTHER_TRY = (408, 429)
"""client error codes that are temporary: timeout, and too many requests"""


def archive(progress: Progress) -> Path:
    """The archive pinned in pins.toml, from the cache or from its address; its sha256 is always checked.

    Raises ToolError if the server does not answer after three attempts, the sha256 differs, or the cache cannot be
    written.
    """
    pinned = downloads.pins()["ios"]
    url, wanted = str(pinned["archive"]), str(pinned["checksum"])
    folder = cache_folder() / "files"
    target = folder / wanted
    if target.is_file() and sha256_of(target) == wanted:
        return target
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            downloaded = Path(scratch, "archive.zip")
            _download(url, downloaded, progress)
            _refuse_other(url, sha256_of(downloaded), wanted)
            host.replace(downloaded, target)
    except OSError as error:
        raise ToolError(
            f"cannot write to {folder}: {error.strerror or error}",
            hint="free some space, or set XDG_CACHE_HOME to a folder on another disk",
        ) from error
    return target


def _download(url: str, path: Path, progress: Progress) -> None:
    reason = ""
    for attempt in range(1, downloads.FETCH_ATTEMPTS + 1):
        try:
            _receive(url, path, progress)
            return
        except HTTPError as error:
            error.close()
            reason = f"the server answers {error.code} {error.reason}"
            if 400 <= error.code < 500 and error.code not in WORTH_ANOTHER_TRY:
                break
        except (URLError, HTTPException, ConnectionError, TimeoutError, ssl.SSLError) as error:
            reason = str(error.reason if isinstance(error, URLError) else error)
        time.sleep(2**attempt if attempt < downloads.FETCH_ATTEMPTS else 0)
    raise ToolError(
        f"cannot download {url}: {reason}",
        hint="check the network, or download it elsewhere and run: mobpack runtime xcframework FILE.zip",
    )


def _receive(url: str, path: Path, progress: Progress) -> None:
    opener = urllib.request.build_opener()
    # Some servers reject the user agent Python-urllib.
    opener.addheaders = [("User-Agent", f"mobpack/{__version__}")]
    with opener.open(url, timeout=TIMEOUT_S) as answer, path.open("wb") as file:
        total, done = whole_number(answer.headers.get("Content-Length") or "") or 0, 0
        while piece := answer.read(PIECE_BYTES):
            file.write(piece)
            done += len(piece)
            progress(done, total)
    if done < total:
        raise ConnectionError(f"the connection ended after {done} of {total} bytes")


def _refuse_other(url: str, found: str, wanted: str) -> None:
    if found != wanted:
        raise ToolError(
            f"{url} is not the pinned file: sha256 {found}, expected {wanted}",
            hint="do not use the file: it differs from the one pinned in pins.toml",
        )
