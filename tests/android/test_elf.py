"""The published libraries of ONNX Runtime for Android fit the phones that they are for."""

import zipfile
from pathlib import Path

from packager.files import elf
from tests.toolchain import jvm


def test_the_published_runtimes_fit_devices_with_pages_of_16_kib() -> None:
    """Google Play refuses apps for Android 15 with 64-bit libraries for pages of 4 KiB only."""
    with zipfile.ZipFile(jvm.android_runtime().aar) as aar:
        libraries = {name: elf.read(aar.read(name), name) for name in aar.namelist() if name.endswith(".so")}
    checked = {name: each.page_bytes for name, each in libraries.items() if "64" in each.abi}
    assert {Path(name).parent.name for name in checked} == {"arm64-v8a", "x86_64"}
    assert {name: pages for name, pages in checked.items() if pages < 16384} == {}
