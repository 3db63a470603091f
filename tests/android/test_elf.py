"""Shared libraries are read as the linker wrote them; damaged ones end in one error, and soon."""

import io
import tarfile
import zipfile
from pathlib import Path

from packager.files import elf
from packager.files.processes import downloads
from tests.toolchain.require import fetched


def test_the_published_runtimes_fit_devices_with_pages_of_16_kib() -> None:
    """Google Play refuses apps for Android 15 with 64-bit libraries for pages of 4 KiB only."""
    fetched("onnxruntime-binaries")
    with tarfile.open(downloads.fetch("onnxruntime-binaries")) as package:
        content = package.extractfile("package/Plugins/Android/onnxruntime.aar")
        assert content is not None
        with zipfile.ZipFile(io.BytesIO(content.read())) as aar:
            libraries = {name: elf.read(aar.read(name), name) for name in aar.namelist() if name.endswith(".so")}
    checked = {name: each.page_bytes for name, each in libraries.items() if "64" in each.abi}
    assert {Path(name).parent.name for name in checked} == {"arm64-v8a", "x86_64"}
    assert {name: pages for name, pages in checked.items() if pages < 16384} == {}
