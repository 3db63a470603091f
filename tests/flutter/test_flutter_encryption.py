"""In Dart: packages with encrypted models open them with the app's key, and say of everything else why they do not."""

import hashlib
from pathlib import Path

import pytest

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.signing.encryption import seal
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from tests.cases.encryption_cases import KEY, KEY_ID, VECTORS, contents
from tests.delivery_drivers.dart import program
from tests.toolchain import trusted_dart
from tests.toolchain.dart import dart
from tests.toolchain.trusted_dart import Facts

LARGE = 32 << 20


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    dart()
    folder = tmp_path_factory.mktemp("encryption")
    made, _ = contents(folder, Store(cache_folder() / "store"), "android")
    target, report = Android(providers=()), Report(parities=())
    built = target.built(target.view(made.package, made.plans, report), made.plans)
    view = Flutter().view(made.package, {"android": built}, report)
    app = program(trusted_dart.archive(view, folder), folder / "program", "encrypted.dart")
    own, changed, plain, large = (folder / name for name in ("own", "changed", "plain", "large"))
    file = trusted_dart.file_of_cpu(view)
    content = view.files[file.name].read_bytes()
    own.write_bytes(content)
    changed.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
    plain.write_bytes(hashlib.shake_256(b"weights").digest(LARGE))
    seal(plain, large, key=KEY, key_id=KEY_ID)
    arguments = (KEY.hex(), VECTORS, own, changed, large)
    return trusted_dart.ran(app, *arguments, mounts=(folder, VECTORS.parent))


def test_the_vectors_of_all_languages_are_read_and_refused(facts: Facts) -> None:
    found = facts["vectors"]
    assert found["files"] > 3
    assert found["refused"] > 15
    assert (found["wrong"], found["taken"]) == ([], [])


def test_an_encrypted_model_computes_what_the_readable_one_does(facts: Facts) -> None:
    assert facts["right"]["found"] == facts["own"]["found"] == "opened", facts
    assert facts["right"]["sum"] == facts["own"]["sum"] != 0
    assert facts["ids"]["found"] == [KEY_ID]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no keys", f"is encrypted with the key {KEY_ID}: pass LoadOptions(keys: ...), which has it"),
        ("another key", f"was encrypted with another key than the app's {KEY_ID}, or was changed"),
        ("a short key", f"the key {KEY_ID} has 16 bytes, not 32"),
        ("a key of zeros", f"the key {KEY_ID} is all zeros: nobody has set it"),
        ("no such key", f"the app has no key {KEY_ID} for "),
        ("changed", f"was encrypted with another key than the app's {KEY_ID}, or was changed"),
    ],
)
def test_a_key_that_is_missing_or_wrong_is_an_error_of_its_own(facts: Facts, name: str, words: str) -> None:
    assert facts[name]["found"] == "key", facts[name]
    assert words in facts[name]["words"]


def test_a_package_without_encryption_knows_nothing_of_it(tmp_path: Path) -> None:
    view = trusted_dart.view(tmp_path)
    rendered = Flutter().render(view)
    names = {path.name for path in (*rendered.texts, *rendered.files)}
    assert "trust.dart" in names
    assert not {"aes_gcm.dart", "decryption.dart", "updates.dart", "updater.dart"} & names
