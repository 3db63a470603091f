"""Publishing to npm: the real npm, a real registry (Verdaccio), and registries that fail."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.publishing import RegistryOutcome, publish, registries
from packager.distribution.publishing.npm import Npm, refuse_old_tools, too_old
from packager.distribution.publishing.registry import ConflictError
from packager.distribution.publishing.release import read
from tests.cases.registries import Answered, Asked, Fault, Server, Waits, release, results, serving
from tests.toolchain import node
from tests.toolchain.verdaccio import Verdaccio, verdaccio

IDENTITY = {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://ci.example", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x"}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdaccio]:
    with verdaccio(tmp_path_factory.mktemp("verdaccio")) as running:
        yield running


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of npm but the test's."""
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / ".npmrc"))


def published(dist: Path, address: str, *settings: str, waits: Waits) -> tuple[RegistryOutcome, ...]:
    return publish(dist, registries([f"npm={address}"], settings), waits.session, is_dry=False)


def view(registry: Verdaccio, name: str, folder: Path) -> Mapping[str, object]:
    done = node.npm("view", name, "--json", "--registry", registry.address, cwd=folder)
    assert done.returncode == 0, done.output
    found: Mapping[str, object] = json.loads(done.stdout)
    return found


def test_a_package_is_published_once_and_npm_installs_it(registry: Verdaccio, tmp_path: Path) -> None:
    dist, waits = release(tmp_path / "dist"), Waits({"NODE_AUTH_TOKEN": registry.token})
    [outcome] = published(dist, registry.address, waits=waits)
    assert outcome.result == "sent"
    assert "without provenance: only npm's own registry" in outcome.words
    assert results(published(dist, registry.address, waits=waits)) == {"already there"}
    app = tmp_path / "app"
    app.mkdir()
    (app / "package.json").write_text("{}", encoding="utf-8")
    done = node.npm("install", "vision-web@1.0.0", "--registry", registry.address, cwd=app)
    assert done.returncode == 0, done.output
    assert (app / "node_modules" / "vision-web" / "index.js").read_text(encoding="utf-8") == "module.exports = 1\n"


def test_other_bytes_of_a_published_version_are_refused(registry: Verdaccio, tmp_path: Path) -> None:
    waits = Waits({"NODE_AUTH_TOKEN": registry.token})
    published(release(tmp_path / "one", npm_name="refused"), registry.address, waits=waits)
    other = release(tmp_path / "two", npm_name="refused", npm_settings={"description": "another"})
    with pytest.raises(GateError, match="refused is there with other bytes") as error:
        published(other, registry.address, waits=waits)
    assert "raise version in [package]" in error.value.hint


def test_a_scope_is_sent_to_the_named_registry_whatever_npm_is_set_to(registry: Verdaccio, tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("@acme:registry=http://127.0.0.1:9/\n", encoding="utf-8")
    waits = Waits({"NODE_AUTH_TOKEN": registry.token})
    dist = release(tmp_path / "dist", version="1.0.0-beta.1", npm_name="@acme/vision")
    [outcome] = published(dist, registry.address, "npm.access=public", waits=waits)
    assert outcome.request.address == f"{registry.address}/@acme%2Fvision"
    (tmp_path / ".npmrc").unlink()
    assert view(registry, "@acme/vision", tmp_path)["dist-tags"] == {"next": "1.0.0-beta.1", "latest": "1.0.0-beta.1"}


@pytest.mark.parametrize("variables", [{}, {"NODE_AUTH_TOKEN": "expired-t0ken"}])
def test_missing_and_expired_tokens_are_said_in_words(
    registry: Verdaccio, tmp_path: Path, variables: dict[str, str]
) -> None:
    waits = Waits(variables)
    dist = release(tmp_path / "dist", npm_name="unauthorized")
    with pytest.raises(ToolError, match="asks for credentials, or does not accept those that npm has") as error:
        published(dist, registry.address, waits=waits)
    assert "set NODE_AUTH_TOKEN" in error.value.hint
    assert "expired-t0ken" not in f"{error.value} {error.value.hint} {waits.said}"


def test_a_token_that_a_registry_repeats_is_in_no_message(tmp_path: Path) -> None:
    failing = Server(handle=lambda server, asked: refused(asked))
    with serving(failing) as server, pytest.raises(ToolError, match=r"no rights for Bearer \*\*\*") as error:
        published(release(tmp_path / "dist"), server.address, waits=Waits({"NODE_AUTH_TOKEN": "t0ken-of-mine"}))
    assert "t0ken-of-mine" not in error.value.message


def refused(asked: Asked) -> Answered | None:
    words = {"error": f"no rights for {asked.headers.get('authorization')}"}
    return Answered(403, json.dumps(words).encode()) if asked.method == "PUT" else None


@pytest.mark.parametrize(("fault", "code"), [(429, "E429"), (503, "E503"), ("cut", "ECONNRESET")])
def test_a_registry_that_fails_is_tried_again(tmp_path: Path, fault: Fault, code: str) -> None:
    waits = Waits({"NODE_AUTH_TOKEN": "x"})
    with serving(Server(faults=dict.fromkeys((1, 2), fault))) as server:
        [outcome] = published(release(tmp_path / "dist"), server.address, waits=waits)
        assert list(server.files) == ["/vision-web"]
    assert outcome.result == "sent"
    assert code in waits.said[0]


def test_a_version_that_arrived_although_its_answer_did_not_is_there(registry: Verdaccio, tmp_path: Path) -> None:
    """The registry says 409 to the second attempt."""
    dist, waits = release(tmp_path / "dist", npm_name="arrived"), Waits({"NODE_AUTH_TOKEN": registry.token})
    planned = registries([f"npm={registry.address}"], [])[0]
    published(dist, registry.address, waits=waits)
    [request] = planned.plan(read(dist), tmp_path)
    with pytest.raises(ConflictError):
        planned.send(request, waits.session)


def test_a_package_for_one_registry_goes_to_no_other(tmp_path: Path) -> None:
    settings = {"publishConfig": {"registry": "https://npm.acme.example/"}}
    dist = release(tmp_path / "dist", npm_settings=settings)
    with pytest.raises(ConfigError, match=r"vision-web is for https://npm\.acme\.example alone"):
        published(dist, "https://registry.example", waits=Waits())
    [planned] = publish(dist, registries(["npm"], []), Waits().session, is_dry=True)
    assert planned.request.address == "https://npm.acme.example/vision-web"


def test_a_dry_run_names_the_package_and_the_registry_that_npm_is_set_to(tmp_path: Path) -> None:
    settings = "registry=https://npm.example/\n@acme:registry=https://acme.example/npm/\n"
    (tmp_path / ".npmrc").write_text(settings, encoding="utf-8")
    [planned] = publish(release(tmp_path / "dist"), registries(["npm"], []), Waits().session, is_dry=True)
    assert (planned.request.method, planned.request.address) == ("npm publish", "https://npm.example/vision-web")
    assert planned.request.note == "vision-web@1.0.0, tag latest"
    scoped = release(tmp_path / "scoped", npm_name="@acme/vision")
    [planned] = publish(scoped, registries(["npm"], []), Waits().session, is_dry=True)
    assert planned.request.address == "https://acme.example/npm/@acme%2Fvision"


def test_provenance_that_is_required_and_cannot_be_had_is_refused(registry: Verdaccio, tmp_path: Path) -> None:
    waits = Waits({"NODE_AUTH_TOKEN": registry.token})
    dist = release(tmp_path / "dist", npm_name="attested")
    with pytest.raises(ToolError, match="no provenance: no identity of a CI job is there"):
        published(dist, registry.address, "npm.provenance=required", waits=waits)


def test_npm_is_told_to_attest_where_ci_gives_an_identity(registry: Verdaccio, tmp_path: Path) -> None:
    """Npm looks for the identity itself, and finds none on this machine."""
    waits = Waits({"NODE_AUTH_TOKEN": registry.token, **IDENTITY})
    dist = release(tmp_path / "dist", npm_name="attested")
    with pytest.raises(ToolError, match=r"[Pp]rovenance generation"):
        published(dist, registry.address, "npm.provenance=required", waits=waits)


@pytest.mark.parametrize(
    ("variables", "is_attested", "words"),
    [
        ({}, False, "without provenance: no identity of a CI job is there (in GitHub Actions, give the job"),
        (IDENTITY, True, "with provenance"),
        ({"SIGSTORE_ID_TOKEN": "x"}, True, "with provenance"),
    ],
)
def test_provenance_follows_the_identity_of_the_ci_job(
    variables: dict[str, str], is_attested: bool, words: str
) -> None:
    found, said = Npm().attested(Waits(variables).session, is_npms_own=True)
    assert (found, said[: len(words)]) == (is_attested, words)


def test_trusted_publishing_needs_newer_tools_and_says_so() -> None:
    assert too_old({"npm": "11.5.1", "node": "22.14.0"}) == ""
    assert too_old({"npm": "12.0.0-pre.1", "node": "24.1.0"}) == ""
    assert too_old({"npm": "11.5.0", "node": "22.14.0"}) == "npm 11.5.1 or newer (this is 11.5.0)"
    assert too_old({"npm": "10.9.3", "node": "22.13.9"}) == (
        "npm 11.5.1 or newer (this is 10.9.3) and node 22.14.0 or newer (this is 22.13.9)"
    )


def test_without_a_token_the_versions_of_the_tools_are_checked() -> None:
    versions = json.loads(node.npm("version", "--json", cwd=Path("/")).stdout)
    if too_old(versions):
        with pytest.raises(ToolError, match=r"publishing without a token needs npm 11\.5\.1 or newer"):
            refuse_old_tools(Waits(IDENTITY).session)
    else:
        refuse_old_tools(Waits(IDENTITY).session)
    refuse_old_tools(Waits({**IDENTITY, "NODE_AUTH_TOKEN": "x"}).session)
    refuse_old_tools(Waits().session)
