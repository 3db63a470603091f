"""Packs in Google's own bundletool 1.17.2: app bundles are built, checked and cut for devices."""

import json
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from packager.core.errors import ToolError
from packager.distribution.packs.groups import parse, tier_config
from packager.distribution.packs.packing import PackRequest, pack
from tests.cases.pack_cases import CHIP, CPU, GOLDEN, GRAPH, WEIGHTS, released, sha256
from tests.toolchain import apptools

APP = "com.example.app"
DIST = "{http://schemas.android.com/apk/distribution}"
COMMON = {f"assets/mobpack/demo/pack/{sha256(each)}" for each in (CPU, GOLDEN)}
ONLY_CHIP = {f"assets/mobpack/demo/group/{sha256(CHIP)}"}
ONLY_LARGE = {f"assets/mobpack/demo/group/{sha256(each)}" for each in (GRAPH, WEIGHTS)}
NOTHING = {"assets/mobpack/demo/group/none"}
CONFIG = {
    "optimizations": {
        "splits_config": {
            "split_dimension": [{"value": "DEVICE_TIER", "suffix_stripping": {"enabled": True, "default_suffix": "0"}}]
        }
    }
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packs")


@pytest.fixture(scope="module")
def base(work: Path) -> Path:
    return apptools.base_module(APP, work)


@pytest.fixture(scope="module")
def tiered(work: Path, base: Path) -> Path:
    """APKs of an app with an install-time AI pack whose files differ by tier."""
    request = PackRequest(
        kind="ai-pack",
        delivery="install-time",
        app=APP,
        targeting="tiers",
        groups=("large:ram-min=8GB,provider=webgpu",),
    )
    pack(released(work / "tiered"), work / "packs", request)
    config = work / "config.json"
    config.write_text(json.dumps(CONFIG))
    aab = apptools.bundle_modules([base, work / "packs/demo.zip"], work / "tiered.aab", config=config)
    apptools.validate(aab)
    return apptools.build_apks(aab, work / "tiered.apks")


@pytest.mark.parametrize("kind", ["ai-pack", "asset-pack"])
@pytest.mark.parametrize("delivery", ["install-time", "fast-follow", "on-demand"])
def test_a_bundle_with_the_pack_is_valid_and_says_how_it_is_delivered(
    kind: str, delivery: str, work: Path, base: Path, tmp_path: Path
) -> None:
    release = released(tmp_path / "dist", (("webgpu", GRAPH, ()), ("cpu", CPU, ())))
    pack(release, tmp_path / "packs", PackRequest(kind=kind, delivery=delivery, app=APP, name="models"))
    aab = apptools.bundle_modules([base, tmp_path / "packs/models.zip"], tmp_path / "app.aab")
    apptools.validate(aab)
    manifest = ElementTree.fromstring(apptools.dump_manifest(aab, "models"))
    assert manifest.attrib == {"package": APP, "split": "models"}
    (module,) = manifest
    assert module.get(f"{DIST}type") == kind
    assert [each.tag for each in module.find(f"{DIST}delivery") or ()] == [f"{DIST}{delivery}"]
    with zipfile.ZipFile(aab) as opened:
        assert opened.read(f"models/assets/mobpack/demo/pack/{sha256(CPU)}") == CPU


@pytest.mark.parametrize(("tier", "own"), [(2, ONLY_CHIP), (1, ONLY_LARGE), (0, NOTHING)])
def test_each_device_gets_the_files_of_its_tier_and_those_of_all(
    tier: int, own: set[str], tiered: Path, tmp_path: Path
) -> None:
    device = device_of(tier, tmp_path)
    apks = apptools.extract_apks(tiered, device, tmp_path / "apks", modules="_ALL_")
    assert contents(apks) == COMMON | own


def test_a_device_downloads_less_than_all(tiered: Path, tmp_path: Path) -> None:
    sizes = [apptools.download_bytes(tiered, device_of(tier, tmp_path), modules="demo") for tier in (0, 2, 1)]
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] < sizes[1] < sizes[2]


def test_bundletool_finds_the_tier_of_a_device_by_its_memory(tmp_path: Path) -> None:
    """Its version 1.17.2 knows no chip of a device: it reads them, and lets them count for nothing."""
    groups = [
        parse(text, ["webgpu"]) for text in ("large:ram-min=8GB,provider=webgpu", "middle:ram-min=4GB,ram-max=6GB")
    ]
    config, device = tmp_path / "config.json", tmp_path / "device.json"
    config.write_text(tier_config(groups))
    found = {}
    for ram in (8 * 10**9, 8 * 10**9 - 1, 6 * 10**9, 6 * 10**9 - 1, 4 * 10**9, 4 * 10**9 - 1):
        device.write_text(json.dumps({"ram": str(ram)}))
        found[ram] = apptools.device_groups(config, device).split("\n")[0].removesuffix(" (default)")
    assert list(found.values()) == ["Tier: 2", "Tier: 0", "Tier: 0", "Tier: 1", "Tier: 1", "Tier: 0"]


def test_bundletool_reads_the_chips_of_groups(tmp_path: Path) -> None:
    config, device = tmp_path / "config.json", tmp_path / "device.json"
    device.write_text('{"ram": "1"}')
    text = tier_config([parse("chip:soc=QTI/SM8650", [])])
    config.write_text(text)
    assert "chip" in apptools.device_groups(config, device)
    config.write_text(text.replace("systemOnChips", "chips"))
    with pytest.raises(ToolError, match="Cannot find field: chips"):
        apptools.device_groups(config, device)


def device_of(tier: int, folder: Path) -> Path:
    """A phone that Play has put into a tier."""
    spec = {"supportedAbis": ["arm64-v8a"], "supportedLocales": ["en"], "screenDensity": 420, "sdkVersion": 34}
    path = folder / f"device-{tier}.json"
    path.write_text(json.dumps({**spec, "deviceTier": tier}))
    return path


def contents(apks: list[Path]) -> set[str]:
    found: set[str] = set()
    for path in apks:
        with zipfile.ZipFile(path) as apk:
            found |= {each for each in apk.namelist() if each.startswith("assets/mobpack/")}
    return found


def test_models_of_an_install_time_pack_are_stored_so_that_apps_can_map_them(tiered: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tiered) as archive:
        names = [name for name in archive.namelist() if "demo" in name]
        archive.extractall(tmp_path, names)
    assert names
    for name in names:
        with zipfile.ZipFile(tmp_path / name) as apk:
            packed = [each for each in apk.infolist() if each.filename.startswith("assets/mobpack/")]
            assert {each.compress_type for each in packed} <= {zipfile.ZIP_STORED}


def test_folders_of_device_groups_need_a_newer_bundletool(base: Path, tmp_path: Path) -> None:
    """Google names 1.18 as the first that knows them; when this fails, they can be tested as tiers are."""
    pack(released(tmp_path / "dist"), tmp_path / "packs", PackRequest(kind="ai-pack", delivery="on-demand", app=APP))
    with pytest.raises(ToolError, match="unsupported key 'group'"):
        apptools.bundle_modules([base, tmp_path / "packs/demo.zip"], tmp_path / "app.aab")
