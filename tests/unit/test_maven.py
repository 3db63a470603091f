"""The Maven repository: readable by Gradle and Maven, and the same bytes every time."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from packager.cli.build import add_to_repository
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.values import Package
from packager.files.processes.downloads import pins
from packager.targets.maven import Coordinates, Dependency, Scope, add_to, dependency, write_repository

COORDINATES = Coordinates(group="com.example.ml", artifact="vision", version="1.2.0")
POM = "{http://maven.apache.org/POM/4.0.0}"
HOME = Path("com/example/ml/vision/1.2.0")


def needs() -> list[Dependency]:
    return [
        dependency(pins()["android"]["kotlin-stdlib"], scope=Scope.COMPILE),
        dependency(pins()["android"]["onnxruntime"], scope=Scope.RUNTIME, is_aar=True),
    ]


def repository(
    folder: Path,
    *,
    coordinates: Coordinates = COORDINATES,
    package_license: str = "Apache-2.0",
    description: str = "Sees <things> & more",
    package: Package | None = None,
) -> Path:
    folder.mkdir()
    (folder / "built.aar").write_bytes(b"an aar")
    (folder / "built-sources.jar").write_bytes(b"a jar")
    described = Package(name="vision", version=coordinates.version, license=package_license, description=description)
    write_repository(
        folder / "maven",
        coordinates=coordinates,
        package=package or described,
        library=folder / "built.aar",
        sources_jar=folder / "built-sources.jar",
        dependencies=needs(),
    )
    return folder / "maven"


def module(root: Path) -> dict[str, Any]:
    text = (root / HOME / "vision-1.2.0.module").read_text(encoding="utf-8")
    result: dict[str, Any] = json.loads(text)
    assert text == json.dumps(result, indent=2) + "\n"
    return result


def test_files_lie_where_maven_looks_for_them_and_are_returned(tmp_path: Path) -> None:
    root = repository(tmp_path / "a")
    found = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    bare = sorted(name for name in found if not name.endswith((".md5", ".sha1", ".sha256", ".sha512")))
    assert bare == [f"{HOME}/vision-1.2.0{end}" for end in ("-sources.jar", ".aar", ".module", ".pom")] + [
        "com/example/ml/vision/maven-metadata.xml"
    ]
    assert len(found) == 5 * len(bare)
    (tmp_path / "x").write_bytes(b"x")
    written = write_repository(
        tmp_path / "maven",
        coordinates=COORDINATES,
        library=tmp_path / "x",
        package=Package(name="v", version="1.2.0", license=""),
        sources_jar=tmp_path / "x",
        dependencies=[],
    )
    assert list(written) == sorted(path for path in (tmp_path / "maven").rglob("*") if path.is_file())


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
def test_every_file_has_its_checksum(tmp_path: Path, algorithm: str) -> None:
    sums = list(repository(tmp_path / "a").rglob(f"*.{algorithm}"))
    assert len(sums) == 5
    for path in sums:
        expected = hashlib.new(algorithm, path.with_suffix("").read_bytes()).hexdigest()
        assert path.read_text(encoding="ascii") == expected


def test_two_repositories_are_the_same_bytes_and_hold_no_clock(tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a"), repository(tmp_path / "b")
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert [(one / name).read_bytes() for name in files] == [(two / name).read_bytes() for name in files]
    assert not any(b"lastUpdated" in (one / name).read_bytes() for name in files)


def test_pom_names_the_library_and_what_it_needs(tmp_path: Path) -> None:
    root = ElementTree.parse(repository(tmp_path / "a") / HOME / "vision-1.2.0.pom").getroot()
    texts = {child.tag.removeprefix(POM): child.text for child in root}
    own = {"licenses", "dependencies", "modelVersion"}
    assert {key: text for key, text in texts.items() if key not in own} == {
        "groupId": "com.example.ml",
        "artifactId": "vision",
        "version": "1.2.0",
        "packaging": "aar",
        "name": "vision",
        "description": "Sees <things> & more",
    }
    assert [found.text for found in root.iter(f"{POM}license") for found in found] == ["Apache-2.0"]
    dependencies = [
        {child.tag.removeprefix(POM): child.text for child in found} for found in root.iter(f"{POM}dependency")
    ]
    runtime, stdlib = needs()[1], needs()[0]
    assert dependencies == [
        {
            "groupId": runtime.group,
            "artifactId": runtime.artifact,
            "version": runtime.version,
            "type": "aar",
            "scope": "runtime",
        },
        {"groupId": stdlib.group, "artifactId": stdlib.artifact, "version": stdlib.version, "scope": "compile"},
    ]


def test_pom_points_gradle_to_the_module_file(tmp_path: Path) -> None:
    text = (repository(tmp_path / "a") / HOME / "vision-1.2.0.pom").read_text(encoding="utf-8")
    assert "<!-- do_not_remove: published-with-gradle-metadata -->" in text


def test_pom_without_license_or_description_leaves_them_out(tmp_path: Path) -> None:
    root = repository(tmp_path / "a", package_license="", description="")
    text = (root / HOME / "vision-1.2.0.pom").read_text(encoding="utf-8")
    assert "license" not in text
    assert "description" not in text


def test_module_file_has_the_variants_that_the_android_plugin_publishes(tmp_path: Path) -> None:
    found = module(repository(tmp_path / "a"))
    assert found["formatVersion"] == "1.1"
    assert {key: found["component"][key] for key in ("group", "module", "version")} == {
        "group": "com.example.ml",
        "module": "vision",
        "version": "1.2.0",
    }
    assert [
        (variant["name"], variant["attributes"]["org.gradle.usage"], variant["files"][0]["name"])
        for variant in found["variants"]
    ] == [
        ("releaseVariantReleaseApiPublication", "java-api", "vision-1.2.0.aar"),
        ("releaseVariantReleaseRuntimePublication", "java-runtime", "vision-1.2.0.aar"),
        ("releaseVariantReleaseSourcePublication", "java-runtime", "vision-1.2.0-sources.jar"),
    ]


def test_an_app_compiles_without_onnx_runtime_and_runs_with_it(tmp_path: Path) -> None:
    api, runtime, sources = module(repository(tmp_path / "a"))["variants"]
    assert [needed["module"] for needed in api["dependencies"]] == ["kotlin-stdlib"]
    assert [needed["module"] for needed in runtime["dependencies"]] == ["onnxruntime-android", "kotlin-stdlib"]
    assert "dependencies" not in sources


def test_module_file_names_size_and_checksums_of_what_lies_beside_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "a")
    for variant in module(root)["variants"]:
        [file] = variant["files"]
        content = (root / HOME / file["url"]).read_bytes()
        assert file["size"] == len(content)
        for algorithm in ("md5", "sha1", "sha256", "sha512"):
            assert file[algorithm] == hashlib.new(algorithm, content).hexdigest()


def test_a_snapshot_is_the_latest_but_not_a_release(tmp_path: Path) -> None:
    snapshot = Coordinates(group="com.example.ml", artifact="vision", version="1.3.0-SNAPSHOT")
    roots = [repository(tmp_path / "a"), repository(tmp_path / "b", coordinates=snapshot)]
    texts = [(root / "com/example/ml/vision/maven-metadata.xml").read_text() for root in roots]
    assert [re.findall(r"<(latest|release)>(.*?)</", text) for text in texts] == [
        [("latest", "1.2.0"), ("release", "1.2.0")],
        [("latest", "1.3.0-SNAPSHOT")],
    ]


def test_the_pom_says_what_maven_central_requires(tmp_path: Path) -> None:
    package = Package(
        name="vision",
        version="1.2.0",
        license="Apache-2.0",
        description="Sees.",
        url="https://example.com/vision",
        scm="https://example.com/vision.git",
        developers=("Ada & Co", "Grace Hopper"),
    )
    root = repository(tmp_path / "a", package=package)
    pom = ElementTree.parse(root / HOME / "vision-1.2.0.pom").getroot()
    found = {
        name: pom.findtext(f"{POM}{name.replace('/', f'/{POM}')}") for name in ("url", "scm/url", "scm/connection")
    }
    assert found == {
        "url": "https://example.com/vision",
        "scm/url": "https://example.com/vision.git",
        "scm/connection": "scm:git:https://example.com/vision.git",
    }
    assert [each.text for each in pom.iter(f"{POM}name")][1:] == ["Apache-2.0", "Ada & Co", "Grace Hopper"]


def test_a_pom_without_them_has_no_empty_elements(tmp_path: Path) -> None:
    text = (repository(tmp_path / "a") / HOME / "vision-1.2.0.pom").read_text(encoding="utf-8")
    assert not any(each in text for each in ("<url>", "<scm>", "<developers>"))


def listed(root: Path) -> list[str | None]:
    metadata = ElementTree.parse(root / HOME.parent / "maven-metadata.xml").getroot()
    return [each.text for each in metadata.iterfind("versioning/versions/version")]


def test_a_version_joins_those_that_a_repository_has(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for version in ("1.1.0", "1.2.0", "1.3.0-SNAPSHOT"):
        released = repository(tmp_path / version, coordinates=replace(COORDINATES, version=version))
        assert add_to(shared, released)
    assert listed(shared) == ["1.1.0", "1.2.0", "1.3.0-SNAPSHOT"]
    metadata = ElementTree.parse(shared / HOME.parent / "maven-metadata.xml").getroot()
    assert metadata.findtext("versioning/latest") == "1.3.0-SNAPSHOT"
    assert metadata.findtext("versioning/release") == "1.2.0"
    for version in ("1.1.0", "1.2.0"):
        assert (shared / HOME.parent / version / f"vision-{version}.aar").is_file()
    content = (shared / HOME.parent / "maven-metadata.xml").read_bytes()
    assert (shared / HOME.parent / "maven-metadata.xml.sha1").read_text() == hashlib.sha1(content).hexdigest()


def test_the_same_release_can_be_added_again(tmp_path: Path) -> None:
    released = repository(tmp_path / "a")
    add_to(tmp_path / "shared", released)
    add_to(tmp_path / "shared", released)
    assert listed(tmp_path / "shared") == ["1.2.0"]


def test_a_published_version_never_changes(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    add_to(shared, repository(tmp_path / "a"))
    other = repository(tmp_path / "b", description="another text")
    (other / "com/example/ml/vision/1.2.0/a-new-file").write_bytes(b"")
    with pytest.raises(ConfigError, match="is there with other content: a published version does not change"):
        add_to(shared, other)
    assert not (shared / HOME / "a-new-file").exists()


def test_the_command_adds_a_release_to_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(tmp_path / "dist")
    add_to_repository(tmp_path / "dist", tmp_path / "shared", Console())
    assert listed(tmp_path / "shared") == ["1.2.0"]
    assert "files of the Android library" in " ".join(capsys.readouterr().err.split())
    add_to_repository(tmp_path / "dist", None, Console())
