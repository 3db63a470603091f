"""In Swift: packages with encrypted models open them with the app's key, and say of everything else why they do not."""

from pathlib import Path

import pytest

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases.encryption_cases import CHANGES, KEY_ID, contents
from tests.nights import AT_NIGHT
from tests.swift.test_swift_apple import compile_module
from tests.toolchain import apple, encrypted_swift, trusted
from tests.toolchain.swift import swift
from tests.toolchain.trusted_swift import Facts

NO_MODELS = ("half a header", "nothing")


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    swift()
    return encrypted_swift.answers(tmp_path_factory.mktemp("encryption"))


@pytest.mark.parametrize("name", ["bundled", "folder", "pack", "right"])
def test_an_encrypted_model_computes_what_the_readable_one_does(facts: Facts, name: str) -> None:
    """Those of the package are a graph and a file with its weights, both of them encrypted."""
    assert facts[name]["found"] == facts["plain"]["found"] == "opened", facts[name]
    assert facts[name]["sum"] == pytest.approx(facts["plain"]["sum"], rel=1e-5)
    assert facts[name]["file"].endswith(".onnx") == (name != "right")


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in NO_MODELS])
def test_a_changed_file_is_not_opened(facts: Facts, name: str) -> None:
    assert facts[name]["found"] in ("key", "badModel"), facts[name]


@pytest.mark.parametrize("name", NO_MODELS)
def test_what_is_no_encrypted_file_is_no_model_either(facts: Facts, name: str) -> None:
    assert facts[name]["found"] != "opened"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no keys", f"is encrypted with the key {KEY_ID}: pass Options(keys:), which has it"),
        ("another key", f"was encrypted with another key than the app's {KEY_ID}, or was changed"),
        ("a short key", f"the key {KEY_ID} has 16 bytes, not 32"),
        ("a key of zeros", f"the key {KEY_ID} is all zeros: nobody has set it"),
        ("no such key", f"the app has no key {KEY_ID} for "),
    ],
)
def test_a_key_that_is_missing_or_wrong_is_an_error_of_its_own(facts: Facts, name: str, words: str) -> None:
    assert facts[name]["found"] == "key"
    assert words in facts[name]["words"]


def test_the_vectors_of_all_languages_are_opened_and_refused(facts: Facts) -> None:
    found = facts["vectors"]
    assert (found["opened"], found["refused"]) == facts["counts"]["found"]
    assert found["wrong"] == []


def test_what_was_decrypted_goes_when_memory_is_short(facts: Facts) -> None:
    """The next run asks for the key again, of the graph and of the weights."""
    assert facts["released"]["asked"] == facts["released"]["asked at first"] == 2


def test_a_pack_that_is_not_there_says_so(facts: Facts) -> None:
    assert facts["no pack"]["found"] == "missing"
    words = "the pack with mobpack/models (no key here) is missing, or cannot be read or written"
    assert facts["no pack"]["words"] == words


@pytest.mark.parametrize("triple", [apple.IOS, "arm64-apple-macos12.0"])
def test_it_compiles_for_apples_systems(triple: str, tmp_path: Path) -> None:
    """Against CryptoKit's names, types and availability as Apple documents them."""
    swift()
    store, target = Store(cache_folder() / "store"), Ios(providers=("coreml", "xnnpack"))
    made, _ = contents(tmp_path, store, "ios")
    view = target.view(made.package, made.plans, made.report)
    write_sources(target.render(view), tmp_path / "package")
    package = tmp_path / "package"
    done = compile_module(package, tmp_path, triple=triple, is_optimized=AT_NIGHT, is_checked_alone=not AT_NIGHT)
    assert done.returncode == 0, done.output


def test_a_package_without_encryption_knows_nothing_of_it(tmp_path: Path) -> None:
    plan = trusted.plan(tmp_path, Store(cache_folder() / "store"), "ios")
    target = Ios(providers=())
    view = target.view(Package(name="models", version="1.2.3", license=""), (plan,), Report(parities=()))
    texts = target.render(view).texts
    assert not [path for path, text in texts.items() if "decrypt" in text.lower() or "SealedFile" in text]
