"""A server that simulates Hugging Face's hub: what its client asks for models, and nothing else."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
IN_GIT = ".json"
"""suffix of files that the hub keeps in git: it has no sha256 of them"""


@dataclass
class Hub:
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """`owner/name` -> files by path"""
    commit: str = COMMIT
    changed: dict[str, bytes] = field(default_factory=dict)
    """bytes that are served in place of those that the hub tells of, by path"""
    gated: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def info(self, name: str) -> dict[str, Any]:
        files = [
            {
                "rfilename": path,
                "size": len(content),
                "blobId": hashlib.sha1(content, usedforsecurity=False).hexdigest(),
                **({} if path.endswith(IN_GIT) else {"lfs": lfs(content)}),
            }
            for path, content in self.repositories[name].items()
        ]
        return {"id": name, "modelId": name, "sha": self.commit, "siblings": files, "tags": [], "private": False}


def lfs(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}


@contextmanager
def hub(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[Hub]:
    """The server, on this machine alone."""
    made = Hub(repositories={name: dict(files) for name, files in repositories.items()})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            made.asked.append(f"{self.command} {self.path}")
            if found := re.fullmatch(r"/api/models/([^/?]+/[^/?]+)(?:/revision/([^?/]+))?(?:\?.*)?", self.path):
                self.tell(found[1], found[2])
            elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/([^?]+)", self.path):
                self.send(found[1], found[3])
            else:
                self.refuse(404, "EntryNotFound")

        def tell(self, name: str, revision: str | None) -> None:
            if name not in made.repositories:
                self.refuse(404, "RepoNotFound")
            elif name in made.gated:
                self.refuse(403, "GatedRepo")
            elif revision not in (None, "main", "v1.0", made.commit):
                self.refuse(404, "RevisionNotFound")
            else:
                self.answer(json.dumps(made.info(name)).encode(), {"Content-Type": "application/json"})

        def send(self, name: str, path: str) -> None:
            content = made.repositories.get(name, {}).get(path)
            if content is None:
                self.refuse(404, "EntryNotFound")
                return
            tag = hashlib.sha256(content).hexdigest()
            self.answer(made.changed.get(path, content), {"ETag": f'"{tag}"', "X-Repo-Commit": made.commit})

        def refuse(self, code: int, word: str) -> None:
            self.send_response(code)
            self.send_header("X-Error-Code", word)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def answer(self, content: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(200)
            for key, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
