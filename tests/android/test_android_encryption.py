"""Android: packages with encrypted models open them with the app's key, and say of everything else why they do not."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.errors import ModelError
from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.cases.archives import read_zip
from tests.cases.encryption_cases import CHANGES, KEY, KEY_ID, PACKAGE, contents, write_changed, write_vectors
from tests.toolchain import jvm, trusted
from tests.toolchain.device import library, write_apk


@pytest.fixture(scope="module")
def facts(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("encryption")
    store, target = Store(cache_folder() / "store"), Android(providers=())
    made, plain = contents(folder, store, "android")
    view = target.view(made.package, made.plans, made.report)
    aar = target.assemble(view, target.render(view), store)[0].path
    [model] = [content for name, content in read_zip(aar).items() if name.name == "scorer.ort.tflite"]
    assert model.startswith(b"MPCRYPT\x02")
    assert plain.cpu.path.read_bytes()[:200] not in model
    for name in ("changed", "by digest"):
        (folder / name).mkdir()
    write_changed(plain.cpu.path, folder / "changed")
    shutil.copy(plain.cpu.path, folder / "changed" / "plain")
    shutil.copy(made.plans[0].cpu.path, folder / "by digest" / made.plans[0].cpu.sha256)
    (folder / "key").write_bytes(KEY)
    counts = write_vectors(folder / "vectors")
    app = library(aar, folder, apps="encryption/*", has_task=False)
    found = jvm.run(
        "apps.EncryptedKt",
        {
            "apk": write_apk(aar, folder / "base.apk", is_stored=True),
            "data": folder / "data",
            "files": folder / "changed",
            "folder": folder / "by digest",
            "key": folder / "key",
            "vectors": folder / "vectors",
        },
        classpath=[app.apps, app.classes],
    ).facts
    return {**found, "counts": "opened {} refused {}".format(*counts), "size": str(plain.cpu.path.stat().st_size)}


def test_the_vectors_of_all_languages_are_opened_and_refused(facts: Mapping[str, str]) -> None:
    assert (facts["vectors"], facts["wrong vectors"]) == (facts["counts"], "")


@pytest.mark.parametrize("name", ["bundled", "bundled again", "folder", "right"])
def test_an_encrypted_model_computes_what_the_readable_one_does(facts: Mapping[str, str], name: str) -> None:
    assert facts[name] == facts["plain"], facts.get(f"words of {name}")
    assert facts["plain"].startswith("opened ")
    assert facts["asked"] == KEY_ID


def test_a_decrypted_model_lies_outside_of_javas_heap_and_is_freed_when_memory_is_short(
    facts: Mapping[str, str],
) -> None:
    assert (facts["memory.open"], facts["memory.freed"], facts["memory.closed"]) == (facts["size"], "0", "0")
    assert facts["memory.again"] == facts["plain"]
    assert facts["asked for one that was freed"] == "1", "the app may not be able to tell its key then"


@pytest.mark.parametrize(
    ("name", "thrown"),
    [
        ("without memory", "ModelOutOfMemoryException"),
        ("without Java's memory", "ModelOutOfMemoryException"),
        ("without code", "ModelException"),
    ],
)
def test_memory_or_code_that_is_missing_is_a_model_exception(facts: Mapping[str, str], name: str, thrown: str) -> None:
    assert facts[name] == facts[f"told of {name}"] == thrown
    assert facts["memory.refused"] == "0"


@pytest.mark.parametrize(
    "name", [name for name in CHANGES if name not in ("half a header", "nothing", "another version")]
)
def test_a_changed_file_is_not_opened(facts: Mapping[str, str], name: str) -> None:
    assert facts[name] in ("ModelKeyException", "ModelCorruptedException"), facts.get(f"words of {name}")
    assert facts[f"told of {name}"] == facts[name], "the observer hears of it"


@pytest.mark.parametrize("name", ["half a header", "nothing", "another version"])
def test_what_is_no_encrypted_file_is_no_model_either(facts: Mapping[str, str], name: str) -> None:
    assert not facts[name].startswith("opened")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no keys", f"is encrypted with the key {KEY_ID}: pass Options(keys = ...), which has it"),
        ("another key", f"was encrypted with another key than the app's {KEY_ID}, or was changed"),
        ("a short key", f"the key {KEY_ID} has 16 bytes, not 32"),
        ("a key of zeros", f"the key {KEY_ID} is all zeros: nobody has set it"),
        ("no such key", f"the app has no key {KEY_ID} for mobpack/models/scorer.ort.tflite: no key here"),
    ],
)
def test_a_key_that_is_missing_or_wrong_is_an_error_of_its_own(facts: Mapping[str, str], name: str, words: str) -> None:
    assert facts[name] == "ModelKeyException"
    assert words in facts[f"words of {name}"]


def test_weights_in_a_file_of_their_own_are_refused(tmp_path: Path) -> None:
    plan = trusted.plan(tmp_path, Store(cache_folder() / "store"), "android", "xnnpack")
    with pytest.raises(ModelError, match="weights in other files, which cannot be decrypted") as refused:
        Android(providers=("xnnpack",)).view(PACKAGE, (plan,), Report(parities=()))
    assert 'format = "ort"' in refused.value.hint


def test_a_package_without_encryption_knows_nothing_of_it(tmp_path: Path) -> None:
    plan = trusted.plan(tmp_path, Store(cache_folder() / "store"), "android")
    target = Android(providers=())
    view = target.view(Package(name="models", version="1.2.3", license=""), (plan,), Report(parities=()))
    texts = target.render(view).texts
    assert "Decryption.kt" not in {path.name for path in texts}
    assert not [path for path, text in texts.items() if "decrypt" in text.lower()]


def test_a_signed_package_verifies_before_it_decrypts(tmp_path: Path) -> None:
    plan = trusted.plan(tmp_path, Store(cache_folder() / "store"), "android", "xnnpack")
    plan, target = replace(plan, choices=plan.choices[-1:]), Android(providers=())
    view = target.view(replace(trusted.PACKAGE, encryption=KEY_ID), (plan,), Report(parities=()))
    [code] = [text for path, text in target.render(view).texts.items() if path.name == "Source.kt"]
    assert "Trusted.of(files(context, model, options), model, context, options).decrypted(options)" in code
