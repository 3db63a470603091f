"""`mobpack verify --policy`: what a release must show of its signer, its origin and its licences."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from packager.cli.verify import verify
from packager.core import licenses
from packager.core.errors import ConfigError, GateError, MobpackError
from packager.files.hashes import sha256_of
from packager.signing.envelope import IN_TOTO, written
from packager.workflows import signing
from tests.cases.signing_cases import Key, make_key, make_release

SERVICE, OURS = "https://builds.example.com/hosted", "urn:mobpack:command-line"
REPOSITORY, COMMIT = "https://example.com/vision", "0123456789abcdef0123456789abcdef01234567"


def statement(manifest: Path, builder: str, **dependency: object) -> dict[str, Any]:
    """Provenance of SLSA about the release with a manifest."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "manifest.json", "digest": {"sha256": sha256_of(manifest)}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {"buildType": "test", "resolvedDependencies": [dependency] if dependency else []},
            "runDetails": {"builder": {"id": builder}},
        },
    }


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path)


@pytest.fixture
def dist(tmp_path: Path, key: Key) -> Path:
    """A signed release with provenance and a bill of materials, beside the key and `service.json`, the provenance of a
    build service."""
    release = make_release(tmp_path / "dist")
    model = {"type": "machine-learning-model", "name": "classifier", "licenses": [{"license": {"id": "Apache-2.0"}}]}
    manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    manifest["package"]["license"] = "MIT OR GPL-3.0-only"
    bill = release / "android" / "vision-1.2.3.cdx.json"
    bill.write_text(json.dumps({"components": [model]}), encoding="utf-8")
    manifest["artifacts"].append({**manifest["artifacts"][0], "kind": "sbom", "path": "android/vision-1.2.3.cdx.json"})
    manifest["artifacts"][-1]["sha256"] = sha256_of(bill)
    (release / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    own = statement(release / "manifest.json", OURS)
    (release / "provenance.intoto.json").write_text(json.dumps(own), encoding="utf-8")
    signer = signing.signer(str(key.private), None)
    signing.sign(release, signer)
    source = {"uri": f"git+{REPOSITORY}.git@refs/heads/main", "digest": {"gitCommit": COMMIT}}
    service = statement(release / "manifest.json", SERVICE, **source)
    (tmp_path / "service.json").write_bytes(written(signer.sign(IN_TOTO, json.dumps(service).encode())))
    return release


def judged(dist: Path, policy: str, *options: str) -> str:
    """Output of the command, which runs beside the release. Raises the error that it ends with."""
    path = dist.parent / "policy.toml"
    path.write_text(policy, encoding="utf-8", newline="\n")
    done = CliRunner().invoke(verify, [str(dist), "--policy", str(path), *options])
    if done.exception:
        raise done.exception
    return done.output


TRUST = 'trust = "release.pub"\n'
HOSTED = f'{TRUST}level = 2\nsource = "{REPOSITORY}"\ncommit = "{COMMIT}"\n[builders]\n"{SERVICE}" = 2\n"{OURS}" = 1\n'


def test_a_release_that_shows_all_is_taken(dist: Path) -> None:
    given = str(dist.parent / "service.json")
    found = judged(dist, HOSTED, "--provenance", given)
    assert f"built by {SERVICE}, SLSA build level 2, of {REPOSITORY} at {COMMIT}" in found
    found = judged(dist, f'{TRUST}level = 1\nlicenses = ["MIT", "Apache-2.0"]\n')
    assert f"provenance.intoto.json: built by {OURS}, SLSA build level 1" in found
    assert "the model classifier: Apache-2.0, which the policy allows" in found
    document = json.loads(judged(dist, HOSTED, "--provenance", given, "--json"))
    assert document["policy"]["origin"]["sources"] == {REPOSITORY: COMMIT}


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ('licenses = ["MIT"]', "the model classifier has the licence Apache-2.0"),
        ('licenses = ["Apache-2.0"]', "vision has the licence MIT OR GPL-3.0-only"),
        (HOSTED, f"provenance.intoto.json: it reaches SLSA build level 1, and 2 is demanded.*no repository.*{COMMIT}"),
        (f'{TRUST}commit = "{COMMIT}"', f"it names no commit, not the commit {COMMIT}"),
        (f'{TRUST}source = "{REPOSITORY}"', "it names no repository as source"),
        (f'{TRUST}[builders]\n"{SERVICE}" = 3', f"built by {OURS}, which is none of the builders"),
        (f'level = 2\n[builders]\n"{OURS}" = 3', "it reaches SLSA build level 1, and 2 is demanded"),  # nobody signed
    ],
)
def test_what_is_not_met_is_named(dist: Path, policy: str, reason: str) -> None:
    with pytest.raises(GateError, match=rf"does not meet the policy: .*{reason}"):
        judged(dist, policy)


def test_provenance_by_a_stranger_or_of_other_files_is_refused(dist: Path, tmp_path: Path) -> None:
    stranger = signing.signer(str(make_key(tmp_path / "stranger").private), None)
    given = dist.parent / "service.json"
    about = statement(dist / "manifest.json", SERVICE)
    given.write_bytes(written(stranger.sign(IN_TOTO, json.dumps(about).encode())))
    with pytest.raises(GateError, match="signed by another key"):
        judged(dist, HOSTED, "--provenance", str(given))
    own = signing.signer(str(dist.parent / "release.pem"), None)
    about = statement(dist / "report.html", SERVICE)
    given.write_bytes(written(own.sign(IN_TOTO, json.dumps(about).encode())))
    with pytest.raises(GateError, match="is not about"):
        judged(dist, HOSTED, "--provenance", str(given))


def test_a_release_without_provenance_meets_no_level(dist: Path, key: Key) -> None:
    for name in ("provenance.intoto.json", "provenance.intoto.json.sig"):
        (dist / name).unlink()
    signing.sign(dist, signing.signer(str(key.private), None))
    with pytest.raises(GateError, match=r"has no provenance\.intoto\.json, and none was given"):
        judged(dist, f"{TRUST}level = 1")


@pytest.mark.parametrize(
    ("policy", "options", "reason"),
    [
        ("levels = 1", (), "levels: extra inputs"),
        ("level = 4", (), "level: input should be less than or equal to 3"),
        ("level = 2", (), "nobody in `builders` is trusted with level 2"),
        ('licenses = ["MIT OR X11"]', (), "'MIT OR X11' is not a licence"),
        ('identity = "a@example.com"', (), "half of one does"),
        ('trust = "release.pub"\nidentity = "a@example.com"\nissuer = "https://example.com"', (), "two things say"),
        (TRUST, ("--key", "other.pub"), "--policy says who must have signed"),
        ("level = 1", ("--provenance", "service.json"), "only a signature makes it a proof"),
        ("level = ", (), "not valid TOML"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(
    dist: Path, policy: str, options: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        judged(dist, policy, *options)


ALLOWED: Mapping[str, bool] = {
    "MIT": True,
    "MIT OR GPL-3.0-only": True,
    "MIT AND GPL-3.0-only": False,
    "MIT AND (Apache-2.0 OR GPL-3.0-only)": True,
    "GPL-2.0-only WITH Classpath-exception-2.0": True,
    "GPL-2.0-only": False,
    "": False,
    "whatever": False,
}


@pytest.mark.parametrize(("expression", "is_satisfied"), ALLOWED.items())
def test_an_expression_is_satisfied_by_allowed_licences(expression: str, is_satisfied: bool) -> None:
    allowed = {"MIT", "Apache-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"}
    assert licenses.satisfied(expression, allowed) is is_satisfied


def test_a_policy_without_a_file_is_named(dist: Path) -> None:
    done = CliRunner().invoke(verify, [str(dist), "--policy", str(dist / "none.toml")])
    assert isinstance(done.exception, MobpackError)
    assert "none.toml: no such file" in done.exception.message
