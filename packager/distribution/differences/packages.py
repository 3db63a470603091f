"""Reads what packages say of themselves: names, systems, dependencies and APIs."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from packager import description
from packager.core import parsing
from packager.core.errors import ConfigError
from packager.description import API, PackageApi
from packager.distribution.differences import cards
from packager.distribution.differences.archives import Contents
from packager.distribution.differences.values import Package

SDK = "Android API level"
POM = "{http://maven.apache.org/POM/4.0.0}"


def android(aar: Contents, pom: str) -> Package:
    """A library with its POM, which may be empty where there is none."""
    api = _api(aar)
    manifest = aar.texts.get("AndroidManifest.xml", "")
    name, version, license_name, needs = _pom(pom)
    stem, _, in_name = aar.place.stem.rpartition("-")
    return Package(
        target=api.target,
        kind="aar",
        name=name or stem,
        version=version or in_name,
        namespace=_value(r'\bpackage="([^"]+)"', manifest),
        license=license_name,
        api=api,
        oldest=_found({SDK: r'android:minSdkVersion="(\d+)"'}, manifest),
        processors=tuple(sorted({each.split("/")[1] for each in aar.names if re.match(r"jni/[^/]+/", each)})),
        depends_on=needs,
        legal={path.rpartition("/")[2]: digest for path, digest in aar.licenses.items()},
        models=cards.read(aar.texts),
        size_bytes=aar.size_bytes,
    )


def _pom(text: str) -> tuple[str, str, str, dict[str, str]]:
    """Coordinates without version, version, licence and dependencies."""
    if not text:
        return "", "", "", {}
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ConfigError("the POM has entities, which mobpack never writes", hint="build the packages again")
    try:
        root = ElementTree.fromstring(text)  # entities are refused above  # noqa: S314
    except ElementTree.ParseError as error:
        raise ConfigError(f"the POM cannot be read: {error}", hint="build the packages again") from error

    def value(place: ElementTree.Element, path: str) -> str:
        return place.findtext("/".join(POM + part for part in path.split("/"))) or ""

    needs = {
        f"{value(each, 'groupId')}:{value(each, 'artifactId')}": value(each, "version")
        for each in root.iter(f"{POM}dependency")
    }
    name = f"{value(root, 'groupId')}:{value(root, 'artifactId')}"
    return name, value(root, "version"), value(root, "licenses/license/name"), needs


def ios(archive: Contents) -> Package:
    """A Swift package: one folder with Package.swift."""
    home = next((name.partition("/")[0] for name in archive.names if name.count("/") == 1 and _is_manifest(name)), "")
    api = _api(archive)
    manifest = archive.texts.get(f"{home}/Package.swift", "")
    module = next(iter(re.findall(r'\.library\(name: "([^"]+)"', manifest)), "")
    name = next(iter(re.findall(r'Package\(\s*name: "([^"]+)"', manifest)), home)
    needs = dict(re.findall(r'\.package\(path: "\.\./([\w.]+(?:-[a-z]+)*)-([\w.]+)"\)', manifest))
    needs |= dict(re.findall(r'\.package\((?:url|id): "([^"]+)", from: "([^"]+)"', manifest))
    return Package(
        target=api.target,
        kind="swift-package",
        name=name,
        version=home.removeprefix(f"{name}-") if home.startswith(f"{name}-") else "",
        namespace=module,
        license="",
        api=api,
        oldest=_found({"iOS": r'\.iOS\("([\d.]+)"\)', "macOS": r'\.macOS\("([\d.]+)"\)'}, manifest),
        depends_on=needs,
        legal={path.partition("/")[2]: digest for path, digest in archive.licenses.items()},
        models=cards.read(archive.texts),
        size_bytes=archive.size_bytes,
    )


def _is_manifest(name: str) -> bool:
    return name.endswith("/Package.swift")


def npm(archive: Contents) -> Package:
    """A package for React Native, which has a podspec, for the web, or for Node, which has no ONNX Runtime inside."""
    texts = {name.partition("/")[2]: text for name, text in archive.texts.items()}
    document = _package_json(archive, texts)
    is_native = any(name.endswith(".podspec") for name in texts)
    needs_runtime = "onnxruntime-node" in _strings(document.get("dependencies"))
    api = _api(archive)
    gradle = texts.get("android/build.gradle", "")
    podspec = next((text for name, text in texts.items() if name.endswith(".podspec")), "")
    oldest = _found({SDK: r"minSdk (\d+)"}, gradle) | _found({"iOS": r':ios => "([\d.]+)"'}, podspec)
    oldest |= _strings(document.get("engines")) | _strings(document.get("peerDependencies"))
    needs = _found({"onnxruntime-android": r"prefer '([^']+)'"}, gradle)
    needs |= _found({"onnxruntime-c": r'"onnxruntime-c", "(?:>= )?([\d.]+)"'}, podspec)
    native = [each for each in archive.names if re.search(r"/jni(?:Libs)?/[^/]+/[^/]+\.so$", each)]
    return Package(
        target=api.target,
        kind="npm-package" if is_native else "node-package" if needs_runtime else "web-package",
        name=str(document.get("name", "")),
        version=str(document.get("version", "")),
        namespace=", ".join(_entries(document)),
        license=str(document.get("license", "")),
        api=api,
        oldest={name: _number(version) for name, version in oldest.items()},
        processors=tuple(sorted({each.split("/")[-2] for each in native})),
        depends_on=needs | _strings(document.get("dependencies")),
        legal={path.partition("/")[2]: digest for path, digest in archive.licenses.items()},
        models=cards.read(archive.texts),
        size_bytes=archive.size_bytes,
    )


def pub(archive: Contents) -> Package:
    """A package for Flutter: one folder with pubspec.yaml."""
    texts = {name.partition("/")[2]: text for name, text in archive.texts.items()}
    api = _api(archive)
    pubspec = texts.get("pubspec.yaml", "")
    name = _value(r"^name: (\w+)$", pubspec)
    gradle = texts.get("android/build.gradle", "")
    swift_manifest = texts.get(f"darwin/{name}/Package.swift", "")
    oldest = _found({"Dart": r'^  sdk: "\^([\d.]+)"', "Flutter": r'^  flutter: ">=([\d.]+)"'}, pubspec)
    oldest |= _found({SDK: r"minSdk = (\d+)"}, gradle)
    oldest |= _found({"iOS": r'\.iOS\("([\d.]+)"\)', "macOS": r'\.macOS\("([\d.]+)"\)'}, swift_manifest)
    needs = _found({"onnxruntime-android": r"(?:prefer|strictly) '([^']+)'"}, gradle)
    needs |= _found({"onnxruntime-binary": r'"onnxruntime-binary-([\d.]+)'}, swift_manifest)
    native = [each for each in archive.names if re.search(r"/jniLibs/[^/]+/[^/]+\.so$", each)]
    systems = re.findall(r"^  (\w+):$", pubspec.partition("\nplatforms:\n")[2].partition("\n\n")[0], re.MULTILINE)
    return Package(
        target=api.target,
        kind="pub-package",
        name=name,
        version=_value(r"^version: (\S+)$", pubspec),
        namespace=f"package:{name}/{name}.dart",
        license="",
        api=api,
        oldest=oldest,
        processors=tuple(sorted({*systems, *(each.split("/")[-2] for each in native)})),
        depends_on=needs,
        legal={path.partition("/")[2]: digest for path, digest in archive.licenses.items()},
        models=cards.read(archive.texts),
        size_bytes=archive.size_bytes,
    )


def described(archive: Contents, kind: str) -> Package:
    """A package whose own files nothing here reads: its API, licences, models and size."""
    api = _api(archive)
    return Package(
        target=api.target,
        kind=kind,
        name=api.package,
        version=api.version,
        namespace="",
        license="",
        api=api,
        legal=archive.licenses,
        models=cards.read(archive.texts),
        size_bytes=archive.size_bytes,
    )


def is_pub(archive: Contents) -> bool:
    """Whether the archive is a package for Flutter or Dart."""
    return any(name.count("/") == 1 and name.endswith("/pubspec.yaml") for name in archive.names)


def _value(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


def _package_json(archive: Contents, texts: Mapping[str, str]) -> dict[str, object]:
    try:
        document = parsing.json_of(texts["package.json"])
        if isinstance(document, dict):
            return document
    except (KeyError, ValueError, RecursionError):
        pass
    raise ConfigError(
        f"{archive.place} has no package.json that can be read", hint="name an npm package that mobpack has built"
    )


def _entries(document: Mapping[str, object]) -> list[str]:
    """Entries of the package that have types."""
    exports = document.get("exports")
    if not isinstance(exports, dict):
        return []
    return [name for name, each in sorted(exports.items()) if isinstance(each, dict) and "types" in each]


def _strings(found: object) -> dict[str, str]:
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _number(version: str) -> str:
    return version.removeprefix(">=").strip()


def _found(patterns: Mapping[str, str], text: str) -> dict[str, str]:
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in patterns.items()}
    return {name: match[1] for name, match in found.items() if match}


def _api(archive: Contents) -> PackageApi:
    """The description in the package: that of the fewest folders, since an npm package has those of others inside."""
    path = min((name for name in archive.texts if name.rpartition("/")[2] == API.name), key=len, default="")
    if not path:
        raise ConfigError(
            f"{archive.place} is not a package of mobpack's: it has no {API}",
            hint="name a package or a dist folder of `mobpack build`; build a package of an earlier mobpack again",
        )
    return description.read(archive.texts[path], str(archive.place))
