"""`[package] channel`: which projects may name one, and that code and channel agree about APIs and self-tests."""

import json
from pathlib import Path, PurePosixPath

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from packager import config
from packager.core.errors import ConfigError
from packager.core.values import Package
from packager.distribution.channel.contents import contents
from packager.distribution.channel.contracts import contract_hash
from packager.distribution.channel.document import Allowed, Setting
from packager.distribution.release.manifest import model_entry
from packager.files.zips import write_zip
from packager.targets.android import Android
from packager.targets.delivery import DeliveryView, delivery_view
from packager.workflows.delivering import delivered, refuse_undelivered
from packager.workflows.options import options_of
from packager.workflows.requested import package_of
from tests.cases.channel_cases import Release, make_release
from tests.cases.differences_cases import TYPED
from tests.cases.signing_cases import digest
from tests.cases.trust_vectors import IN_USE, STRANGER
from tests.cases.tuf_repository import Json, root_text, signed_by

PUBLIC = IN_USE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
CHANNEL = 'channel = "stable.root.json"'
PROJECT = """[package]
name = "vision"
version = "1.2.3"
{keys}
[model.classifier]
path = "classifier.onnx"
outputs.scores = {{ kind = "classes", labels = "labels.txt", activation = "softmax" }}
[target.android]
"""


def project(folder: Path, keys: str) -> config.Config:
    (folder / "classifier.onnx").write_bytes(b"unread")
    (folder / "labels.txt").write_text("cat\ndog\n", encoding="utf-8", newline="\n")
    (folder / "release.pub").write_bytes(PUBLIC)
    (folder / "stable.root.json").write_text(root_text("vision", "stable"), encoding="utf-8", newline="\n")
    path = folder / "mobpack.toml"
    path.write_text(PROJECT.format(keys=keys), encoding="utf-8", newline="\n")
    return config.load(path, targets=(), settings=())


def test_a_channel_needs_a_key_and_changes_no_other_package(tmp_path: Path) -> None:
    refuse_undelivered(project(tmp_path, ""), ("android",))
    with pytest.raises(ConfigError, match=r"package\.channel needs package\.trust"):
        refuse_undelivered(project(tmp_path, CHANNEL), ("android",))
    opened = project(tmp_path, 'trust = "release.pub"')
    assert delivered(package_of(opened), opened, [TYPED]) == package_of(opened)
    assert delivery_view(Package(name="vision", version="1.2.3", license="")) is None


def _of(signed: Json, *keys: EllipticCurvePrivateKey) -> str:
    return signed_by(signed, keys).decode()


ROOT = json.loads(root_text("vision", "stable"))["signed"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "No such file"),
        ("stable", "is not the root of a channel"),
        (_of({**ROOT, "_type": "snapshot", "meta": {}}, IN_USE), "is the snapshot of a channel"),
        (_of(ROOT, STRANGER), "is not the root of a channel"),
        (_of(ROOT), "is not the root of a channel"),
        (_of({**ROOT, "mobpack": {"package": "vision"}}, IN_USE), "does not say which package and channel"),
        (_of({**ROOT, "mobpack": {"package": "vision", "channel": "../a"}}, IN_USE), "does not say which package"),
        (root_text("audio", "stable"), "is the root of a channel of the package 'audio'"),
    ],
)
def test_a_channel_is_a_root_of_this_package_that_its_keys_have_signed(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    opened = project(tmp_path, f'trust = "release.pub"\n{CHANNEL}')
    root = tmp_path / "stable.root.json"
    root.unlink() if text is None else root.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(ConfigError, match=rf"package\.channel: .*{reason}"):
        delivered(package_of(opened), opened, [TYPED])


def test_a_target_that_cannot_update_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = project(tmp_path, f'trust = "release.pub"\n{CHANNEL}')
    monkeypatch.setattr(Android, "UPDATES", True)
    refuse_undelivered(opened, ("android",))
    monkeypatch.setattr(Android, "UPDATES", False)
    with pytest.raises(ConfigError, match="android cannot update models yet"):
        refuse_undelivered(opened, ("android",))


def test_code_and_channel_have_the_same_hash_of_an_api(tmp_path: Path) -> None:
    opened = project(tmp_path, f'trust = "release.pub"\n{CHANNEL}')
    package = delivered(package_of(opened), opened, [TYPED])
    manifest = json.loads(json.dumps({"models": [model_entry(TYPED.model)], "options": options_of(opened, ())}))
    name = TYPED.model.name
    expected = contract_hash(manifest["models"][0], manifest["options"]["contract"].get(name, {}))
    assert delivery_view(package) == DeliveryView(
        channel="stable",
        root=root_text("vision", "stable"),
        package="vision",
        version="1.2.3",
        number=(1 << 40) + (2 << 20) + 3,
        contracts=((name, expected),),
    )


def test_a_channel_takes_self_tests_and_settings_along(tmp_path: Path) -> None:
    dist, scratch = make_release(tmp_path / "dist", Release()), tmp_path / "scratch"
    scratch.mkdir()
    samples = b"inputs and outputs"
    weights, graph = b"weights", b"graph of weights"
    folder = PurePosixPath("assets/mobpack/vision")
    named = {"a.onnx": graph, "b.ort": weights, "classifier.golden.safetensors": samples}
    write_zip(dist / "android/vision-1.0.0.aar", {folder / name: content for name, content in named.items()})
    document = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    tolerance = {"rtol": 0.01, "atol": 0.0, "scale": 3.0, "mismatches": 0}
    document["compiled"][0]["settings"] = {"session.disable_prepacking": "1"}
    document["golden"] = [
        {
            "model": "classifier",
            "sha256": digest(samples),
            "for": [digest(weights)],
            "allowed": {digest(weights): {"scores": tolerance}},
        }
    ]
    (dist / "manifest.json").write_text(json.dumps(document), encoding="utf-8", newline="\n")
    (model,) = contents(dist, scratch).models
    found = {each.provider: each for each in model.files}
    assert [each.sha256 for each in found["cpu"].golden] == [digest(samples)]
    assert found["cpu"].allowed == (Allowed(output="scores", rtol=0.01, atol=0.0, scale=3.0, mismatches=0),)
    assert found["cpu"].settings == (Setting(key="session.disable_prepacking", value="1"),)
    assert (found["xnnpack"].golden, found["xnnpack"].allowed, found["xnnpack"].settings) == ((), (), ())
