"""Publishing to Maven Central: the bundle is complete and signed by the real gpg; the Portal is a double on this
machine that answers as its documentation says."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.core.values import Package
from packager.distribution.publishing import RegistryOutcome, publish, registries
from packager.targets.kotlin.javadoc import write_javadoc
from tests.cases.registries import COMPLETE, Answered, Asked, Server, Waits, parts_of, release, results, serving
from tests.toolchain.require import require

HOME = "com/example/vision/1.0.0"
VARIABLES = {"MOBPACK_CENTRAL_USERNAME": "example_username", "MOBPACK_CENTRAL_PASSWORD": "example_password"}
HEADER = "Bearer ZXhhbXBsZV91c2VybmFtZTpleGFtcGxlX3Bhc3N3b3Jk"
"""The header for these in the Portal's documentation."""
SIGNED = [f"{HOME}/vision-1.0.0{end}" for end in ("-javadoc.jar", "-sources.jar", ".aar", ".module", ".pom")]
ID = "28570f16-da32-4c14-bd2e-c1acc0782365"


@dataclass
class Portal:
    """Deployments of the Portal, and what is public."""

    states: list[str]
    """answered one after the other; the last one stays"""
    server: Server = field(default_factory=Server)
    is_published: bool = False
    uploads: list[Asked] = field(default_factory=list)
    errors: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.server.handle = lambda server, asked: self.answer(asked)

    def answer(self, asked: Asked) -> Answered | None:
        if not asked.path.startswith("/api/v1/publisher/"):
            assert "Authorization" not in asked.headers, "readers need none"
            return None
        if asked.headers.get("Authorization") != HEADER:
            return Answered(401)
        if asked.path.endswith("/published"):
            assert asked.query == {"namespace": "com.example", "name": "vision", "version": "1.0.0"}
            return Answered(200, json.dumps({"published": self.is_published}).encode())
        if asked.path.endswith("/upload"):
            self.uploads.append(asked)
            return Answered(201, ID.encode())
        assert (asked.method, asked.path, asked.query) == ("POST", "/api/v1/publisher/status", {"id": ID})
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        document = {"deploymentId": ID, "deploymentState": state, "errors": self.errors}
        return Answered(200, json.dumps(document).encode())

    def make_public(self) -> None:
        """All files of the last upload can be read."""
        self.is_published = True
        for name, content in self.bundle().items():
            self.server.files[f"/maven2/{name}"] = content

    def bundle(self) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "bundle.zip")
            path.write_bytes(parts_of(self.uploads[-1])["bundle"])
            with zipfile.ZipFile(path) as archive:
                return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def keys() -> Iterator[Path]:
    """A GNUPGHOME with a key that is thrown away. Paths of the sockets in it must be short."""
    require(shutil.which("gpg") is not None, "gpg is missing: apt install gnupg")
    with tempfile.TemporaryDirectory(prefix="gpg-") as folder:
        Path(folder).chmod(0o700)
        environment = {**os.environ, "GNUPGHOME": folder}
        make = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "ada@example.com", "ed25519", "sign"]
        subprocess.run(make, env=environment, check=True, capture_output=True)
        make = ["gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "open sesame"]
        make += ["--quick-generate-key", "locked@example.com", "ed25519", "sign"]
        subprocess.run(make, env=environment, check=True, capture_output=True)
        yield Path(folder)
        subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=False, capture_output=True)


@pytest.fixture(autouse=True)
def surroundings(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNUPGHOME", str(keys))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def published(dist: Path, portal: Portal, *settings: str, waits: Waits | None = None) -> tuple[RegistryOutcome, ...]:
    address = portal.server.address
    own = ["maven-central.gpg-key=ada@example.com", f"maven-central.published={address}/maven2", *settings]
    known = registries([f"maven-central={address}"], own)
    return publish(dist, known, (waits or Waits(VARIABLES)).session, is_dry=False)


def test_the_bundle_has_all_that_central_requires_and_gpg_verifies_it(tmp_path: Path) -> None:
    portal = Portal(["PENDING", "VALIDATING", "VALIDATED"])
    with serving(portal.server):
        waits = Waits(VARIABLES)
        [outcome] = published(release(tmp_path / "dist"), portal, waits=waits)
        bundle = portal.bundle()
    assert (
        outcome.words == f"validated as deployment {ID}; publish it at {portal.server.address}/publishing/deployments"
    )
    assert waits.seconds == [10, 10]
    [upload] = portal.uploads
    assert upload.query == {"name": "com.example:vision:1.0.0", "publishingType": "USER_MANAGED"}
    assert sorted(parts_of(upload)) == ["bundle"]
    ends = ["", ".asc", ".md5", ".sha1", ".sha256", ".sha512"]
    assert sorted(bundle) == sorted(f"{name}{end}" for name in SIGNED for end in ends)
    for name in SIGNED:
        assert bundle[f"{name}.sha1"].decode() == hashlib.sha1(bundle[name], usedforsecurity=False).hexdigest()
        verify(bundle[name], bundle[f"{name}.asc"], tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        verify(bundle[SIGNED[0]] + b"x", bundle[f"{SIGNED[0]}.asc"], tmp_path)


def verify(content: bytes, signature: bytes, folder: Path) -> None:
    (folder / "content").write_bytes(content)
    (folder / "content.asc").write_bytes(signature)
    command = ["gpg", "--batch", "--verify", str(folder / "content.asc"), str(folder / "content")]
    subprocess.run(command, check=True, capture_output=True)


def test_automatic_publishing_waits_until_it_is_public_and_the_next_call_compares(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    portal = Portal(["VALIDATING", "VALIDATED", "PUBLISHING", "PUBLISHED"])
    with serving(portal.server):
        [outcome] = published(dist, portal, "maven-central.publishing-type=AUTOMATIC")
        assert outcome.words.startswith("published")
        portal.make_public()
        assert results(published(dist, portal, "maven-central.publishing-type=AUTOMATIC")) == {"already there"}
        shutil.rmtree(tmp_path / "cache")  # as on another machine
        assert results(published(dist, portal)) == {"already there"}
        with pytest.raises(GateError, match="is there with other bytes"):
            published(release(tmp_path / "other", aar=b"another aar"), portal)
    assert len(portal.uploads) == 1


def test_what_is_published_but_cannot_be_read_yet_is_not_taken_for_the_same(tmp_path: Path) -> None:
    portal = Portal(["PUBLISHED"], is_published=True)
    with serving(portal.server), pytest.raises(ToolError, match="cannot be read yet") as error:
        published(release(tmp_path / "dist"), portal)
    assert portal.uploads == []
    assert "half an hour" in error.value.hint
    with (
        serving(portal.server),
        pytest.raises(ToolError, match="mobpack cannot tell whether it has these bytes") as error,
    ):
        published(tmp_path / "dist", portal, "maven-central.published=")
    assert "--set maven-central.published=https://HOST/PATH" in error.value.hint


def test_a_call_that_ends_while_the_portal_works_is_continued_without_a_second_upload(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    portal = Portal(["VALIDATING"])
    with serving(portal.server):
        with pytest.raises(ToolError, match="is still VALIDATING after 20 s"):
            published(dist, portal, "maven-central.wait-s=20")
        portal.states = ["VALIDATED"]
        time.sleep(1.1)  # signatures have the second in which they were made
        assert results(published(dist, portal)) == {"sent"}
        assert len(portal.uploads) == 1
        published(release(tmp_path / "other", aar=b"another aar"), portal)
        assert len(portal.uploads) == 2, "other files are another deployment"


def test_a_refused_bundle_is_said_in_the_portals_words_and_uploaded_anew(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    portal = Portal(
        ["FAILED"], errors={"pkg:maven/com.example/vision@1.0.0": ["Namespace 'com.example' is not allowed"]}
    )
    with serving(portal.server):
        with pytest.raises(ToolError, match=r"vision@1\.0\.0: Namespace 'com\.example' is not allowed") as error:
            published(dist, portal)
        assert "nothing of it is public" in error.value.hint
        portal.states = ["VALIDATED"]
        assert results(published(dist, portal)) == {"sent"}
    assert len(portal.uploads) == 2


@pytest.mark.parametrize("fault", [429, 503])
def test_an_upload_that_the_portal_did_not_take_is_tried_again(tmp_path: Path, fault: int) -> None:
    portal = Portal(["VALIDATED"])
    portal.server.faults = {1: fault}
    with serving(portal.server):
        assert results(published(release(tmp_path / "dist"), portal)) == {"sent"}


@pytest.mark.parametrize("fault", [500, "cut"])
def test_an_upload_that_may_have_arrived_is_left_to_the_user(tmp_path: Path, fault: int | str) -> None:
    portal = Portal(["VALIDATED"])
    portal.server.faults = {1: fault}
    with serving(portal.server), pytest.raises(ToolError, match="the bundle may have arrived, or not") as error:
        published(release(tmp_path / "dist"), portal)
    assert "/publishing/deployments, drop what you find" in error.value.hint


@pytest.mark.parametrize(
    ("variables", "message", "hint"),
    [
        ({}, "asks for credentials", "MOBPACK_CENTRAL_USERNAME and MOBPACK_CENTRAL_PASSWORD"),
        ({**VARIABLES, "MOBPACK_CENTRAL_PASSWORD": "old-s3cret"}, "wrong or have expired", "make new ones"),
    ],
)
def test_tokens_that_lack_or_have_expired_are_named(
    tmp_path: Path, variables: dict[str, str], message: str, hint: str
) -> None:
    portal = Portal(["VALIDATED"])
    with serving(portal.server), pytest.raises(ToolError, match=message) as error:
        published(release(tmp_path / "dist"), portal, waits=Waits(variables))
    assert hint in error.value.hint
    assert "old-s3cret" not in f"{error.value} {error.value.hint}"


def test_fields_that_central_requires_are_named_by_their_keys_before_anything_is_sent(tmp_path: Path) -> None:
    portal = Portal(["VALIDATED"])
    bare = Package(name="vision", version="1.0.0", license="")
    with serving(portal.server):
        with pytest.raises(
            ConfigError, match=r"\[package\] lacks license, description, url, scm, developers, w"
        ) as error:
            published(release(tmp_path / "bare", package=bare), portal)
        with pytest.raises(ConfigError, match=r"\[package\] lacks developers, which"):
            published(release(tmp_path / "one", package=replace(COMPLETE, developers=())), portal)
        assert portal.server.requests == []
    assert 'developers = ["Ada Lovelace"]' in error.value.hint


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["maven-central.gpg-key=nobody@example.com"], r"gpg cannot sign vision-1\.0\.0.*No secret key"),
        (["maven-central.gpg-key=locked@example.com"], "gpg cannot sign"),
    ],
)
def test_keys_that_cannot_sign_are_said_before_anything_is_sent(
    tmp_path: Path, settings: list[str], message: str
) -> None:
    portal = Portal(["VALIDATED"])
    with serving(portal.server), pytest.raises(ToolError, match=re.compile(message, re.DOTALL)):
        published(release(tmp_path / "dist"), portal, *settings)
    assert portal.server.requests == []


def test_a_passphrase_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOBPACK_GPG_PASSPHRASE", "open sesame")
    portal = Portal(["VALIDATED"])
    with serving(portal.server):
        assert results(published(release(tmp_path / "dist"), portal, "maven-central.gpg-key=locked@example.com"))


def test_everything_but_the_signatures_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    bundles = []
    for name in ("one", "two"):
        portal = Portal(["VALIDATED"])
        with serving(portal.server):
            published(release(tmp_path / name / "dist"), portal)
            bundles.append({each: text for each, text in portal.bundle().items() if not each.endswith(".asc")})
        shutil.rmtree(tmp_path / "cache")
    assert bundles[0] == bundles[1]
    assert len(bundles[0]) == 25


def test_the_javadoc_has_the_comments_of_the_sources(tmp_path: Path) -> None:
    [sources] = release(tmp_path / "dist").rglob("*-sources.jar")
    with zipfile.ZipFile(write_javadoc(tmp_path / "javadoc.jar", "com.example:vision-1.0.0", sources)) as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist()}
    name = "com.example.contracts.Classifier"
    page = pages[f"{name}.html"]
    assert f'<a href="{name}.html">{name}</a>' in pages["index.html"]
    assert "<p>The model <code>classifier</code>.</p>" in page
    assert "<pre>Classifier.load(context).use { model -&gt;\n" in page
    declared = (
        "public fun loadBlocking(context: Context, options: Options = Options(), source: Source = Source.bundled)"
    )
    assert f"<h2><code>{declared}: Classifier</code></h2>" in page
    assert "<p>[load] for threads that may wait, and for Java.</p>" in page
    text = re.sub(r"<[^>]*>", "", page)
    assert "/**" not in text
    assert "<" not in text
