"""Android: packages with trusted keys open what was signed, and say of everything else why they do not."""

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets import signed_list
from packager.targets.android import Android
from tests.toolchain import jvm, trusted
from tests.toolchain.device import library, write_apk
from tests.trust_vectors import OPENED, SWAPPED, VECTORS

pytestmark = [pytest.mark.by_content, pytest.mark.kotlin, pytest.mark.android]

FOLDER = "assets/mobpack/models/"
CPU_FILE, GRAPH, WEIGHTS = "scorer.ort.tflite", "scorer-plain.onnx.tflite", "scorer-plain/weights.tflite"
DAMAGED = "damaged"
"""name of an app that is signed, and has another byte in the CPU's file"""


@pytest.fixture(scope="module")
def facts(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("trust")
    store = Store(cache_folder() / "store")
    target = Android(providers=("xnnpack",))
    view = target.view(trusted.PACKAGE, (trusted.plan(folder, store, "android", "xnnpack"),), Report(parities=()))
    aar = target.assemble(view, target.render(view), store)[0].path
    made = library(aar, folder, apps="trust/*", has_task=False)
    files = {asset.path.removeprefix("mobpack/models/"): asset.sha256 for asset in view.assets}
    apps = folder / "apps"
    for number, vector in enumerate(VECTORS):
        place = apps / f"{number:02}"
        write_apk(
            with_list(aar, folder / "changed.aar", vector.text(files, trusted.PACKAGE)),
            installed(place),
            is_stored=True,
        )
    place = apps / DAMAGED
    write_apk(
        with_list(aar, folder / "changed.aar", VECTORS[0].text(files, trusted.PACKAGE), other=CPU_FILE),
        installed(place),
        is_stored=True,
    )
    own, stranger, by_digest = folder / "own.ort", folder / "stranger.ort", folder / "by digest"
    shutil.copy(view.models[0].files[-1].asset.file, own)
    stranger.write_bytes(own.read_bytes() + b"\0")
    by_digest.mkdir()
    shutil.copy(own, by_digest / files[CPU_FILE])
    return jvm.run(
        "apps.TrustVectorsKt",
        {"files": apps, "own": own, "stranger": stranger, "folder": by_digest},
        classpath=[made.apps, made.classes],
    ).facts


def installed(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder / "base.apk"


def with_list(aar: Path, changed: Path, text: str | None, *, other: str = "") -> Path:
    """The library with another list of its files, or none, and another last byte in the file `other`."""
    with zipfile.ZipFile(aar) as before, zipfile.ZipFile(changed, "w") as after:
        for entry in before.infolist():
            content = before.read(entry)
            if entry.filename == FOLDER + other:
                content = content[:-1] + bytes([content[-1] ^ 1])
            if entry.filename != FOLDER + signed_list.NAME:
                after.writestr(entry, content)
        if text is not None:
            after.writestr(FOLDER + signed_list.NAME, text)
    return changed


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: Mapping[str, str], number: int) -> None:
    expected = VECTORS[number].expected
    for provider in ("CPU", "XNNPACK"):
        case = f"{number:02} {provider}"
        if expected == OPENED:
            assert facts[case] == f"opened by {provider}", facts.get(f"words of {case}")
            continue
        assert facts[case].lower().replace("_", "-") == expected, facts.get(f"words of {case}")
        assert facts[f"mapped by {case}"] == "", "no file of the model is touched"
        assert facts[f"told of {case}"] == "ModelUntrustedException", "the observer hears of it"


def test_a_signed_file_with_another_byte_is_not_opened(facts: Mapping[str, str]) -> None:
    assert facts[f"{DAMAGED} CPU"] == "ModelCorruptedException"
    assert facts[f"{DAMAGED} XNNPACK"] == "opened by XNNPACK"


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: Mapping[str, str]) -> None:
    assert facts["own"] == "opened by CPU"
    assert facts["own stranger"].lower() == SWAPPED
    assert facts["folder"] == "opened by CPU"


def test_words_say_what_to_do(facts: Mapping[str, str]) -> None:
    words = {vector.name: facts.get(f"words of {number:02} CPU", "") for number, vector in enumerate(VECTORS)}
    assert "Run `mobpack sign`" in words["no list"]
    assert "Run `mobpack sign`" in words["no signature"]
    assert "sign with the private key of [package] trust" in words["a stranger's key"]
    assert "release 1.2.2, which is older" in words["an older release"]
    assert "package other, not of models" in words["another package"]
