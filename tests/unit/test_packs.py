"""`mobpack pack`: modules for Google Play and packs for Apple, with files by device."""

import json
import plistlib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from packager.cli.pack import DELIVERIES, KINDS
from packager.cli.pack import pack as command
from packager.core.errors import ConfigError
from packager.distribution.packs import apple, packing
from packager.distribution.packs.groups import Chip, DeviceGroup, parse, targeting_config, tier_config
from packager.distribution.packs.packing import Pack, PackRequest, pack
from tests.cases.pack_cases import CHIP, CONTENTS, CPU, GOLDEN, GRAPH, WEIGHTS, released, sha256

CONFIG = "{http://schemas.android.com/apk/config}"
ROOT = "demo/src/main/assets/mobpack/demo"
EVERYONE = {sha256(each) for each in (CPU, GRAPH, WEIGHTS, GOLDEN)}


def made(tmp_path: Path, kind: str = "ai-pack", **settings: object) -> Pack:
    request = PackRequest(kind=kind, **{"delivery": "on-demand", **settings})  # type: ignore[arg-type]
    return pack(released(tmp_path / "dist"), tmp_path / "packs", request)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_file_of_a_chip_goes_to_devices_with_it_alone(tmp_path: Path) -> None:
    made(tmp_path)
    root = tmp_path / "packs" / ROOT
    assert names(root) == {"pack", "group#group_soc_sm8650"}
    assert names(root / "pack") == EVERYONE
    assert (root / "group#group_soc_sm8650" / sha256(CHIP)).read_bytes() == CHIP
    [group] = ElementTree.parse(tmp_path / "packs" / "device_targeting_config.xml").getroot()
    assert group.get("name") == "soc_sm8650"
    chips = [dict(chip.attrib) for chip in group.iter(f"{CONFIG}system-on-chip")]
    assert chips == [{"manufacturer": maker, "model": "SM8650"} for maker in ("QTI", "Qualcomm")]


def test_a_provider_that_groups_name_is_for_these_alone_with_its_weights(tmp_path: Path) -> None:
    made(tmp_path, groups=("large:ram-min=8GB,provider=webgpu",))
    root = tmp_path / "packs" / ROOT
    assert names(root / "pack") == {sha256(CPU), sha256(GOLDEN)}
    assert names(root / "group#group_large") == {sha256(GRAPH), sha256(WEIGHTS)}
    assert names(root / "group#group_soc_sm8650") == {sha256(CHIP)}


def test_a_file_that_the_cpu_opens_goes_to_all(tmp_path: Path) -> None:
    choices = (("webgpu", CPU, ()), ("webgpu", GRAPH, ()), ("cpu", CPU, ()))
    release = released(tmp_path / "dist", choices)
    pack(
        release,
        tmp_path / "packs",
        PackRequest(kind="ai-pack", delivery="on-demand", groups=("a:ram-min=1GB,provider=webgpu",)),
    )
    assert sha256(CPU) in names(tmp_path / "packs" / ROOT / "pack")
    assert names(tmp_path / "packs" / ROOT / "group#group_a") == {sha256(GRAPH), sha256(WEIGHTS)}


def test_a_group_that_names_the_chip_gets_its_file(tmp_path: Path) -> None:
    made(tmp_path, groups=("flagship:soc=QTI/SM8650",))
    assert names(tmp_path / "packs" / ROOT) == {"pack", "group#group_flagship"}
    assert names(tmp_path / "packs" / ROOT / "group#group_flagship") == {sha256(CHIP)}


@pytest.mark.parametrize(
    ("kind", "plugin", "block"), [("ai-pack", "ai-pack", "aiPack"), ("asset-pack", "asset-pack", "assetPack")]
)
def test_the_build_script_is_that_of_the_kind(kind: str, plugin: str, block: str, tmp_path: Path) -> None:
    made(tmp_path, kind, delivery="fast-follow", name="models")
    assert (tmp_path / "packs/models/build.gradle.kts").read_text() == (
        f'plugins {{\n    id("com.android.{plugin}")\n}}\n\n{block} {{\n    packName.set("models")\n'
        '    dynamicDelivery {\n        deliveryType.set("fast-follow")\n    }\n}\n'
    )


def test_tiers_count_down_from_the_first_group_and_each_has_a_file(tmp_path: Path) -> None:
    made(tmp_path, targeting="tiers", groups=("large:ram-min=8GB,provider=webgpu",))
    root = tmp_path / "packs" / ROOT
    assert names(root) == {"pack", "group#tier_0", "group#tier_1", "group#tier_2"}
    assert names(root / "group#tier_2") == {sha256(CHIP)}
    assert names(root / "group#tier_1") == {sha256(GRAPH), sha256(WEIGHTS)}
    assert names(root / "group#tier_0") == {"none"}
    config = json.loads((tmp_path / "packs/device_tier_config.json").read_text())
    assert config["deviceTierSet"]["deviceTiers"] == [
        {"level": 1, "deviceGroupNames": ["large"]},
        {"level": 2, "deviceGroupNames": ["soc_sm8650"]},
    ]
    assert not (tmp_path / "packs/device_targeting_config.xml").exists()


def test_most_bytes_is_what_the_largest_group_gets(tmp_path: Path) -> None:
    found = made(tmp_path, groups=("large:ram-min=8GB,provider=webgpu",))
    assert found.most_bytes == len(CPU) + len(GOLDEN) + len(GRAPH) + len(WEIGHTS)


def test_the_same_release_gives_the_same_bytes(tmp_path: Path) -> None:
    release, request = (
        released(tmp_path / "dist"),
        PackRequest(kind="ai-pack", delivery="on-demand", app="com.example.app"),
    )
    for name in ("one", "two"):
        pack(release, tmp_path / name, request)
    one, two = (
        {p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()}
        for f in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


def test_a_pack_replaces_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    request = PackRequest(kind="ai-pack", delivery="on-demand", name="first")
    release = released(tmp_path / "dist")
    pack(release, tmp_path / "packs", request)
    pack(release, tmp_path / "packs", PackRequest(kind="ai-pack", delivery="on-demand", name="second"))
    assert "second" in names(tmp_path / "packs")
    assert "first" not in names(tmp_path / "packs")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError):
        pack(release, tmp_path / "notes", request)
    assert names(tmp_path / "notes") == {"mine.txt"}


def test_a_group_that_makes_no_sense_is_refused() -> None:
    for text, said in [
        ("large", "expected NAME:KEY=VALUE"),
        ("other:ram-min=8GB", "expected NAME:KEY=VALUE"),
        ("a#b:ram-min=8GB", "expected NAME:KEY=VALUE"),
        ("large:ram=8GB", "unknown key 'ram'"),
        ("large:ram-min=8 apples", "'8 apples' is not a size"),
        ("large:ram-min=0", "'0' is not a size"),
        ("large:ram-min=8GB,ram-min=9GB", "'ram-min=9GB' is not a valid setting"),
        ("large:soc=SM8650", "'SM8650' is not of the form MAKER/MODEL"),
        ("large:provider=webgpu", "it selects no devices"),
        ("large:ram-min=8GB,provider=nnapi", "no file for 'nnapi'"),
        ("large:ram-min=8GB,ram-max=8GB", "ram-min is not below ram-max"),
    ]:
        with pytest.raises(ConfigError) as refused:
            parse(text, ["qnn", "webgpu"])
        assert said in refused.value.message
        assert refused.value.hint


def test_a_group_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no file of the models is for the group small"):
        made(tmp_path, groups=("small:ram-max=4GB",))


def test_two_groups_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two groups of devices have the name a"):
        made(tmp_path, groups=("a:ram-min=8GB,provider=webgpu", "a:ram-min=4GB,provider=webgpu"))


def test_the_command_has_the_choices_of_the_code() -> None:
    assert set(KINDS) == set(packing.KINDS)
    assert set(DELIVERIES) == set(packing.DELIVERIES) == set(apple.POLICIES)


def test_apples_packs_have_no_groups(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no groups of devices"):
        made(tmp_path, "on-demand-resources", groups=("large:ram-min=8GB,provider=webgpu",))


def test_configurations_say_chips_and_memory_and_escape_names() -> None:
    group = DeviceGroup(
        name="a", chips=(Chip(maker='M "&', model="X"),), min_ram_bytes=6 * 10**9, max_ram_bytes=8 * 10**9
    )
    root = ElementTree.fromstring(targeting_config([group]))
    (selector,) = root.iter(f"{CONFIG}device-selector")
    assert selector.attrib == {"ram-min-bytes": "6000000000", "ram-max-bytes": "8000000000"}
    (chip,) = selector
    assert chip.attrib == {"manufacturer": 'M "&', "model": "X"}
    (described,) = json.loads(tier_config([group]))["deviceGroups"]
    assert described["deviceSelectors"] == [
        {
            "deviceRam": {"minBytes": "6000000000", "maxBytes": "8000000000"},
            "systemOnChips": [{"manufacturer": 'M "&', "model": "X"}],
        }
    ]


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a/b", "ä", "a" * 51])
def test_a_name_that_play_refuses_is_refused(name: str, tmp_path: Path) -> None:
    if name:
        with pytest.raises(ConfigError, match="cannot be the name of a pack"):
            made(tmp_path, name=name)
    else:
        assert made(tmp_path, name=name).name == "demo"


@pytest.mark.parametrize("app", ["app", "com.example.app/..", "com.1.app", "com..app"])
def test_an_application_id_that_is_none_is_refused(app: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not an application id"):
        made(tmp_path, app=app)
    assert not (tmp_path / "packs").exists()


@pytest.mark.parametrize(
    ("delivery", "policy"),
    [
        ("install-time", {"essential": {"installationEventTypes": ["firstInstallation", "subsequentUpdate"]}}),
        ("fast-follow", {"prefetch": {"installationEventTypes": ["firstInstallation", "subsequentUpdate"]}}),
        ("on-demand", {"onDemand": {}}),
    ],
)
def test_the_manifest_of_background_assets_has_apples_form(delivery: str, policy: object, tmp_path: Path) -> None:
    """Apple, `Creating managed asset packs`: these four keys, and no other."""
    made(tmp_path, "background-assets", delivery=delivery, app="group.com.example.app")
    root = tmp_path / "packs/demo"
    manifest = json.loads((root / "Manifest.json").read_text())
    assert manifest == {
        "assetPackID": "demo",
        "downloadPolicy": policy,
        "fileSelectors": [{"directory": "mobpack/demo"}],
        "platforms": ["iOS", "macOS"],
    }
    assert names(root / "mobpack/demo") == {sha256(each) for each in CONTENTS.values()}


def test_the_property_lists_have_the_keys_that_apples_hosting_needs_and_no_other(tmp_path: Path) -> None:
    """Apple, `Downloading Apple-hosted asset packs`: apps omit all other keys of Background Assets."""
    made(tmp_path, "background-assets", app="group.com.example.app")
    root = tmp_path / "packs/demo"
    assert plistlib.loads((root / "app/Info.plist").read_bytes()) == {
        "BAAppGroupID": "group.com.example.app",
        "BAHasManagedAssetPacks": True,
        "BAUsesAppleHosting": True,
    }
    extension = plistlib.loads((root / "extension/Info.plist").read_bytes())
    assert extension == {"EXAppExtensionAttributes": {"EXExtensionPointIdentifier": apple.EXTENSION_POINT}}
    assert 'assetPack.id == "demo"' in (root / "extension/DownloaderExtension.swift").read_text()


def test_background_assets_without_an_app_group_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the app group that the app and its extension share"):
        made(tmp_path, "background-assets")


@pytest.mark.parametrize(
    ("delivery", "setting"),
    [
        ("install-time", "ON_DEMAND_RESOURCES_INITIAL_INSTALL_TAGS = demo\n"),
        ("fast-follow", "ON_DEMAND_RESOURCES_PREFETCH_ORDER = demo\n"),
        ("on-demand", "ENABLE_ON_DEMAND_RESOURCES = YES\n"),
    ],
)
def test_on_demand_resources_have_a_tag_for_the_delivery(delivery: str, setting: str, tmp_path: Path) -> None:
    made(tmp_path, "on-demand-resources", delivery=delivery)
    root = tmp_path / "packs/demo"
    assert (root / "OnDemandResources.xcconfig").read_text().endswith(setting)
    assert names(root / "mobpack/demo") == {sha256(each) for each in CONTENTS.values()}


def test_the_command_shows_who_gets_which_file(tmp_path: Path) -> None:
    release = released(tmp_path / "dist")
    result = run(str(release), "--kind", "ai-pack", "--to", str(tmp_path / "packs"), "--app", "com.example.app")
    assert result.exit_code == 0, result.output
    assert "soc_sm8650" in result.output
    assert f"wrote {tmp_path / 'packs'}/demo.zip" in result.output


def test_the_command_prints_json(tmp_path: Path) -> None:
    release = released(tmp_path / "dist")
    printed = json.loads(run(str(release), "--kind", "asset-pack", "--to", str(tmp_path / "packs"), "--json").stdout)
    assert printed["written"] == ["demo", "device_targeting_config.xml", "device_tier_config.json"]
    assert printed["groups"] == ["soc_sm8650"]
    assert {each["sha256"] for each in printed["files"] if each["group"]} == {sha256(CHIP)}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))
