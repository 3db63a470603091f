"""`mobpack publish` on the command line: requests as a table and as JSON, refusals, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.publish_command import Mobpack, mobpack
from tests.cases.registries import Server, release, serving

__all__ = ["mobpack"]


SHOWN = {"registry", "method", "address", "file", "size-bytes", "sha256", "parts", "note", "result", "words"}

SECRET = "s3cret-of-the-test"


def test_a_dry_run_for_all_registries_sends_nothing_and_lists_everything(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    with serving(Server()) as server:
        to = [f"--to={name}={server.address}" for name in ("maven", "npm", "swift-registry")]
        answer = mobpack("dist", *to, "--set", "swift-registry.scope=acme", "--dry-run", "--json")
        assert server.requests == []
    document: dict[str, Any] = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert (document["schema-version"], document["dry-run"]) == (1, True)
    assert {frozenset(each) for each in document["requests"]} == {frozenset(SHOWN)}
    assert {each["result"] for each in document["requests"]} == {"planned"}
    methods = [(each["registry"], each["method"]) for each in document["requests"]]
    assert methods == [*[("maven", "PUT")] * 25, ("npm", "npm publish"), ("swift-registry", "PUT")]
    aar = next(each for each in document["requests"] if each["file"].endswith("1.0.0.aar"))
    assert (aar["size-bytes"], len(aar["sha256"])) == (300_000, 64)


def test_requests_are_shown_as_a_table_with_a_sum(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    with serving(Server()) as server:
        assert mobpack("--to", server.address).out.endswith("25 requests: 25 sent\n")
        answer = mobpack("--to", server.address)
    assert answer.out.endswith("25 requests: 25 already there\n")
    assert "warning: the group com.example is for examples and belongs to nobody" in answer.err
    assert "PUT" in answer.out
    assert "300.0 kB" in answer.out


def test_a_failure_in_the_middle_is_in_the_json(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOBPACK_MAVEN_TOKEN", SECRET)
    release(tmp_path / "dist")
    with serving(Server(faults={6: 403})) as server:
        answer = mobpack("--to", server.address, "--json")
    document = json.loads(answer.out)
    assert answer.code == 4
    assert "refuses" in document["error"]["message"]
    assert "(403): because of the test" in document["error"]["message"]
    assert [each["result"] for each in document["requests"]] == ["sent"] * 5 + ["not sent"] * 20
    assert SECRET not in answer.out + answer.err


def test_other_bytes_end_with_the_code_of_a_gate(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    release(tmp_path / "other", aar=b"another aar")
    with serving(Server()) as server:
        assert mobpack("--to", server.address).code == 0
        assert mobpack("other", "--to", server.address).code == 6


def test_a_file_that_is_not_the_manifests_is_refused(mobpack: Mobpack, tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    archive = dist / "npm" / "vision-web-1.0.0.tgz"
    archive.write_bytes(archive.read_bytes() + b"x")
    with serving(Server()) as server:
        answer = mobpack("--to", server.address)
        assert server.requests == []
    assert answer.code == 6
    assert "vision-web-1.0.0.tgz is not the file that manifest.json describes" in answer.err
    archive.unlink()
    assert "cannot be read: No such file or directory" in mobpack("--to", "npm").err
