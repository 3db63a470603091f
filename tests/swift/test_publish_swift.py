"""Publishing Swift packages: to a registry, which is a double that answers as SE-0292 and SE-0391 say, and as tags of a
git repository, from which the real Swift package manager takes them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.publish_swift import SwiftDouble, identity, published, repository, tagged
from tests.cases.registries import release, serving
from tests.toolchain.swift import PROGRAMS, Finished, Swift, swift

__all__ = ["identity", "repository"]


def test_the_real_package_manager_builds_an_app_with_the_tag(tmp_path: Path, repository: Path) -> None:
    tools = swift()
    tagged(release(tmp_path / "dist"), repository)
    app = tmp_path / "app"
    (app / "Sources" / "App").mkdir(parents=True)
    (app / "Package.swift").write_text(
        "// swift-tools-version: 5.9\nimport PackageDescription\n"
        f'let package = Package(name: "app", dependencies: [.package(url: "{repository}", from: "1.0.0")],\n'
        'targets: [.executableTarget(name: "App", dependencies: '
        '[.product(name: "VisionModels", package: "vision")])])\n',
        encoding="utf-8",
    )
    (app / "Sources" / "App" / "main.swift").write_text("import VisionModels\nprint(answer)\n", encoding="utf-8")
    mounts = {str(repository): repository}
    command = ["swift", "run", "-j", "2", "--disable-sandbox", "--scratch-path", str(app / "scratch")]
    environment = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    done = tools.run(command, cwd=app, mounts=mounts, environment=environment)
    assert done.returncode == 0, done.output
    assert done.output.rstrip().endswith("42")
    pins = json.loads((app / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    assert [each["state"]["version"] for each in pins] == ["1.0.0"]


@pytest.mark.parametrize("trusted", [True, False])
def test_the_real_package_manager_verifies_what_a_registry_has(
    tmp_path: Path, identity: tuple[Path, Path], trusted: bool
) -> None:
    """The signature is checked by Swift's own code, against a root that it is told to trust."""
    certificate, key = identity
    tools, double, app = swift(), SwiftDouble(), tmp_path / "app"
    (app / "roots").mkdir(parents=True)
    if trusted:
        der = ["openssl", "x509", "-in", str(certificate), "-outform", "DER", "-out", str(app / "roots" / "root.cer")]
        subprocess.run(der, check=True)
    settings = (f"swift-registry.certificate={certificate}", f"swift-registry.key={key}")
    with serving(double.server):
        published(release(tmp_path / "dist"), double, *settings)
        done = _resolved(tools, app, double.server.address)
    if trusted:
        assert done.returncode == 0, done.output
        assert "GET /acme/vision/1.0.0.zip" in double.server.requests
    else:
        assert done.returncode != 0
        assert "is not trusted" in done.output


def _resolved(tools: Swift, app: Path, address: str) -> Finished:
    """`swift package resolve` of an app that depends on acme.vision, and takes only what is signed."""
    (app / "Sources" / "App").mkdir(parents=True)
    (app / "Package.swift").write_text(
        "// swift-tools-version: 5.9\nimport PackageDescription\n"
        'let package = Package(name: "app", dependencies: [.package(id: "acme.vision", from: "1.0.0")],\n'
        'targets: [.executableTarget(name: "App", dependencies: '
        '[.product(name: "VisionModels", package: "acme.vision")])])\n',
        encoding="utf-8",
    )
    (app / "Sources" / "App" / "main.swift").write_text("import VisionModels\nprint(answer)\n", encoding="utf-8")
    signing = {
        "onUnsigned": "error",
        "onUntrustedCertificate": "error",
        "trustedRootCertificatesPath": str(app / "roots"),
        "includeDefaultTrustedRootCertificates": False,
        "validationChecks": {"certificateExpiration": "disabled", "certificateRevocation": "disabled"},
    }
    document = {"registries": {}, "security": {"default": {"signing": signing}}, "authentication": {}, "version": 1}
    shared, programs = app / "shared", app / "programs"
    for folder in (shared, programs):
        folder.mkdir()
    (shared / "registries.json").write_text(json.dumps(document), encoding="utf-8")
    unzip = programs / "unzip"  # the toolchain has none, and the package manager starts one
    unzip.write_text(f'#!/bin/sh\nexec chroot /host {sys.executable} -m zipfile -e "$1" "$3"\n', encoding="utf-8")
    unzip.chmod(0o755)
    environment = {"HOME": str(app / "home"), "PATH": f"{programs}:{PROGRAMS}"}
    command = ["swift", "package-registry", "set", "--allow-insecure-http", address]
    done = tools.run(command, cwd=app, environment=environment)
    assert done.returncode == 0, done.output
    command = ["swift", "package", "--config-path", str(shared), "--scratch-path", str(app / "scratch"), "resolve"]
    return tools.run(command, cwd=app, environment=environment)
