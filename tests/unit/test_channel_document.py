"""The releases of a model in a channel: strict, canonical JSON, the hash of a contract, and the share of devices."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.errors import GateError
from packager.core.to_json import plain
from packager.core.values import Plan
from packager.distribution.channel.contracts import contract_hash
from packager.distribution.channel.document import (
    MAX_RELEASES_BYTES,
    Allowed,
    ChannelFile,
    Delta,
    DownloadConditions,
    ModelFile,
    ModelRelease,
    ModelReleases,
    Rollout,
    Setting,
    is_in_rollout,
    parsed_releases,
    salt_of,
)
from packager.distribution.release.manifest import contract_entry, tensor_entry
from packager.signing.statements import payload
from tests.cases.channel_cases import SETTINGS, model_entry
from tests.cases.differences_cases import CHANGED, TENSORS, TYPED
from tests.nights import examples

A, B = "a" * 64, "b" * 64
FILE = ChannelFile(name="a.ort", sha256=A, size_bytes=7, deltas=(Delta(source=B, sha256=B, size_bytes=3),))
MODEL_FILE = ModelFile(
    target="android",
    inside="",
    provider="cpu",
    chips=(),
    format="ort",
    runtime="1.29.0",
    runtime_range="",
    settings=(Setting(key="session.disable_prepacking", value="1"),),
    file=FILE,
    data=(),
    golden=(ChannelFile(name="a.golden.safetensors", sha256=B, size_bytes=9, deltas=()),),
    allowed=(Allowed(output="scores", rtol=0.001, atol=1e-06, scale=4.0, mismatches=0),),
)
RELEASE = ModelRelease(
    version="1.0.0",
    number=1 << 40,
    contract=A,
    min_app="",
    rollout=Rollout(percent=10, salt="salt"),
    conditions=DownloadConditions(wifi=True, charging=False, free_bytes=0),
    notes="Zürich",
    files=(MODEL_FILE,),
)
TEXT = payload(
    plain(ModelReleases(schema_version=1, package="vision", channel="stable", model="classifier", releases=(RELEASE,)))
)


def test_releases_are_read_as_they_were_written() -> None:
    assert payload(plain(parsed_releases(TEXT, "it"))) == TEXT


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TEXT)
    return found


def with_value(*path: str | int, value: object) -> bytes:
    document = read()
    place: Any = document
    for each in path[:-1]:
        place = place[each]
    place[path[-1]] = value
    return payload(document)


RELEASE_PATH = ("releases", 0)
FILE_PATH = (*RELEASE_PATH, "files", 0, "file")
ALLOWED_PATH = (*RELEASE_PATH, "files", 0, "allowed", 0)


def plain_file() -> dict[str, Any]:
    found: dict[str, Any] = read()["releases"][0]["files"][0]["file"]
    return found


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "not utf-8": b'{"a":"\xff"}',
    "deep": b"[" * 100_000,
    "deep inside": with_value("package", value="x").replace(b'"x"', b"[" * 50_000 + b"]" * 50_000),
    "huge": b" " * (MAX_RELEASES_BYTES + 1),
    "huge number": with_value(*RELEASE_PATH, "number", value=0).replace(b'"number":0', b'"number":' + b"9" * 10_000),
    "beyond a double": with_value(*RELEASE_PATH, "number", value=2**53),
    "negative": with_value(*RELEASE_PATH, "number", value=-1),
    "float": with_value(*RELEASE_PATH, "number", value=1.5),
    "text for a number": with_value(*RELEASE_PATH, "number", value="1"),
    "truth for a number": with_value(*RELEASE_PATH, "number", value=True),
    "null": with_value("package", value=None),
    "NaN": with_value(*RELEASE_PATH, "number", value=0).replace(b'"number":0', b'"number":NaN'),
    "list": b"[]",
    "list for an object": with_value(*RELEASE_PATH, value=[]),
    "object for a list": with_value("releases", value={}),
    "unknown key": with_value("more", value=1),
    "unknown key inside": with_value(*RELEASE_PATH, "more", value=1),
    "twice": TEXT.replace(b'"model":', b'"model":"a","model":', 1),
    "spaces": TEXT.replace(b'"model":', b'"model": ', 1),
    "another order": json.dumps(dict(reversed(read().items())), separators=(",", ":"), ensure_ascii=False).encode(),
    "path for a digest": with_value(*FILE_PATH, "sha256", value="../" * 21 + "a"),
    "path for a name": with_value(*FILE_PATH, "name", value="../../etc/passwd"),
    "absolute path": with_value(*FILE_PATH, "name", value="/etc/passwd"),
    "Windows' path": with_value(*FILE_PATH, "name", value="C:\\a"),
    "zero byte": with_value(*FILE_PATH, "name", value="a\0b"),
    "upper case": with_value(*FILE_PATH, "sha256", value="A" * 64),
    "line end": with_value(*FILE_PATH, "sha256", value=A + "\n"),
    "channel with a path": with_value("channel", value="../stable"),
    "101 percent": with_value(*RELEASE_PATH, "rollout", "percent", value=101),
    "version with a path": with_value(*RELEASE_PATH, "version", value="../1"),
    "a version twice": with_value("releases", value=read()["releases"] * 2),
    "delta from a path": with_value(*FILE_PATH, "deltas", 0, "source", value="x"),
    "no tolerance": with_value(*ALLOWED_PATH, "rtol", value="0.1"),
    "an infinite tolerance": with_value(*ALLOWED_PATH, "rtol", value=0).replace(b'"rtol":0', b'"rtol":1e999'),
    "a negative tolerance": with_value(*ALLOWED_PATH, "rtol", value=-0.5),
    "a tolerance of another form": TEXT.replace(b'"rtol":0.001', b'"rtol":1e-3', 1),
    "a self-test without tolerances": with_value(*RELEASE_PATH, "files", 0, "allowed", value=[]),
    "two self-tests": with_value(*RELEASE_PATH, "files", 0, "golden", value=[plain_file()] * 2),
    "a newer schema": with_value("schema-version", value=2),
    "schema 0": with_value("schema-version", value=0),
}


def test_hostile_releases_are_refused() -> None:
    for content in HOSTILE.values():
        with pytest.raises(GateError, match=r"releases\.json"):
            parsed_releases(content, "releases.json")


def test_a_missing_key_is_named() -> None:
    document = read()
    del document["releases"][0]["contract"]
    with pytest.raises(GateError, match=r"releases\[0\]\.contract is missing"):
        parsed_releases(payload(document), "it")


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, len(TEXT) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_gives_other_releases(index: int, change: int) -> None:
    content = bytearray(TEXT)
    content[index] ^= change
    try:
        found = parsed_releases(bytes(content), "it")
    except GateError:
        return
    assert payload(plain(found)) == bytes(content)


def test_a_larger_share_adds_devices_and_every_release_has_its_own() -> None:
    devices = [f"device-{number}" for number in range(4000)]
    shares = [{each for each in devices if is_in_rollout(Rollout(percent=p, salt="s"), each)} for p in (0, 10, 50, 100)]
    assert [len(each) for each in shares] == [0, pytest.approx(400, abs=60), pytest.approx(2000, abs=120), 4000]
    assert shares[1] < shares[2] < shares[3]
    # sha256("saltdevice") begins with 995008c1: 59.89 % of 2^32
    assert not is_in_rollout(Rollout(percent=59, salt="salt"), "device")
    assert is_in_rollout(Rollout(percent=60, salt="salt"), "device")
    salts = {salt_of({"package": "p", "channel": "c", "model": "m", "version": each}) for each in ("1.0.0", "1.0.1")}
    assert len(salts) == 2


Edit = Callable[[dict[str, Any], dict[str, Any]], object]
OTHER_API: dict[str, Edit] = {
    "model": lambda model, _: model.update(name="other"),
    "label": lambda model, _: model["contract"]["outputs"][0]["labels"].__setitem__(1, "hound"),
    "order of labels": lambda model, _: model["contract"]["outputs"][0]["labels"].reverse(),
    "input": lambda model, _: model["inputs"][0].update(name="image"),
    "identifier": lambda model, _: model["inputs"][0].update(identifier="image"),
    "shape": lambda model, _: model["inputs"][0].update(shape=[224, 224, 3]),
    "element": lambda model, _: model["inputs"][0].update(element="float"),
    "method": lambda model, _: model["contract"].update(method="embed"),
    "another output": lambda model, _: model["outputs"].append(model["outputs"][0]),
    "meaning of scores": lambda _, options: options["outputs"]["logits"].update(activation="none"),
    "no contract": lambda model, _: model.pop("contract"),
}
SAME_API: dict[str, Edit] = {
    "weights": lambda model, _: model.update(sha256="b" * 64),
    "size": lambda model, _: model.update({"size-bytes": 1, "parameters": 3}),
    "mean of pixels, in the graph": lambda _, options: options["inputs"]["image"].update(mean=[0.0]),
}


def hashed(edit: Edit | None = None) -> str:
    model, options = model_entry(), copy.deepcopy(dict(SETTINGS))
    if edit:
        edit(model, options)
    return contract_hash(model, options)


def test_another_api_has_another_contract_whose_hash_stays() -> None:
    for edit in OTHER_API.values():
        assert hashed(edit) != hashed()
    for changed in CHANGED:
        before = {"given": TENSORS, "typed": TYPED}[changed.of]
        if not (changed.kotlin and changed.swift and changed.typescript):
            assert hash_of(changed.plan) != hash_of(before)
        if changed.plan.model.name == "unchanged":
            assert hash_of(changed.plan) == hash_of(before)
    # Apps have it in their code: another value would end the updates of all of them.
    assert hashed() == "5214a64ebe3af8a4b0c67c6e97e5590e9c1ee47fa447199ce0f91620ffd66828"


@pytest.mark.parametrize("edit", SAME_API.values(), ids=SAME_API.keys())
def test_the_same_api_has_the_same_contract(edit: Edit) -> None:
    assert hashed(edit) == hashed()


def hash_of(plan: Plan) -> str:
    signature, contract = plan.model.signature, plan.model.contract
    entry = {
        "name": "model",
        "inputs": [tensor_entry(each) for each in signature.inputs],
        "outputs": [tensor_entry(each) for each in signature.outputs],
        **({"contract": contract_entry(contract)} if contract else {}),
    }
    return contract_hash(entry, {})
