"""Libraries that Apple's systems have and Linux has not, for packages `models`.

CryptoKit is Apple's; `swift_trust` has its names on Linux, computed by OpenSSL.
"""

import shutil
from pathlib import Path

from tests.toolchain.swift_packages import MODULE
from tests.toolchain.swift_zlib import with_zlib

CRYPTO = Path(__file__).with_name("swift_trust") / "CryptoKit"


def with_crypto(package: Path, module: str = MODULE) -> None:
    """Adds the stand-in for CryptoKit to the package, as a module that its own, `module`, depends on."""
    shutil.copytree(CRYPTO, package / "Sources/CryptoKit")
    manifest = package / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    own = f'dependencies: ["C{module}"],'
    assert text.count(own) == 1
    text = text.replace(own, f'dependencies: ["C{module}", "CryptoKit"],')
    text = text.replace("    targets: [\n", '    targets: [\n        .target(name: "CryptoKit"),\n')
    manifest.write_text(text, encoding="utf-8", newline="\n")


def with_libraries(package: Path) -> None:
    """Adds CryptoKit and zlib to the package."""
    with_crypto(package)
    with_zlib(package)
