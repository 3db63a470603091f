"""Writes an Xcode project whose test measures and checks the models of a Swift package on a device, or measures ways to
run them."""

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from packager.core.errors import ConfigError
from packager.core.values import Sources
from packager.files.atomic import atomic_files
from packager.files.hashes import known_sha256
from packager.files.installed import templates_folder
from packager.render.templates import render, write_sources

TEMPLATES = PurePosixPath("device_xcode")
PROJECT = "DeviceTests"
BUNDLE_ID = "dev.mobpack.device-tests"
PRODUCT = re.compile(r'\.library\(\s*name: "(\w+)"')
MODEL = re.compile(r"^public final class (\w+): TypedModel\b", re.MULTILINE)
TUNING = "enum Tuning {"
PROOF = "public struct Proof: "
PROVIDER = re.compile(r'^    case \w+ = "(\w+)"$', re.MULTILINE)
PROVIDERS = "public enum Provider: String"
CPU = "CPU"
SUFFIX = ".j2"
MEASURING = (PurePosixPath("Tests/DeviceTests.swift"),)
TUNING_FILES = tuple(PurePosixPath("Tests") / name for name in ("TuneTests.swift", "Search.swift", "Journal.swift"))


@dataclass(frozen=True, kw_only=True)
class CandidateView:
    """One way to run a model."""

    provider: str
    """ONNX Runtime's name for it"""
    threads: int = 0
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlanView:
    """The search that the test makes instead of measuring the package as it is."""

    candidates: tuple[CandidateView, ...]
    """those without settings first, in the order in which the package tries them"""
    most: int
    """candidates for a model"""
    minutes: float
    """for a model"""
    seconds: float
    """of timed runs in a round"""
    runs: int
    """in a round"""
    pause: float
    """seconds before each round"""
    variant: str = ""
    """of the models in the package; empty if no manifest tells it"""
    id: str = ""
    """of a search in a package, which goes on where it was"""


@dataclass(frozen=True, kw_only=True)
class ProjectView:
    module: str
    package_path: str
    """from the project's folder, with `/` between folders"""
    bundle_id: str


@dataclass(frozen=True, kw_only=True)
class XcodeReadmeView:
    module: str
    package_path: str
    plan: PlanView | None
    """of a search; None where the package is measured as it is"""


@dataclass(frozen=True, kw_only=True)
class ModelsView:
    package: str
    """name of its folder"""
    sha256: str
    """of the archive that the build has made of it, beside it; else of its files"""
    module: str
    classes: tuple[str, ...]
    is_tuned: bool
    """whether the package follows settings by chip, which are off while it is measured"""
    has_proof: bool
    """whether its models can prove their providers"""


def write_device_tests(package: Path, output: Path, plan: PlanView | None = None) -> tuple[Path, ModelsView]:
    """Writes the project for the Swift package in the folder `package` to `output`/DeviceTests, which replaces an older
    one, and returns its folder. With a plan, the test makes that search.

    Raises ConfigError if `package` is none of mobpack's, ToolError if nothing can be written.
    """
    folder = output / PROJECT
    view = models_of(package)
    place = Path(os.path.relpath(package.absolute(), folder.absolute())).as_posix()
    sources = Sources(texts=_texts(view, place, plan), files={})
    with atomic_files(output) as unfinished:
        write_sources(sources, unfinished / PROJECT)
        shutil.rmtree(folder, ignore_errors=True)
    return folder, view


def models_of(package: Path) -> ModelsView:
    """The models of a Swift package, by its sources. Raises ConfigError if it is none of mobpack's."""
    manifest = package / "Package.swift"
    if not manifest.is_file():
        raise ConfigError(
            f"{package} is not a Swift package: it has no Package.swift",
            hint="give the folder that a build for iOS made, dist/swift/NAME",
        )
    found = PRODUCT.search(manifest.read_text(encoding="utf-8"))
    texts = _swift(package)
    classes = sorted(name for text in texts for name in MODEL.findall(text))
    if not found or not classes:
        raise ConfigError(f"{package} has no models of mobpack's", hint="give the folder dist/swift/NAME of a build")
    return ModelsView(
        package=package.absolute().name,
        sha256=_sha256(package.absolute()),
        module=found[1],
        classes=tuple(classes),
        is_tuned=any(TUNING in text for text in texts),
        has_proof=any(PROOF in text for text in texts),
    )


def providers_of(package: Path) -> tuple[str, ...]:
    """The providers of a Swift package by ONNX Runtime's names, in the order in which it tries them; not the CPU."""
    texts = (text for text in _swift(package) if PROVIDERS in text)
    return tuple(name for text in texts for name in PROVIDER.findall(text) if name != CPU)


def _sha256(package: Path) -> str:
    archives = [
        path for path in package.parent.glob(f"{package.name}-*.zip") if path.name[len(package.name) + 1].isdigit()
    ]
    if len(archives) == 1:
        return known_sha256(archives[0])
    files = sorted(path for path in package.rglob("*") if path.is_file())
    lines = (f"{known_sha256(path)}  {path.relative_to(package).as_posix()}\n" for path in files)
    return sha256("".join(lines).encode()).hexdigest()


def _swift(package: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((package / "Sources").rglob("*.swift"))]


def _texts(view: ModelsView, package_path: str, plan: PlanView | None) -> dict[PurePosixPath, str]:
    views: dict[str, ModelsView | ProjectView | XcodeReadmeView | PlanView] = {
        "Tests/Models.swift": view,
        f"{PROJECT}.xcodeproj/project.pbxproj": ProjectView(
            module=view.module, package_path=package_path, bundle_id=BUNDLE_ID
        ),
        "README.md": XcodeReadmeView(module=view.module, package_path=package_path, plan=plan),
    }
    if plan:
        views["Tests/Plan.swift"] = replace(plan, id=_id(view, plan))
    root = templates_folder() / TEMPLATES
    names = (PurePosixPath(path.relative_to(root).as_posix()) for path in sorted(root.rglob("*")) if path.is_file())
    others = MEASURING if plan else TUNING_FILES
    copied = {
        name: (root / name).read_text(encoding="utf-8")
        for name in names
        if name.suffix != SUFFIX and name not in others
    }
    printed = {PurePosixPath(name): render(str(TEMPLATES / f"{name}{SUFFIX}"), each) for name, each in views.items()}
    return copied | printed


def _id(view: ModelsView, plan: PlanView) -> str:
    return sha256(json.dumps([view.sha256, asdict(plan)]).encode()).hexdigest()[:16]
