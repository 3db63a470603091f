"""`mobpack sign` and `mobpack verify` of whole releases."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from click.testing import CliRunner

from packager.cli.verify import verify as verify_command
from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.release import checking, signatures
from packager.distribution.release.checking import Verified, verify_release
from packager.distribution.release.contents import files_in, manifest_of, unpack
from packager.distribution.release.signatures import without_signatures
from packager.files.hashes import sha256_of
from packager.files.zips import write_zip
from packager.signing.envelope import parsed
from packager.signing.keys import open_signer, spki
from packager.signing.model_signing import UNSIGNED_NAME, signed_files
from packager.signing.statements import release_statement
from packager.signing.verifying import trusted, verify
from packager.targets.maven import ALGORITHMS, digests
from packager.workflows import signing
from tests.cases.signing_cases import Key, make_key, make_release

AAR = "android/vision-1.2.3.aar"
IN_MAVEN = "maven/com/example/vision/1.2.3/vision-1.2.3.aar"
NPM = "npm/vision-1.2.3.tgz"
SWIFT = "swift/vision-1.2.3.zip"
BESIDE = {"manifest.json.sig", f"{AAR}.models.sig", f"{NPM}.models.sig", f"{SWIFT}.models.sig"}


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[bool, Path]:
    """A release, and one for apps that verify their models; tests change copies of them."""
    folder = tmp_path_factory.mktemp("releases")
    return {has_trust: make_release(folder / f"trust-{has_trust}", has_trust=has_trust) for has_trust in (False, True)}


@pytest.fixture(params=[False, True], ids=["plain", "trust"])
def dist(request: pytest.FixtureRequest, releases: Mapping[bool, Path], tmp_path: Path) -> Path:
    return shutil.copytree(releases[request.param], tmp_path / "dist", symlinks=True)


@pytest.fixture
def trusting(releases: Mapping[bool, Path], tmp_path: Path) -> Path:
    return shutil.copytree(releases[True], tmp_path / "dist", symlinks=True)


def signed(dist: Path, key: Key) -> tuple[str, ...]:
    return signing.sign(dist, signing.signer(str(key.private), None))


def verified(dist: Path, *keys: Key) -> Verified:
    return verify_release(dist, signing.trust([each.public for each in keys], None) if keys else None)


def contents(dist: Path) -> dict[str, str]:
    return {name: sha256_of(dist / name) for name in files_in(dist)}


def unpacked(package: Path, scratch: Path) -> dict[str, bytes]:
    scratch.mkdir()
    entries = unpack(package, scratch)
    return {str(name): content.read_bytes() for name, content in entries.items() if isinstance(content, Path)}


def test_a_release_verifies_before_and_after_it_is_signed(dist: Path, key: Key) -> None:
    found = verified(dist)
    assert (found.package, found.version, found.unlisted) == ("vision", "1.2.3", ("report.html",))
    assert found.signatures == {}
    assert set(signed(dist, key)) == BESIDE
    found = verified(dist, key)
    assert set(found.signatures) >= BESIDE
    assert set(found.signatures.values()) == {str(key.public)}
    assert verified(dist).files == found.files
    signed(dist, key)
    before = contents(dist)
    signed(dist, key)
    assert contents(dist) == before


def test_another_key_replaces_all_signatures(dist: Path, key: Key, tmp_path: Path) -> None:
    signed(dist, key)
    new = make_key(tmp_path / "new", "next")
    signed(dist, new)
    assert set(verified(dist, key, new).signatures.values()) == {str(new.public)}
    with pytest.raises(GateError, match="signed by another key"):
        verified(dist, key)


def test_without_signatures_a_release_is_what_was_built(dist: Path, key: Key, tmp_path: Path) -> None:
    built = contents(dist)
    signed(dist, key)
    (tmp_path / "built").mkdir()
    without_signatures(dist, tmp_path / "built")
    assert contents(tmp_path / "built") == built


def test_packages_whose_apps_trust_no_key_are_left_as_they_are(tmp_path: Path, key: Key) -> None:
    dist = make_release(tmp_path / "dist")
    built = contents(dist)
    signed(dist, key)
    assert {name: digest for name, digest in contents(dist).items() if name not in BESIDE} == built


def test_apps_that_trust_a_key_cannot_be_signed_without_one(trusting: Path) -> None:
    with pytest.raises(ConfigError, match="verify models with a key"):
        signing.sign(trusting, signing.keyless_signer())


def test_a_key_that_the_apps_do_not_trust_does_not_sign(tmp_path: Path, key: Key) -> None:
    dist = make_release(tmp_path / "dist", has_trust=True, keys=[hashlib.sha256(spki(key.public)).hexdigest()])
    before = contents(dist)
    with pytest.raises(ConfigError, match="trust other keys than this one"):
        signed(dist, make_key(tmp_path / "other"))
    assert contents(dist) == before
    assert set(signed(dist, key)) == BESIDE


def test_each_package_of_a_trusting_app_has_a_signed_list(trusting: Path, key: Key, tmp_path: Path) -> None:
    signed(trusting, key)
    places = {
        AAR: {"assets/mobpack/vision": {"a.ort.tflite", "a.golden.safetensors"}},
        SWIFT: {"vision-1.2.3/Sources/VisionKit/Resources/Models": {"a/model.ort", "a/fixed.onnx"}},
        NPM: {
            "package/models/android/mobpack/Vision": {"a.ort.tflite", "a.onnx.tflite"},
            "package/models/ios/mobpack/Vision": {"a.ort.tflite", "a.golden"},
        },
    }
    for number, (package, folders) in enumerate(places.items()):
        found = unpacked(trusting / package, tmp_path / str(number))
        assert {name for name in found if name.endswith(UNSIGNED_NAME)} == {
            f"{each}/{UNSIGNED_NAME}" for each in folders
        }
        for folder, names in folders.items():
            bundle = parsed(found[f"{folder}/{UNSIGNED_NAME}"], folder)
            verify(bundle, trusted([key.public]), folder)
            listed = signed_files(bundle, folder)
            assert set(listed.digests) == names
            assert listed.release == {
                "mobpack.package": "vision",
                "mobpack.version": "1.2.3",
                "mobpack.number": (1 << 40) + (2 << 20) + 3,
            }


def test_all_checksums_of_a_changed_package_are_renewed(trusting: Path, key: Key) -> None:
    before = sha256_of(trusting / AAR)
    signed(trusting, key)
    assert sha256_of(trusting / AAR) == sha256_of(trusting / IN_MAVEN) != before
    for algorithm, digest in zip(ALGORITHMS, digests(trusting / IN_MAVEN), strict=True):
        assert (trusting / f"{IN_MAVEN}.{algorithm}").read_text(encoding="utf-8") == digest
    module = json.loads((trusting / IN_MAVEN).with_suffix(".module").read_text(encoding="utf-8"))
    for variant in module["variants"]:
        (file,) = variant["files"]
        assert file["size"] == (trusting / AAR).stat().st_size
        assert [file[each] for each in ALGORITHMS] == digests(trusting / AAR)
    registry = json.loads((trusting / "swift/vision-1.2.3.json").read_text(encoding="utf-8"))
    assert registry["checksum"] == sha256_of(trusting / SWIFT)
    listed = {each.path: each.sha256 for each in manifest_of(trusting).files}
    assert listed == {name: sha256_of(trusting / name) for name in listed}


def test_provenance_is_signed_with_the_digests_of_the_signed_packages(trusting: Path, key: Key) -> None:
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": AAR, "digest": {"sha256": sha256_of(trusting / AAR)}},
            {"name": "manifest.json", "digest": {"sha256": sha256_of(trusting / "manifest.json")}},
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {},
    }
    (trusting / "provenance.intoto.json").write_text(json.dumps(statement, indent=2) + "\n", encoding="utf-8")
    built = contents(trusting)
    assert "provenance.intoto.json.sig" in signed(trusting, key)
    found = parsed((trusting / "provenance.intoto.json.sig").read_bytes(), "provenance")
    assert found.payload == (trusting / "provenance.intoto.json").read_bytes()
    assert [each["digest"]["sha256"] for each in json.loads(found.payload)["subject"]] == [
        sha256_of(trusting / AAR),
        sha256_of(trusting / "manifest.json"),
    ]
    assert "provenance.intoto.json.sig" in verified(trusting, key).signatures
    without_signatures(trusting, _made(trusting.with_name("built")))
    assert contents(trusting.with_name("built")) == built


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", [AAR, "swift/vision/Package.swift"])
def test_a_release_that_is_not_what_was_built_is_not_signed(dist: Path, key: Key, name: str) -> None:
    _put(dist / name, b"changed")
    with pytest.raises(GateError, match="changed: "):
        signed(dist, key)


def test_links_in_packages_are_signed_as_links(tmp_path: Path, key: Key) -> None:
    """Frameworks of Apple's systems have them, to folders too."""
    dist = make_release(tmp_path / "dist", links={"Frameworks/Current": "A"})
    (dist / "swift/vision/Frameworks/A").mkdir(parents=True)
    signed(dist, key)
    assert verified(dist, key).signatures
    (dist / "swift/vision/Frameworks/Current").unlink()
    (dist / "swift/vision/Frameworks/Current").symlink_to("B")
    with pytest.raises(GateError, match="changed: Frameworks/Current"):
        verified(dist, key)


def test_a_failed_signature_leaves_the_release(trusting: Path, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(trusting)

    def fail(*_: object) -> bytes:
        raise ToolError("the token failed")

    monkeypatch.setattr(signatures, "release_statement", fail)
    with pytest.raises(ToolError):
        signed(trusting, key)
    assert contents(trusting) == before
    assert [path.name for path in trusting.parent.iterdir() if path.name.startswith(".")] == []


def test_a_release_that_is_replaced_is_not_signed(dist: Path, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that ends while another command signs: its release stays."""

    def build(*arguments: Any) -> bytes:
        dist.rename(dist.with_name("old"))
        shutil.copytree(dist.with_name("old"), dist)
        _put(dist / "new", b"")
        return release_statement(*arguments)

    monkeypatch.setattr(signatures, "release_statement", build)
    with pytest.raises(ToolError, match="was replaced while it was being signed"):
        signed(dist, key)
    assert (dist / "new").exists()
    assert not (dist / "manifest.json.sig").exists()


def test_each_statement_is_signed_once(trusting: Path, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token chooses its random numbers, so that its signatures differ each time."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    signer = open_signer(str(key.private))
    monkeypatch.setattr(type(signer), "sign", lambda self, message: self.key.sign(message, ECDSA(SHA256())))
    signed(trusting, key)
    assert set(verified(trusting, key).signatures) >= BESIDE


def overwrite(name: str, content: bytes = b"changed") -> Callable[[Path], None]:
    return lambda dist: _put(dist / name, content)


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (overwrite(AAR), f"changed: {AAR}"),
        (lambda dist: (dist / IN_MAVEN).unlink(), f"missing: {IN_MAVEN}"),
        (overwrite("android/extra.txt"), "not part of the release: android/extra.txt"),
        (overwrite("extra.sig"), "not part of the release: extra.sig"),
        (overwrite(f"{IN_MAVEN}.md5"), "is not the checksum of vision-1.2.3.aar"),
        (overwrite("swift/vision/Package.swift"), "changed: Package.swift"),
        (overwrite("swift/vision/Extra.swift"), "not signed: Extra.swift"),
    ],
)
def test_changes_are_named(
    trusting: Path, key: Key, change: Callable[[Path], None], words: str, is_signed: bool
) -> None:
    if is_signed:
        signed(trusting, key)
    change(trusting)
    with pytest.raises(GateError) as caught:
        verified(trusting, *([key] if is_signed else []))
    assert words in caught.value.message


def replaced_in_manifest(dist: Path) -> None:
    """Another package, with a manifest that fits it."""
    _put(dist / AAR, b"evil")
    listed_anew(dist)


def listed_anew(dist: Path, name: str = AAR) -> None:
    """Makes the manifest fit the file."""
    document = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    for each in document["artifacts"]:
        if each["path"] == name:
            each["sha256"] = sha256_of(dist / name)
    (dist / "manifest.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (replaced_in_manifest, f"changed: {AAR}, manifest.json"),
        (overwrite("report.html"), "changed: report.html"),
        (lambda dist: (dist / "manifest.json.sig").unlink(), "the release is not signed"),
        (lambda dist: (dist / f"{AAR}.models.sig").unlink(), f"{AAR}.models.sig is missing"),
        (lambda dist: shutil.copy(dist / f"{NPM}.models.sig", dist / f"{AAR}.models.sig"), "lists; missing"),
        (overwrite("provenance.intoto.json", b"{}"), "not signed: provenance.intoto.json"),
    ],
)
def test_signatures_find_what_manifests_miss(
    trusting: Path, key: Key, change: Callable[[Path], None], words: str
) -> None:
    signed(trusting, key)
    change(trusting)
    with pytest.raises(GateError) as caught:
        verified(trusting, key)
    assert words in caught.value.message


TEXT = "notes.txt"


def link_of_same_text(dist: Path) -> None:
    text = (dist / TEXT).read_text(encoding="utf-8")
    (dist / TEXT).unlink()
    (dist / TEXT).symlink_to(text)


def text_of_same_link(dist: Path) -> None:
    target = (dist / "swift/vision/Current").readlink().as_posix()
    (dist / "swift/vision/Current").unlink()
    _put(dist / "swift/vision/Current", target.encode())


def executable(name: str) -> Callable[[Path], None]:
    def change(dist: Path) -> None:
        _put(dist / name, (dist / name).read_bytes() if (dist / name).is_file() else b"#!/bin/sh\n")
        (dist / name).chmod(0o755)

    return change


def no_executable(name: str) -> Callable[[Path], None]:
    return lambda dist: (dist / name).chmod(0o644)


PROJECT = "android/project"


@pytest.fixture(scope="module")
def with_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Key]]:
    """A signed release with links, a program, an empty folder and a text of any kind, and its key."""
    folder = tmp_path_factory.mktemp("with_project")
    key = make_key(folder / "keys")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "UNLISTED", (*checking.UNLISTED, TEXT))
        dist = make_release(folder / "dist", links={"Current": "A"})
        _put(dist / TEXT, b"report.html")
        executable(f"{PROJECT}/gradlew")(dist)
        (dist / PROJECT / "signed").mkdir()
        signed(dist, key)
        assert verified(dist, key).signatures
        yield dist, key


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (executable("provenance.intoto.json.sig"), "not part of the release: provenance.intoto.json.sig"),
        (executable("manifest.json.sig"), "manifest.json.sig is a link, or can be executed"),
        (executable(f"{NPM}.models.sig"), f"{NPM}.models.sig is a link, or can be executed"),
        (executable("report.html"), "changed: report.html"),
        (executable(f"{PROJECT}/build.sh"), f"not signed: {PROJECT}/build.sh"),
        (no_executable(f"{PROJECT}/gradlew"), f"changed: {PROJECT}/gradlew"),
        (lambda dist: (dist / PROJECT / "empty").mkdir(), f"not signed: {PROJECT}/empty"),
        (lambda dist: (dist / "a/b").mkdir(parents=True), "not signed: a/b"),
        (lambda dist: (dist / PROJECT / "signed").rmdir(), f"missing: {PROJECT}/signed"),
        (lambda dist: _put(dist / PROJECT / "signed/file", b""), "missing: android/project/signed; not signed"),
        (link_of_same_text, f"changed: {TEXT}"),
        (text_of_same_link, "changed: Current"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_entry_of_another_kind_and_one_more_are_found(
    tmp_path: Path, with_project: tuple[Path, Key], change: Callable[[Path], None], words: str
) -> None:
    release, key = with_project
    dist = shutil.copytree(release, tmp_path / "dist", symlinks=True)
    change(dist)
    with pytest.raises(GateError) as caught:
        verified(dist, key)
    assert words in caught.value.message


def test_a_disk_without_permissions_is_named(dist: Path, key: Key) -> None:
    signed(dist, key)
    for name in files_in(dist):
        (dist / name).chmod(0o777)
    for keys in ([], [key]):
        with pytest.raises(GateError, match="is executable, as on disks that keep no permissions"):
            verified(dist, *keys)


def test_a_signature_of_models_where_there_are_none_is_an_addition(tmp_path: Path, key: Key) -> None:
    dist = make_release(tmp_path / "dist")
    found = unpacked(dist / AAR, tmp_path / "others")
    write_zip(dist / AAR, {PurePosixPath(name): found[name] for name in found if "assets" not in name})
    shutil.copyfile(dist / AAR, dist / IN_MAVEN)
    for name in (AAR, IN_MAVEN):
        listed_anew(dist, name)
    for path in (dist / "maven").rglob("*.aar.*"):
        path.unlink()
    assert f"{AAR}.models.sig" not in signed(dist, key)
    _put(dist / f"{AAR}.models.sig", b"anything")
    with pytest.raises(GateError, match=r"not signed: .*models\.sig"):
        verified(dist, key)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda dist: os.mkfifo(dist / "pipe"), "pipe is neither a file nor a folder"),
        (
            lambda dist: _put(dist / "android/project/models.sig/a", b""),
            "models.sig is a folder with the name of a file",
        ),
        (lambda dist: (dist / "manifest.json.sig").mkdir(), "manifest.json.sig is a folder with"),
        (lambda dist: (dist / "report.html").chmod(0o4644), "report.html has the setuid or setgid bit (mode 4644)"),
    ],
)
def test_what_cannot_be_vouched_for_is_refused(
    dist: Path, key: Key, change: Callable[[Path], None], words: str
) -> None:
    change(dist)
    with pytest.raises(GateError) as caught:
        signed(dist, key)
    assert words in caught.value.message


def test_a_damaged_list_of_a_project_is_named_where_it_is(dist: Path, key: Key) -> None:
    damaged = dist / "android/project/models.sig"
    _put(damaged, b"{")
    with pytest.raises(GateError) as caught:
        signed(dist, key)
    assert str(damaged) in caught.value.message


@pytest.mark.parametrize("left", ["manifest.json.sig", "provenance.intoto.json", "report.json"])
def test_a_release_without_its_manifest_is_not_signed_as_a_model(dist: Path, key: Key, left: str) -> None:
    (dist / "manifest.json").unlink()
    _put(dist / left, b"{}")
    with pytest.raises(ConfigError, match=f"has {left}, but no manifest.json"):
        signed(dist, key)
    assert not (dist / "model.sig").exists()


def test_a_package_that_does_not_hold_what_its_list_says_is_not_signed(trusting: Path, key: Key) -> None:
    repacked(trusting, {"assets/mobpack/vision/a.ort.tflite": b"other"})
    with pytest.raises(GateError, match=r"lists a\.ort\.tflite, which is missing or has other content"):
        signed(trusting, key)


def test_a_package_with_a_model_that_its_list_leaves_out_is_not_signed(trusting: Path, key: Key) -> None:
    repacked(trusting, {"assets/mobpack/vision/b.ort.tflite": b"other"})
    with pytest.raises(GateError, match=r"b\.ort\.tflite in .* is not listed"):
        signed(trusting, key)


def test_a_link_in_place_of_a_model_is_not_signed(tmp_path: Path, key: Key) -> None:
    models = "Sources/VisionKit/Resources/Models"
    dist = make_release(tmp_path / "dist", links={f"{models}/a/link.ort": "model.ort"})
    with pytest.raises(GateError, match=r"a/link\.ort in a package is a link"):
        signed(dist, key)


def test_a_damaged_package_is_named(dist: Path, key: Key) -> None:
    content = (dist / NPM).read_bytes()
    (dist / NPM).write_bytes(content[: len(content) // 2])
    listed_anew(dist, NPM)
    with pytest.raises(ToolError, match=r"cannot read .*tgz"):
        signed(dist, key)


def repacked(dist: Path, files: dict[str, bytes]) -> None:
    found = unpacked(dist / AAR, dist.with_name("scratch"))
    write_zip(dist / AAR, {PurePosixPath(name): content for name, content in {**found, **files}.items()})
    listed_anew(dist)


def test_what_is_no_release_is_refused(tmp_path: Path, dist: Path, key: Key) -> None:
    with pytest.raises(ConfigError, match="is neither a release"):
        signing.verify_place(tmp_path, None)
    _put(dist / AAR, b"changed")
    found = CliRunner().invoke(verify_command, [str(dist), "--key", str(key.public)])
    assert isinstance(found.exception, GateError)
    assert found.exception.EXIT_CODE == 6
