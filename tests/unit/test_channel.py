"""Channels: publishing, promoting, going back, pruning and verifying; interrupted, at once, and under attack."""

import json
import random
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution import deltas
from packager.distribution.channel import clients, pruning, publishing, repository
from packager.distribution.channel.document import Document
from packager.distribution.channel.publishing import ReleasesKept, Terms
from packager.distribution.channel.storage import (
    ChangedError,
    ChannelFolder,
    ChannelStorage,
    ExistsError,
    RemoteChannel,
    open_storage,
)
from tests.cases.channel import ONE, THREE, TWO, Publish, dist, folder, key, publish, storage
from tests.cases.channel_cases import (
    NOW,
    KilledError,
    Watched,
    later,
    make_release,
    place_of,
    repository_of,
    root_of,
    signing_of,
)
from tests.cases.signing_cases import Key, digest

__all__ = ["dist", "folder", "key", "publish", "storage"]


def hosted(sha256: str) -> str:
    """Name in the store of a file of the model."""
    return repository.hosted_name(f"classifier/{sha256}", sha256)


def models(folder: ChannelFolder) -> list[str]:
    """Names of the model files in a store."""
    return [each.name for each in folder.listed("targets") if not each.name.endswith("releases.json")]


def versions(document: Document) -> list[str]:
    return [each.version for each in document.models[0].releases]


def test_a_published_release_verifies_as_a_device_sees_it(storage: ChannelStorage, key: Key, publish: Publish) -> None:
    publish(storage, ONE)
    publish(storage, TWO)
    found = clients.verify(place_of(storage, key), NOW)
    assert (found.document.number, found.documents, found.blobs) == (2, 2, 5)
    assert versions(found.document) == ["1.1.0", "1.0.0"]
    release = found.document.models[0].releases[0]
    assert [(each.provider, each.file.name, [file.name for file in each.data]) for each in release.files] == [
        ("xnnpack", "classifier-unfused.onnx.tflite", ["model.ort"]),
        ("cpu", "classifier.ort.tflite", []),
    ]
    assert release.files[0].runtime_range == "[1.29,1.32)"
    content = storage.read(hosted(release.files[1].file.sha256), limit_bytes=100)
    assert content == TWO.weights


def test_the_same_release_again_changes_nothing(storage: ChannelStorage, publish: Publish) -> None:
    publish(storage, ONE)
    before = [each.name for each in storage.listed("")]
    again = publish(storage, ONE)
    assert (again.is_new, again.document.number) == (False, 1)
    assert [each.name for each in storage.listed("")] == before


def test_only_blobs_that_are_missing_are_written(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, ONE)
    watched = Watched(inner=folder)
    publish(watched, replace(ONE, version="1.0.1"))
    assert [each.rpartition(".")[0].rpartition("/")[2].rpartition(".")[2] for each in watched.writes] == [
        "releases",
        "targets",
        "snapshot",
        "timestamp",
    ]


def test_a_release_after_an_interruption_gets_another_number(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE)
    with pytest.raises(KilledError):
        publish(Watched(inner=folder, fails_at=4, is_late=True), TWO)
    publish(folder, THREE)
    found = clients.verify(place_of(folder, key), NOW)
    assert (found.document.number, versions(found.document)) == (3, ["1.2.0", "1.1.0", "1.0.0"])


def numbers(seed: int, count: int = 4096) -> bytes:
    return random.Random(seed).randbytes(count)


def test_a_release_has_deltas_from_earlier_ones(
    storage: ChannelStorage, key: Key, publish: Publish, tmp_path: Path
) -> None:
    one = replace(ONE, weights=numbers(1))
    two = replace(TWO, weights=one.weights[:2000] + b"changed" + one.weights[2007:])
    three = replace(THREE, weights=two.weights[:3000] + b"again" + two.weights[3005:])
    publish(storage, one)
    publish(storage, two)
    publish(storage, three)
    document = clients.verify(place_of(storage, key), NOW).document
    file = document.models[0].releases[0].files[1].file
    assert [each.source for each in file.deltas] == [digest(two.weights), digest(one.weights)]
    assert all(each.size_bytes < 300 for each in file.deltas)
    for delta, release in zip(file.deltas, (two, one), strict=True):
        old, out = tmp_path / "old", tmp_path / f"out-{release.version}"
        old.write_bytes(release.weights)
        with storage.opened(hosted(delta.sha256)) as content:
            deltas.apply(old, content, out)
        assert out.read_bytes() == three.weights
    data = document.models[0].releases[0].files[0].data[0]
    assert data.deltas == file.deltas, "the same file in another role has the same deltas"
    assert publish(storage, three).is_new is False


def test_deltas_that_are_not_worth_their_bytes_are_left_out(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, replace(ONE, weights=numbers(1)))
    made = publish(folder, replace(TWO, weights=numbers(2)))
    assert made.document.models[0].releases[0].files[1].file.deltas == ()


def test_without_deltas_there_are_none(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, replace(ONE, weights=numbers(1)))
    made = publish(folder, replace(TWO, weights=numbers(1) + b"x"), limits=ReleasesKept(deltas=0))
    assert len(made.uploaded) == 3, "two files, and the list of releases"


def test_a_delta_is_not_made_of_a_blob_that_was_changed(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, replace(ONE, weights=numbers(1)))
    for each in models(folder):
        (folder.root / each).write_bytes(bytes((folder.root / each).stat().st_size))
    with pytest.raises(GateError, match="was changed"):
        publish(folder, replace(TWO, weights=numbers(1) + b"x"))


def test_a_publisher_killed_among_deltas_is_continued(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, replace(ONE, weights=numbers(1)))
    two = replace(TWO, weights=numbers(1) + b"x")
    whole = Watched(inner=ChannelFolder(root=folder.root.with_name("whole")))
    publish(whole.inner, replace(ONE, weights=numbers(1)))
    publish(whole, two)
    kinds = [each.partition("/")[0] for each in whole.writes]
    assert kinds == ["targets"] * 5 + ["stable"] * 3, "two deltas, two files, the list of releases, and metadata"
    for _ in kinds:
        with pytest.raises(KilledError):
            publish(Watched(inner=folder, fails_at=1, is_late=True), two)
        if publishing.required(place_of(folder, key)).number == 2:
            break
    found = clients.verify(place_of(folder, key), NOW)
    assert versions(found.document) == ["1.1.0", "1.0.0"]
    assert found.blobs == 7


def test_promoting_adds_deltas_from_what_the_channel_had(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, replace(ONE, weights=numbers(1)))
    publish(folder, replace(TWO, weights=numbers(1) + b"x"), channel="beta")
    beta = place_of(folder, key, channel="beta")
    assert publishing.required(beta).models[0].releases[0].files[1].file.deltas == ()
    made = publishing.promote(place_of(folder, key), signing_of(), source=beta)
    assert [each.source for each in made.document.models[0].releases[0].files[1].file.deltas] == [digest(numbers(1))]
    clients.verify(place_of(folder, key), NOW)


def test_another_contract_is_refused_unless_it_is_said(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, ONE)
    renamed = replace(TWO, labels=("cat", "hound"))
    with pytest.raises(GateError, match="another contract") as refused:
        publish(folder, renamed)
    assert "--new-contract" in refused.value.hint
    document = publish(folder, renamed, Terms(is_new_contract=True), limits=ReleasesKept(keep=1)).document
    assert versions(document) == ["1.1.0", "1.0.0"], "apps with the old contract still find their model"
    assert len({each.contract for each in document.models[0].releases}) == 2


def test_an_older_version_and_other_files_of_a_version_are_refused(folder: ChannelFolder, publish: Publish) -> None:
    publish(folder, TWO)
    with pytest.raises(GateError, match=r"older than 1\.1\.0"):
        publish(folder, ONE)
    with pytest.raises(GateError, match="with other files"):
        publish(folder, replace(TWO, weights=b"secretly other"))


def test_a_rollout_grows_with_the_same_salt_over_the_release_before(
    folder: ChannelFolder, key: Key, publish: Publish
) -> None:
    publish(folder, ONE)
    small = publish(folder, TWO, Terms(percent=10), limits=ReleasesKept(keep=1)).document.models[0].releases
    assert [(each.version, each.rollout.percent) for each in small] == [("1.1.0", 10), ("1.0.0", 100)]
    made = publishing.promote(place_of(folder, key), signing_of(), percent=50)
    grown = made.document.models[0].releases
    assert (grown[0].rollout.percent, grown[0].rollout.salt) == (50, small[0].rollout.salt)
    assert [each.endswith(".releases.json") for each in made.uploaded] == [True]


def test_a_release_is_promoted_to_a_channel_without_its_bytes(
    storage: ChannelStorage, key: Key, publish: Publish
) -> None:
    publish(storage, ONE, channel="beta")
    stable, beta = place_of(storage, key), place_of(storage, key, channel="beta")
    made = publishing.promote(stable, signing_of(), source=beta, percent=25)
    assert [each.endswith(".releases.json") for each in made.uploaded] == [True]
    assert clients.verify(stable, NOW).document.models[0].releases[0].rollout.percent == 25


def test_a_release_is_not_promoted_to_a_channel_of_another_package(
    folder: ChannelFolder, key: Key, publish: Publish
) -> None:
    publish(folder, ONE, channel="beta")
    stable = repository_of(folder, root_of(key, package="audio"), key)
    with pytest.raises(ConfigError, match="different packages: audio, vision"):
        publishing.promote(stable, signing_of(), source=place_of(folder, key, channel="beta"))


def test_going_back_takes_a_new_number(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    place = place_of(folder, key)
    for each in (ONE, TWO, THREE):
        publish(folder, each)
    back = publishing.rollback(place, signing_of()).document
    assert (back.number, back.restores, versions(back)) == (4, 2, ["1.1.0", "1.0.0"])
    further = publishing.rollback(place, signing_of()).document
    assert (further.number, further.restores, versions(further)) == (5, 1, ["1.0.0"])
    with pytest.raises(ConfigError, match="no document before"):
        publishing.rollback(place, signing_of())
    forth = publishing.rollback(place, signing_of(), number=3).document
    assert (forth.number, versions(forth)[0]) == (6, "1.2.0")
    assert clients.verify(place, NOW).documents == 6


def test_publishing_again_renews_what_has_expired(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE, signing=signing_of(days=7))
    assert publish(folder, ONE, signing=signing_of(now=later(8))).document.number == 2


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["missing", "cut"])
def test_publishing_a_release_again_mends_its_blobs(
    folder: ChannelFolder, key: Key, publish: Publish, damage: Callable[[Path], object]
) -> None:
    publish(folder, ONE)
    damaged = models(folder)[0]
    damage(folder.root / damaged)
    assert publish(folder, ONE, is_dry=True).uploaded == (damaged,)
    again = publish(folder, ONE)
    assert (again.is_new, again.document.number, again.uploaded) == (False, 1, (damaged,))
    clients.verify(place_of(folder, key), NOW)


def test_a_blob_that_was_changed_is_mended_as_its_hint_says(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE)
    path = folder.root / models(folder)[0]
    path.write_bytes(bytes(len(path.read_bytes())))
    with pytest.raises(GateError, match="was changed") as raised:
        clients.verify(place_of(folder, key), NOW)
    assert raised.value.hint == "remove it and publish the release that has it again"
    path.unlink()
    publish(folder, ONE)
    clients.verify(place_of(folder, key), NOW)


def aged(folder: ChannelFolder, days: float) -> None:
    import os

    for path in folder.root.rglob("*"):
        os.utime(path, (time.time() - days * 86400,) * 2)


def prune(
    folder: ChannelStorage, key: Key, *, documents: int, grace_s: float = 86400.0, **options: bool
) -> pruning.Pruned:
    places = [place_of(folder, key, channel=each) for each in repository.channels(folder)]
    return pruning.prune(places, documents=documents, grace_s=grace_s, now=NOW + timedelta(seconds=5), **options)


def test_pruning_keeps_what_the_last_documents_name(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE, channel="beta")
    for each in (ONE, TWO, THREE):
        publish(folder, each, limits=ReleasesKept(keep=1))
    aged(folder, 2)
    assert prune(folder, key, documents=1, is_dry=True).names != ()
    assert len(models(folder)) == 6
    found = prune(folder, key, documents=1)
    assert len(models(folder)) == 4, "of the third release, and of the first, which is in beta"
    assert [each for each in found.names if each.startswith("stable/")] == [
        "stable/1.snapshot.json",
        "stable/1.targets.json",
        "stable/2.snapshot.json",
        "stable/2.targets.json",
    ]
    for channel in ("stable", "beta"):
        clients.verify(place_of(folder, key, channel=channel), NOW)
    with pytest.raises(ConfigError, match="has no targets 2"):
        publishing.rollback(place_of(folder, key), signing_of(), number=2)


def test_pruning_leaves_what_a_publisher_has_just_written(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE)
    with pytest.raises(KilledError):
        publish(Watched(inner=folder, fails_at=4), TWO)
    assert prune(folder, key, documents=1).names == ()
    aged(folder, 2)
    assert len(prune(folder, key, documents=1).names) == 3


def test_a_blob_that_pruning_may_remove_is_written_again(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE)
    with pytest.raises(KilledError):
        publish(Watched(inner=folder, fails_at=4), TWO)
    aged(folder, 0.9)
    watched = Watched(inner=folder)
    publish(watched, TWO)
    assert (
        len([each for each in watched.writes if each.startswith("targets/") and not each.endswith("releases.json")])
        == 2
    )


def test_pruning_keeps_what_a_channel_without_pointer_names(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE)
    publish(folder, TWO, channel="beta")
    (folder.root / "beta/timestamp.json").unlink()  # the first publisher of beta was interrupted before it
    aged(folder, 2)
    assert repository.channels(folder) == ["beta", "stable"]
    assert prune(folder, key, documents=1).names == ()
    publish(folder, TWO, channel="beta")
    clients.verify(place_of(folder, key, channel="beta"), NOW)


def test_nothing_is_pruned_beside_an_unverified_channel(folder: ChannelFolder, key: Key, publish: Publish) -> None:
    publish(folder, ONE, channel="beta")
    publish(folder, TWO)
    (folder.root / "beta/timestamp.json").write_bytes(b"{}")
    aged(folder, 2)
    with pytest.raises(GateError, match="beta"):
        prune(folder, key, documents=1, grace_s=0)
    assert len(models(folder)) == 4


def test_a_store_creates_once_and_replaces_what_is_expected(storage: ChannelStorage) -> None:
    storage.create("a/b", b"one")
    with pytest.raises(ExistsError):
        storage.create("a/b", b"two")
    with pytest.raises(ChangedError):
        storage.replace("a/b", b"two", expected=b"other")
    with pytest.raises(ChangedError):
        storage.replace("a/b", b"two", expected=None)
    storage.replace("a/b", b"two", expected=b"one")
    storage.replace("a/c", b"new", expected=None)
    assert storage.read("a/b", limit_bytes=100) == b"two"
    assert storage.read("a/none", limit_bytes=100) is None
    assert storage.read("a/b", limit_bytes=1) == b"tw", "a byte more than the limit"
    assert [(each.name, each.size_bytes) for each in storage.listed("a")] == [("a/b", 3), ("a/c", 3)]
    storage.delete("a/b")
    assert [each.name for each in storage.listed("")] == ["a/c"]
    assert storage.listed("nothing") == []


def test_a_store_that_creates_exclusively_decides_between_publishers() -> None:
    # As S3, GCS and Azure do: the file was not there when it was looked for, and is when it is written.
    def pipe_file(path: str, content: bytes, mode: str) -> None:
        assert mode == "create"
        raise FileExistsError(path)

    files = SimpleNamespace(
        invalidate_cache=lambda: None, exists=lambda path: False, makedirs=lambda *_, **__: None, pipe_file=pipe_file
    )
    with pytest.raises(ExistsError):
        RemoteChannel(files=files, root="bucket", url="s3://bucket").create("a", b"")


def test_an_error_of_a_store_says_where_and_what_to_do() -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("403 Forbidden")

    files = SimpleNamespace(invalidate_cache=lambda: None, open=refuse)
    with pytest.raises(ToolError, match=r"s3://bucket: stable/channel\.json: PermissionError: 403") as failed:
        RemoteChannel(files=files, root="bucket", url="s3://bucket").read("stable/channel.json", limit_bytes=1)
    assert "credentials" in failed.value.hint


def test_what_is_unknown_is_refused(folder: ChannelFolder, publish: Publish) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        open_storage("nowhere://bucket")
    with pytest.raises(ConfigError, match="no model 'other'"):
        publish(folder, ONE, models=("other",))


@pytest.mark.parametrize("name", ["../stable", "a/b", "", "targets", ".hidden"])
def test_a_channel_has_a_plain_name(folder: ChannelFolder, key: Key, name: str) -> None:
    with pytest.raises(ConfigError, match="not the name of a package or a channel"):
        place_of(folder, key, channel=name)


def test_a_release_without_what_channels_need_is_refused(folder: ChannelFolder, key: Key, tmp_path: Path) -> None:
    old = make_release(tmp_path / "old", ONE)
    manifest = json.loads((old / "manifest.json").read_text(encoding="utf-8"))
    del manifest["compiled"][1]["data-sha256"]
    (old / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8", newline="\n")
    with pytest.raises(ConfigError, match="data-sha256") as refused:
        publishing.publish(place_of(folder, key), old, Terms(), signing_of())
    assert "build it again" in refused.value.hint


def test_a_release_of_encrypted_models_is_refused(folder: ChannelFolder, key: Key, tmp_path: Path) -> None:
    encrypted = make_release(tmp_path / "encrypted", ONE)
    manifest = json.loads((encrypted / "manifest.json").read_text(encoding="utf-8"))
    manifest["options"]["encryption"] = "models-1"
    (encrypted / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8", newline="\n")
    with pytest.raises(ConfigError, match="are encrypted") as refused:
        publishing.publish(place_of(folder, key), encrypted, Terms(), signing_of())
    assert "without [package] encryption" in refused.value.hint
    assert folder.listed("") == []
