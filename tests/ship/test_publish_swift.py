"""Publishing Swift packages: to a registry, which is a double that answers as SE-0292 and SE-0391 say, and as tags of a
git repository, from which the real Swift package manager takes them."""

import subprocess
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.publishing import publish, registries
from packager.files.hashes import sha256_of
from tests.cases.publish_swift import SwiftDouble, identity, published, repository, tagged
from tests.cases.registries import LOCAL, Fault, Waits, release, results, serving

__all__ = ["identity", "repository"]


PLACE = "/acme/vision/1.0.0"


def test_a_registry_gets_the_archive_and_its_metadata_once(tmp_path: Path) -> None:
    dist, double = release(tmp_path / "dist"), SwiftDouble()
    with serving(double.server):
        assert results(published(dist, double)) == {"sent"}
        assert results(published(dist, double)) == {"already there"}
    archive = dist / "swift" / "vision-1.0.0.zip"
    assert double.releases == {PLACE: {"source-archive": archive.read_bytes(), "metadata": b'{"description": "Sees."}'}}
    assert len(double.server.changed()) == 1


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    double = SwiftDouble()
    with serving(double.server):
        double.releases[PLACE] = {"source-archive": b"another archive"}
        with pytest.raises(GateError, match=rf"{PLACE} is there with other bytes"):
            published(release(tmp_path / "dist"), double)


@pytest.mark.parametrize("fault", [429, 500, "cut", "late"])
def test_a_registry_that_fails_is_tried_again_and_409_of_our_own_upload_is_none(tmp_path: Path, fault: Fault) -> None:
    double = SwiftDouble()
    double.server.faults = {1: fault}
    with serving(double.server):
        assert results(published(release(tmp_path / "dist"), double)) == {"sent"}
    assert list(double.releases) == [PLACE]


def test_a_registry_may_accept_a_package_and_work_on_it(tmp_path: Path) -> None:
    double = SwiftDouble(status=202)
    with serving(double.server):
        [outcome] = published(release(tmp_path / "dist"), double)
    assert outcome.words == "accepted; the registry is still at work on it"


def test_an_expired_token_is_said(tmp_path: Path) -> None:
    double = SwiftDouble()
    double.server.authorization = "Bearer fresh"
    waits = Waits({"MOBPACK_SWIFT_TOKEN": "old-s3cret"})
    with serving(double.server), pytest.raises(ToolError, match="wrong or have expired") as error:
        published(release(tmp_path / "dist"), double, waits=waits)
    assert "set MOBPACK_SWIFT_TOKEN" in error.value.hint
    assert "old-s3cret" not in f"{error.value} {error.value.hint}"


def test_a_certificate_signs_the_archive_and_its_metadata(tmp_path: Path, identity: tuple[Path, Path]) -> None:
    certificate, key = identity
    double = SwiftDouble()
    settings = (f"swift-registry.certificate={certificate}", f"swift-registry.key={key}")
    dist = release(tmp_path / "dist")
    with serving(double.server):
        published(dist, double, *settings)
        assert results(published(dist, double, *settings)) == {"already there"}, "with other signatures"
        with pytest.raises(GateError, match="other bytes"):
            published(dist, double)
    [headers] = [each for each in double.server.headers if "Content-Type" in each]
    assert headers["X-Swift-Package-Signature-Format"] == "cms-1.0.0"
    parts = double.releases[PLACE]
    assert list(parts) == ["source-archive", "metadata", "source-archive-signature", "metadata-signature"]
    for name in ("source-archive", "metadata"):
        assert is_signed(parts[name], parts[f"{name}-signature"], certificate, tmp_path)
        assert not is_signed(parts[name] + b"x", parts[f"{name}-signature"], certificate, tmp_path)


def is_signed(content: bytes, signature: bytes, certificate: Path, folder: Path) -> bool:
    (folder / "content").write_bytes(content)
    (folder / "signature").write_bytes(signature)
    command = ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", str(folder / "signature")]
    command += ["-content", str(folder / "content"), "-CAfile", str(certificate), "-purpose", "any"]
    return subprocess.run([*command, "-out", "/dev/null"], check=False, capture_output=True).returncode == 0


def test_a_package_that_depends_on_a_path_says_what_to_publish_first(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", dependencies=LOCAL)
    double = SwiftDouble()
    with serving(double.server):
        with pytest.raises(ConfigError, match=r"vision depends on \.\./onnxruntime-binary-1\.29\.0 by path") as error:
            published(dist, double)
        assert "publish onnxruntime-binary first" in error.value.hint
        published(dist, double, "swift-registry.package=onnxruntime-binary")
    assert list(double.releases) == ["/acme/onnxruntime-binary/1.29.0"]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_tag_has_the_package_at_its_root_and_is_made_once(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    [outcome] = tagged(dist, repository)
    assert outcome.words == f"publish it with: git -C {repository} push origin releases 1.0.0"
    assert git(repository, "ls-tree", "-r", "--name-only", "1.0.0").split() == [
        "Package.swift",
        "Sources/VisionModels/Vision.swift",
    ]
    show = ["git", "-C", str(repository), "show", "1.0.0:Sources/VisionModels/Vision.swift"]
    assert subprocess.run(show, check=True, capture_output=True).stdout == b"public let answer = 42\r\n"
    assert results(tagged(dist, repository)) == {"already there"}
    tagged(release(tmp_path / "next", version="1.1.0"), repository)
    assert git(repository, "tag").split() == ["1.0.0", "1.1.0"]
    assert git(repository, "rev-list", "--count", "releases") == "1", "the files are the same"


def test_a_tag_with_other_files_is_refused(tmp_path: Path, repository: Path) -> None:
    tagged(release(tmp_path / "one"), repository)
    commit = git(repository, "rev-parse", "releases")
    empty = git(repository, "hash-object", "-t", "tree", "-w", "/dev/null")
    git(repository, "tag", "--force", "1.0.0", git(repository, "commit-tree", empty, "-m", "another"))
    with pytest.raises(GateError, match=r"vision\.git#1\.0\.0 is there with other bytes"):
        tagged(release(tmp_path / "two"), repository)
    assert git(repository, "rev-parse", "releases") == commit


def test_a_call_that_ended_before_the_tag_is_continued(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    tagged(dist, repository)
    commit = git(repository, "rev-parse", "releases")
    git(repository, "tag", "--delete", "1.0.0")
    assert results(tagged(dist, repository)) == {"sent"}
    assert git(repository, "rev-parse", "1.0.0^{commit}", "releases").split() == [commit, commit]


def test_folders_that_are_no_repository_and_branches_in_use_are_refused(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    (tmp_path / "plain").mkdir()
    for place, message in {"plain": "is not a git repository", "gone": "is not there"}.items():
        with pytest.raises(ConfigError, match=message) as error:
            tagged(dist, tmp_path / place)
        assert "git init --bare" in error.value.hint
    subprocess.run(["git", "clone", "--quiet", repository, tmp_path / "clone"], check=True, capture_output=True)
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "releases")
    with pytest.raises(ConfigError, match="branch releases is checked out"):
        tagged(dist, tmp_path / "clone")
    assert results(tagged(dist, tmp_path / "clone", "swift-git.branch=others")) == {"sent"}


def test_git_without_a_name_of_its_user_says_so(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "gitconfig").write_text("[user]\nuseConfigOnly = true\n", encoding="utf-8")
    with pytest.raises(ToolError, match="git commit-tree failed"):
        tagged(release(tmp_path / "dist"), repository)


def test_the_archive_of_a_tag_is_the_one_of_the_release(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    [planned] = publish(dist, registries([f"swift-git={repository}"], []), Waits().session, is_dry=True)
    assert planned.request.sha256 == sha256_of(dist / "swift" / "vision-1.0.0.zip")
    assert git(repository, "tag") == ""
