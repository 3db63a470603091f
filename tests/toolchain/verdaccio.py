"""Verdaccio, an npm registry, run on this machine for tests of publishing."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib import request

from packager.files.processes import children
from tests.toolchain import node

CONFIG = """\
storage: ./storage
auth: {htpasswd: {file: ./htpasswd, max_users: 10}}
uplinks: {}
max_body_size: 200mb
packages:
  '**': {access: $all, publish: $authenticated}
log: {type: stdout, format: json, level: warn}
"""
TIMEOUT_S = 600


@dataclass(frozen=True)
class Verdaccio:
    """A running registry, with the token of a user who may publish."""

    address: str
    token: str


@contextmanager
def verdaccio(folder: Path) -> Iterator[Verdaccio]:
    """A registry with its packages in `folder`, which must be empty. Ends the test where it is not available."""
    program = node.tool(node.project("verdaccio"), "verdaccio")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8", newline="\n")
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    command: list[str | Path] = [
        node.node().program,
        program,
        "--config",
        folder / "config.yaml",
        "--listen",
        f"127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        process = children.start(command, folder, environment=node.VARIABLES, stdout=log, stderr=log, is_text=False)
        try:
            yield Verdaccio(address, _token(address))
        finally:
            children.end(process)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _token(address: str) -> str:
    """The token of a new user, as soon as the registry answers."""
    body = json.dumps({"name": "me", "password": "not-a-secret"}).encode()
    asked = request.Request(
        f"{address}/-/user/org.couchdb.user:me", data=body, method="PUT", headers={"Content-Type": "application/json"}
    )
    end_s = time.monotonic() + TIMEOUT_S
    while True:
        try:
            with request.urlopen(asked) as answer:
                return str(json.loads(answer.read())["token"])
        except ConnectionError:
            pass
        except OSError as error:
            if not isinstance(getattr(error, "reason", None), ConnectionError):
                raise
        assert time.monotonic() < end_s, "verdaccio does not answer"
        time.sleep(0.1)
