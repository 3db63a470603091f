"""Prints the bill of materials of a release of mobpack: its files, and the libraries that its tests have run with.

    python -m scripts.releasing.bill FOLDER     # with the wheel and the sdist

The libraries are those that pip installs with mobpack on this system, in the versions of requirements/test.txt and with
the hashes there.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution
from pathlib import Path
from zipfile import Path as PathInZip

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from packager import __version__
from packager.core import licenses
from packager.core.components import Component, purl
from packager.distribution.sbom import cyclonedx
from packager.distribution.sbom.cyclonedx import Entry
from packager.files.hashes import sha256_of
from packager.files.processes import downloads

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements" / "test.txt"
PINNED = re.compile(r"^[A-Za-z0-9._-]+==[^\\]+")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
EXTRAS = ("android", "spdx", "web", "xcode")
"""extras whose libraries are pinned"""
CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: MIT License": "MIT",
}


def pins(path: Path = PINS) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name -> version and sha256 of each file of that version, for this system and Python."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    name = version = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if start := PINNED.match(line):
            requirement = Requirement(start[0].strip())
            is_for_this = requirement.marker is None or requirement.marker.evaluate()
            name = canonicalize_name(requirement.name) if is_for_this else ""
            version = str(requirement.specifier).removeprefix("==")
        if name:
            _, digests = found.get(name, (version, ()))
            found[name] = (version, (*digests, *HASH.findall(line)))
    return found


def packed(wheel: Path) -> Distribution:
    """The metadata in a wheel: an installed mobpack may be older."""
    name, version, *_ = wheel.name.split("-")
    return PathDistribution(PathInZip(wheel, f"{name}-{version}.dist-info/"))


def needed_by(package: Distribution, extras: tuple[str, ...] = ("",)) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names and extras of the libraries that a distribution needs on this system."""
    for text in package.requires or ():
        requirement = Requirement(text)
        environments = ({"extra": extra} for extra in extras)
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in environments):
            yield canonicalize_name(requirement.name), ("", *sorted(requirement.extras))


def closure(names: Iterator[tuple[str, tuple[str, ...]]]) -> dict[str, set[str]]:
    """Library -> the libraries that it needs, for all that can be reached from `names`."""
    found: dict[str, set[str]] = {}
    waiting = list(names)
    while waiting:
        name, extras = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"{name} is not installed: run this in the environment of requirements/test.txt")
        needed = set(needed_by(package, extras))
        if name not in found or not {each for each, _ in needed} <= found[name]:
            found.setdefault(name, set()).update(each for each, _ in needed)
            waiting += needed
    return found


def license_of(package: Distribution) -> str:
    """SPDX expression from the metadata of a library; else its own words, or empty."""
    fields = package.metadata
    named = [(fields.get_all(name) or [""])[0] for name in ("License-Expression", "License")]
    classified = [CLASSIFIERS[each] for each in fields.get_all("Classifier") or () if each in CLASSIFIERS]
    for text in (*named, *classified):
        if expression := licenses.normalized(text.strip()):
            return expression
    words = named[1].strip().splitlines()
    return words[0] if len(words) == 1 else ""  # several are a licence's text


def library(name: str, *, is_optional: bool, pinned: Mapping[str, tuple[str, tuple[str, ...]]]) -> Entry:
    version, digests = pinned[name]
    package = distribution(name)
    if package.version != version:
        sys.exit(f"{name} {package.version} is installed, requirements/test.txt has {version}: make .venv again")
    part = Component(name=name, version=version, license=license_of(package), is_optional=is_optional)
    address = purl("pypi", name, version)
    files = [{"type": "distribution", "url": address, "hashes": [*map(_digest, digests)]}] if digests else []
    return cyclonedx.component(
        part, **cyclonedx.compact({"bom-ref": address, "purl": address, "externalReferences": files})
    )


def _digest(found: str) -> Entry:
    return cyclonedx.sha256(found)[0]


def bill(folder: Path) -> str:
    """The bill of the release in `folder`."""
    root = Component(
        name="mobpack", version=__version__, license="Apache-2.0", purl=purl("pypi", "mobpack", __version__)
    )
    files = [
        {"type": "distribution", "url": path.name, "hashes": cyclonedx.sha256(sha256_of(path))}
        for path in sorted((*folder.glob("*.whl"), *folder.glob("*.tar.gz")))
    ]
    own = packed(next(folder.glob("*.whl")))
    required = closure(needed_by(own))
    every = closure(needed_by(own, ("", *EXTRAS)))
    pinned, headers = pins(), _headers()
    graph = {purl("pypi", name, pinned[name][0]): {*_references(every[name], pinned)} for name in every}
    direct = {name for name, _ in needed_by(own, ("", *EXTRAS))}
    return cyclonedx.document(
        cyclonedx.component(root, type="application", externalReferences=files),
        [
            *(library(name, is_optional=name not in required, pinned=pinned) for name in sorted(every)),
            cyclonedx.component(headers),
        ],
        {
            root.purl: {*_references(direct, pinned), cyclonedx.reference(headers)},
            cyclonedx.reference(headers): (),
            **graph,
        },
        [cyclonedx.tool("hatchling", distribution("hatchling").version, "MIT")],
    )


def _references(names: set[str], pinned: Mapping[str, tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    for name in names:
        yield purl("pypi", name, pinned[name][0])


def _headers() -> Component:
    """The only files in the wheel that are not mobpack's own."""
    version = downloads.pins()["ios"]["version"]
    return Component(
        name="onnxruntime",
        version=version,
        purl=purl("generic", "onnxruntime", version),
        license=downloads.pins()["licenses"]["onnxruntime"],
        about="C headers of ONNX Runtime in templates/ios/onnxruntime, unchanged",
    )


if __name__ == "__main__":
    sys.stdout.write(bill(Path(sys.argv[1])))
