"""Models of the Android library that come from packs of Google Play, with ONNX Runtime's libraries."""

import json
import shutil
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from packager.distribution.packs.packing import PackRequest, pack
from packager.files.hashes import sha256_of
from tests.toolchain.device import Device, Library, device

MODELS = "assets/mobpack/models/"
ORT = "mobpack/models/orientation.ort.tflite"


@pytest.fixture(scope="module")
def packed(built_aar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assets of the pack's module: files that only XNNPACK opens are for devices with much memory."""
    release, out = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("packs")
    shutil.copyfile(built_aar, release / "models.aar")
    with zipfile.ZipFile(built_aar) as aar:
        names = [name for name in aar.namelist() if name.startswith(MODELS) and not name.endswith("/")]
        digests = {name.removeprefix(MODELS): sha256(aar.read(name)).hexdigest() for name in names}
    choices: list[dict[str, object]] = [
        {
            "provider": "xnnpack" if "unfused" in name or name.endswith(".weights.tflite") else "cpu",
            "sha256": digest,
            "chips": [],
        }
        for name, digest in digests.items()
        if ".golden." not in name
    ]
    archive = {"path": "models.aar", "target": "android", "kind": "aar", "sha256": sha256_of(built_aar)}
    manifest = {
        "package": {"name": "models", "version": "1.0.0"},
        "artifacts": [archive],
        "compiled": [],
        "plans": [{"model": "all", "target": "android", "inside": "", "choices": choices}],
    }
    (release / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    groups = ("large:ram-min=8GB,provider=xnnpack",)
    pack(release, out, PackRequest(kind="ai-pack", delivery="on-demand", groups=groups))
    return out / "models/src/main/assets"


def delivered(packed: Path, folder: Path, *, group: str = "") -> Path:
    """The assets as Play leaves them on a device of `group`, or of none."""
    for path in packed.rglob("*"):
        names = list(path.relative_to(packed).parts)
        suffixes = [name.partition("#group_")[2] for name in names if "#group_" in name]
        if path.is_file() and suffixes in ([], [group]):
            place = folder.joinpath(*(name.partition("#")[0] for name in names))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return folder


def load(phone: Device, source: str, at: object = "", providers: str = "CPU") -> Mapping[str, str]:
    return phone.run("Sources", do="load", providers=providers, source=source, at=at).facts


@pytest.fixture
def phone(models_library: Library, tmp_path: Path) -> Device:
    (tmp_path / "phone").mkdir()
    return device(models_library, tmp_path / "phone")


@pytest.fixture(scope="module")
def bundled(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return load(device(models_library, tmp_path_factory.mktemp("bundled")), "bundled")


def test_a_pack_that_play_delivered_computes_the_same(
    phone: Device, packed: Path, bundled: Mapping[str, str], tmp_path: Path
) -> None:
    seen = load(phone, "pack", delivered(packed, tmp_path / "assets"))
    assert (seen["load.thrown"], seen["asset"], seen["answer"]) == ("null", ORT, bundled["answer"])
    assert seen["self-test"].startswith("true ")


def test_a_device_without_a_providers_file_goes_on_with_the_next(phone: Device, packed: Path, tmp_path: Path) -> None:
    small = load(phone, "pack", delivered(packed, tmp_path / "small"), providers="XNNPACK")
    large = load(phone, "pack", delivered(packed, tmp_path / "large", group="large"), providers="XNNPACK")
    assert (small["load.thrown"], small["provider"]) == ("null", "CPU")
    assert small["fallbacks"] == "XNNPACK"
    assert (large["load.thrown"], large["provider"]) == ("null", "XNNPACK")
    assert large["asset"] != small["asset"] == ORT


def test_a_pack_that_was_not_fetched_says_so(phone: Device) -> None:
    seen = load(phone, "pack")
    assert seen["load.thrown"] == "com.example.models.ModelException"
    assert seen["load.message"] == "the pack is not on the device: let the app's store fetch it first"


def test_a_pack_of_another_release_is_refused(phone: Device, tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    seen = load(phone, "pack", tmp_path / "assets")
    assert seen["load.thrown"] == "com.example.models.ModelException"
    assert f"{ORT} is not in the pack at {tmp_path / 'assets'}, where it is called " in seen["load.message"]


def test_a_damaged_file_of_a_pack_is_refused(phone: Device, packed: Path, tmp_path: Path, built_aar: Path) -> None:
    root = delivered(packed, tmp_path / "assets")
    with zipfile.ZipFile(built_aar) as aar:
        content = aar.read(f"assets/{ORT}")
    file = root / "mobpack/models/pack" / sha256(content).hexdigest()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert load(phone, "pack", root)["load.thrown"] == "com.example.models.ModelCorruptedException"


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "compressed"])
def test_a_pack_that_was_installed_with_the_app_is_among_its_assets(
    is_stored: bool, phone: Device, packed: Path, bundled: Mapping[str, str], tmp_path: Path
) -> None:
    """Without the models of the library: an app with a pack leaves them out."""
    root = delivered(packed, tmp_path / "assets", group="large")
    with zipfile.ZipFile(phone.apk, "w") as apk:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(f"assets/{path.relative_to(root).as_posix()}")
                entry.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
                if is_stored:
                    start = apk.fp.tell() + 30 + len(entry.filename) if apk.fp else 0
                    entry.extra = b"\0" * (-start % 4 + 4)
                apk.writestr(entry, path.read_bytes())
    assert load(phone, "bundled")["load.thrown"] != "null"
    seen = load(phone, "installed pack")
    assert (seen["load.thrown"], seen["asset"], seen["answer"]) == ("null", ORT, bundled["answer"])
    copies = [path.name for path in phone.kept.rglob("*") if len(path.name) == 64]
    assert bool(copies) == (not is_stored)
    assert load(phone, "installed pack")["answer"] == bundled["answer"]
    other = load(phone, "installed pack", providers="XNNPACK")
    assert (other["load.thrown"], other["provider"]) == ("null", "XNNPACK")
