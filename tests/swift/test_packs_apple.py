"""The downloader extension of a pack compiles for the systems that have one, against what Apple documents."""

from pathlib import Path

import pytest

from packager.distribution.packs.packing import PackRequest, pack
from tests.cases.pack_cases import released
from tests.toolchain import apple
from tests.toolchain.apple import Compiled
from tests.toolchain.swift import swift

FIRST = "arm64-apple-ios26.0"


def compiled(tmp_path: Path, triple: str, change: tuple[str, str] = ("", "")) -> Compiled:
    swift()
    request = PackRequest(kind="background-assets", delivery="on-demand", app="group.com.example.app")
    pack(released(tmp_path / "dist"), tmp_path / "packs", request)
    source = tmp_path / "packs/demo/extension/DownloaderExtension.swift"
    source.write_text(source.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    return apple.compile_swift("Downloader", [source], tmp_path, triple=triple, defines=())


def test_the_extension_compiles_for_ios_26(tmp_path: Path) -> None:
    done = compiled(tmp_path, FIRST)
    assert done.returncode == 0, done.output


@pytest.mark.parametrize(
    ("triple", "change", "words"),
    [
        ("arm64-apple-ios18.0", ("", ""), "only available in iOS 26.0 or newer"),
        (FIRST, ("assetPack.id", "assetPack.name"), "has no member 'name'"),
    ],
    ids=["older system", "mistake"],
)
def test_another_one_does_not(triple: str, change: tuple[str, str], words: str, tmp_path: Path) -> None:
    done = compiled(tmp_path, triple, change)
    assert done.returncode != 0
    assert words in done.output
