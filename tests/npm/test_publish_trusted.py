"""Publishing to npm as a trusted publisher: a newer npm exchanges the identity of a CI job for a token of its own."""

import base64
import hashlib
import json
import os
import shlex
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.distribution.publishing import npm as publishing_npm
from packager.distribution.publishing import publish, registries
from tests.cases.registries import Answered, Asked, Server, Waits, release, results, serving
from tests.toolchain import node

REQUEST_TOKEN = "of-the-job"
SHORT_LIVED = "for-one-package"
EXCHANGE = "/-/npm/v1/oidc/token/exchange/package/"


def unsigned_token(**claims: str) -> str:
    """A JSON Web Token in form."""
    parts = (base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in ({}, claims))
    return ".".join([*parts, "signature"])


IDENTITY = unsigned_token(repository_visibility="public")


class Registry:
    """GitHub's provider of identities, and a registry that trusts the job to publish `trusted`: see npm's documentation
    of trusted publishing, and `lib/utils/oidc.js` in npm."""

    def __init__(self, trusted: str) -> None:
        self.trusted = trusted
        self.audiences: list[str] = []
        self.packages: dict[str, dict[str, object]] = {}

    def answer(self, _server: Server, asked: Asked) -> Answered:
        bearer = asked.headers.get("Authorization", asked.headers.get("authorization", "")).removeprefix("Bearer ")
        if asked.path == "/identity" and bearer == REQUEST_TOKEN:
            self.audiences.append(asked.query["audience"])
            return said(200, {"value": IDENTITY})
        if asked.path.startswith(EXCHANGE):
            is_trusted = bearer == IDENTITY and asked.path.removeprefix(EXCHANGE) == self.trusted
            return said(201, {"token": SHORT_LIVED}) if is_trusted else said(404, {"message": "no trusted publisher"})
        if asked.path.endswith("/visibility"):
            return said(200, {"public": True})
        if asked.method == "PUT" and bearer == SHORT_LIVED:
            self.packages[asked.path] = json.loads(asked.body)
            return said(201, {"success": True})
        if asked.method == "GET" and asked.path in self.packages:
            return said(200, self.packages[asked.path])
        return said(404 if asked.method == "GET" else 401, {"error": "not found"})


def said(status: int, document: object) -> Answered:
    return Answered(status, json.dumps(document).encode(), {"Content-Type": "application/json"})


@pytest.fixture(autouse=True)
def newer_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm 11 in the place of the one that belongs to Node.js, with no settings."""
    program = tmp_path / "npm"
    words = [str(node.node().program), str(node.tool(node.project("npm_11"), "npm"))]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8", newline="\n")
    program.chmod(0o755)
    monkeypatch.setattr(publishing_npm, "npm", lambda: str(program))
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / ".npmrc"))
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "ACTIONS_", "GITLAB", "CI"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("NODE_AUTH_TOKEN", raising=False)


def in_a_job(server: Server, monkeypatch: pytest.MonkeyPatch) -> Waits:
    """A job of GitHub Actions with `id-token: write`."""
    variables = {
        "GITHUB_ACTIONS": "true",
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{server.address}/identity?api-version=2.0",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Waits(variables)


@pytest.mark.parametrize(
    ("name", "path", "settings"),
    [("vision-web", "vision-web", []), ("@acme/vision", "@acme%2fvision", ["npm.provenance=never"])],
    ids=["plain", "scoped"],
)
def test_npm_gets_a_token_for_the_package_and_publishes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str, settings: list[str]
) -> None:
    """Without provenance: only npm's own registry is known to take it."""
    dist, registry = release(tmp_path / "dist", npm_name=name), Registry(path)
    with serving(Server(handle=registry.answer)) as server:
        waits = in_a_job(server, monkeypatch)
        known = registries([f"npm={server.address}"], settings)
        assert results(publish(dist, known, waits.session, is_dry=False)) == {"sent"}
        assert registry.audiences == ["npm:127.0.0.1"]
        [package] = registry.packages.values()
        [tarball] = (dist / "npm").iterdir()
        digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        assert package["name"] == name
        assert f"sha512-{digest}" in json.dumps(package["versions"])
        assert results(publish(dist, known, waits.session, is_dry=False)) == {"already there"}


def test_a_package_that_does_not_trust_the_job_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dist, registry = release(tmp_path / "dist"), Registry("another")
    with serving(Server(handle=registry.answer)) as server:
        waits = in_a_job(server, monkeypatch)
        known = registries([f"npm={server.address}"], ["npm.provenance=never"])
        with pytest.raises(ToolError, match="asks for credentials") as error:
            publish(dist, known, waits.session, is_dry=False)
    assert "trusted publisher" in error.value.hint
    assert registry.packages == {}


def test_this_npm_is_new_enough_for_trusted_publishing() -> None:
    lock = node.version("npm_11", "npm")
    assert publishing_npm.too_old({"npm": lock, "node": "22.14.0"}) == ""
