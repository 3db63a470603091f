"""Bills of materials: valid CycloneDX, complete, the same bytes every time, inside every package and beside it."""

import json
import tarfile
import zipfile
from pathlib import Path

from packager import description
from tests.cases.onnx_text import linear, saved
from tests.cases.sbom import assert_valid
from tests.toolchain import command


def test_a_build_writes_bills_and_descriptions_inside_and_bills_beside_every_package(tmp_path: Path) -> None:
    saved(tmp_path / "net.onnx", linear())
    (tmp_path / "mobpack.toml").write_text(
        '[package]\nname = "net"\nlicense = "MIT"\n\n[model.net]\npath = "net.onnx"\n'
        'card = { license = "AGPL-3.0-only" }\n'
        "\n[target.android]\n\n[target.ios]\n\n[target.react_native]\n",
        encoding="utf-8",
        newline="\n",
    )
    refused = command.run("build", "--strict", folder=tmp_path)
    assert refused.returncode == 6, refused.stderr
    assert "AGPL-3.0-only" in refused.stderr
    assert not (tmp_path / "dist").exists()
    done = command.run("build", "--emit", "spdx", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning: model 'net' is under AGPL-3.0-only" in done.stderr

    dist = tmp_path / "dist"
    with zipfile.ZipFile(dist / "android/net-1.0.0.aar") as archive:
        library = archive.read("META-INF/com.example.net/sbom.cdx.json")
        apis = {"android": archive.read("META-INF/com.example.net/api.json")}
    with zipfile.ZipFile(dist / "swift/net-1.0.0.zip") as archive:
        package = archive.read("net-1.0.0/sbom.cdx.json")
        apis["ios"] = archive.read("net-1.0.0/api.json")
    with tarfile.open(dist / "npm/react-native-net-1.0.0.tgz") as archive:
        files = [archive.extractfile(f"package/{name}") for name in ("sbom.cdx.json", "api.json")]
        module, apis["react_native"] = (file.read() for file in files if file)
    for target, text in apis.items():
        api = description.read(text.decode(), target)
        assert (api.target, api.package, [each.class_name for each in api.models]) == (target, "net", ["Net"])
    beside = {
        "android/net-1.0.0.cdx.json": library,
        "swift/net-1.0.0.cdx.json": package,
        "npm/react-native-net-1.0.0.cdx.json": module,
    }
    for path, inside in beside.items():
        inner = assert_valid(inside.decode())
        outer = assert_valid((dist / path).read_text(encoding="utf-8"))
        assert inner["components"][1:] == outer["components"][1:]
        assert "quantitativeAnalysis" not in inner["components"][0]["modelCard"]
        assert outer["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    published = dist / "maven/com/example/net/1.0.0/net-1.0.0-cyclonedx.json"
    assert published.read_bytes() == library
    assert published.with_name(f"{published.name}.sha256").is_file()
    manifest = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    as_spdx = {path.replace(".cdx.json", ".spdx3.json") for path in beside}
    assert {each["path"] for each in manifest["artifacts"] if each["kind"] == "sbom"} == {*beside, *as_spdx}
    for path in as_spdx:
        assert "ai_AIPackage" in (dist / path).read_text(encoding="utf-8")
