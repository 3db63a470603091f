"""iOS: a Swift package is whole, states its requirements, and has the same bytes every time."""

import json
import plistlib
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.config import Config, from_document
from packager.core.class_names import RESERVED
from packager.core.console import Console
from packager.core.errors import ConfigError, SettingError
from packager.core.findings import Report
from packager.core.values import Artifact
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Store
from packager.targets.ios import Ios, texts
from packager.verification import evidence
from packager.workflows.planning import adapted
from packager.workflows.runtimes import choose_runtimes, runtimes_of
from tests.cases.ios_target import KIT, assembled, kit, on_disk, view_of
from tests.golden.cases import Case

__all__ = ["kit"]


HOME = PurePosixPath("Sources/VisionModels")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"providers": ("cormel",)}, "unknown provider 'cormel'|did you mean 'coreml'?"),
        ({"providers": ("cpu",)}, "unknown provider 'cpu'|leave it out: the CPU is always tried last"),
        ({"providers": ("qnn",)}, "provider 'qnn' does not run on iOS|known: coreml, xnnpack"),
        ({"providers": ("coreml", "coreml")}, "provider 'coreml' is listed twice|"),
        ({"module": "page-kit"}, "module 'page-kit' is not a valid name for a Swift module|"),
        ({"min_ios": "12.0"}, 'min-ios "12.0" is too old|ONNX Runtime needs 15.1 or later'),
        ({"min_ios": "15"}, 'min-ios "15" is not a version|for example: min-ios = "15.1"'),
        ({"min_macos": "13.9"}, 'min-macos "13.9" is too old|'),
    ],
)
def test_impossible_values_are_refused_in_words(fields: dict[str, object], message: str) -> None:
    said, _, hint = message.partition("|")
    with pytest.raises(SettingError) as caught:
        Ios(**fields)  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert hint in caught.value.hint


def test_only_an_emitted_project_has_the_script_and_no_class_the_name_of_a_shared_file(kit: Case) -> None:
    assert [name for name in texts.ALWAYS if name.lower() not in RESERVED] == []
    assert not [name for name in kit.texts() if name.suffix == ".sh"]
    target = Ios(min_ios="17.0", min_macos="15.0")
    view = target.view(KIT.package, KIT.plans, Report(parities=()))
    assert 'platforms: [.iOS("17.0"), .macOS("15.0")]' in target.render(view).texts[PurePosixPath("Package.swift")]


def test_every_resource_header_and_reason_is_where_apple_looks_for_it(kit: Case) -> None:
    view = view_of(kit)
    files = kit.sources().files
    assert {f"classifier/{name}" for name in ("model.ort", "unfused.ort", "golden.safetensors")} == {
        resource.path for resource in view.resources
    }
    assert all(files[HOME / "Resources/Models" / each.path] == each.file for each in view.resources)
    folder = templates_folder() / "ios/onnxruntime/include"
    assert {path.name: sha256_of(path) for path in folder.iterdir()} == downloads.pins()["ios"]["headers"]
    files = KIT.sources().files
    assert {name.name for name in files if name.is_relative_to("Sources/CVisionModels/include")} == set(
        downloads.pins()["ios"]["headers"]
    )
    assert PurePosixPath("LICENSE-onnxruntime.txt") in files
    document = plistlib.loads(KIT.texts()[HOME / "Resources/PrivacyInfo.xcprivacy"].encode())
    assert document["NSPrivacyTracking"] is False
    reasons = {
        each["NSPrivacyAccessedAPIType"]: each["NSPrivacyAccessedAPITypeReasons"]
        for each in document["NSPrivacyAccessedAPITypes"]
    }
    assert reasons["NSPrivacyAccessedAPICategoryFileTimestamp"] == ["C617.1"]
    assert all(reasons.values())


def unpacked(artifact: Artifact, folder: Path) -> Path:
    with zipfile.ZipFile(artifact.path) as archive:
        archive.extractall(folder)
    return folder / artifact.path.stem


def test_the_same_package_is_the_same_archive_in_one_folder(kit: Case, tmp_path: Path) -> None:
    _, sources, artifact = assembled(kit, tmp_path / "store")
    assert (artifact.kind, artifact.path.name) == ("swift-package", "vision-1.0.0.zip")
    folder = unpacked(artifact, tmp_path)
    inside = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert inside == {str(path) for path in (*sources.texts, *sources.files)}
    assert (folder / HOME / "Resources/Models/classifier/model.ort").read_text() == "fixed of classifier"
    first = assembled(kit, tmp_path / "one")[2]
    again = assembled(on_disk(KIT, tmp_path / "elsewhere"), tmp_path / "two")[2]
    other = assembled(replace(kit, package=replace(kit.package, description="Other.")), tmp_path / "one")[2]
    assert first.path != again.path
    assert first.sha256 == again.sha256
    assert other.sha256 != first.sha256, "the description is in the README"


def test_a_release_has_the_archive_its_checksum_and_the_folder(kit: Case, tmp_path: Path) -> None:
    view, sources, _ = assembled(kit, tmp_path / "store")
    assert isinstance(kit.target, Ios)
    shipped = kit.target.layout(view, kit.target.assemble(view, sources, Store(tmp_path)), tmp_path / "dist")
    assert {each.path: each.artifact.kind for each in shipped} == {
        "swift/vision-1.0.0.zip": "swift-package",
        "swift/onnxruntime-binary-1.29.0.zip": "swift-runtime",
        "swift/vision-1.0.0.json": "swift-registry",
    }
    entry = json.loads((tmp_path / "dist/swift/vision-1.0.0.json").read_text())
    (resource,) = entry["resources"]
    assert resource["checksum"] == sha256_of(tmp_path / "dist/swift/vision-1.0.0.zip")
    folder = tmp_path / "dist/swift/vision"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        str(path) for path in (*sources.texts, *sources.files)
    }
    assert (folder / "Package.swift").read_text() == sources.texts[PurePosixPath("Package.swift")]


RUNTIME = {"ios": "https://example.com/onnxruntime.xcframework.zip", "ios-checksum": "c" * 64}


def configured(runtime: dict[str, str], **target: str) -> Config:
    document = {
        "package": {"name": "p"},
        "model": {"m": {"path": "m.onnx"}},
        "runtime": runtime,
        "target": {"ios": {key.replace("_", "-"): value for key, value in target.items()}, "android": {}},
    }
    return from_document(document, Path("/project"), targets=(), settings=())


def test_runtimes_are_for_ios_and_proven_where_they_were_opened(tmp_path: Path) -> None:
    config, store = configured(RUNTIME), Store(tmp_path)
    chosen = choose_runtimes(config, ("android", "ios"), store, Console(quiet=True))
    assert list(chosen) == ["ios"]
    assert runtimes_of(config, ("android", "ios"), chosen) == {
        "android": config.targets()["android"].published_runtime(),
        "ios": RUNTIME["ios"],
    }
    assert choose_runtimes(config, ("android",), store, Console(quiet=True)) == {}
    config = configured(RUNTIME)
    chosen = choose_runtimes(config, ("ios",), Store(tmp_path), Console(quiet=True))
    (proof, *_) = evidence.judge_unopened([KIT.plans[0].cpu], config, chosen["ios"])
    assert (proof.runtime, proof.skipped) == (
        RUNTIME["ios"],
        "the runtime names no operator configuration and is not opened here",
    )
    (tmp_path / "reduced.config").write_text("ai.onnx;13;Relu\n")
    config = configured({**RUNTIME, "config": str(tmp_path / "reduced.config")})
    chosen = choose_runtimes(config, ("ios",), Store(tmp_path), Console(quiet=True))
    assert adapted(config.targets()["ios"], chosen["ios"]).format == "ort"
    with pytest.raises(ConfigError, match='format = "onnx" with a reduced runtime'):
        choose_runtimes(
            configured({**RUNTIME, "config": str(tmp_path / "reduced.config")}, format="onnx"),
            ("ios",),
            Store(tmp_path),
            Console(quiet=True),
        )


def test_a_models_licence_is_in_the_package(kit: Case, tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("Do what you like.")
    (plan,) = kit.plans
    licensed = replace(kit, plans=(replace(plan, model=replace(plan.model, license_file=tmp_path / "LICENSE")),))
    assert licensed.sources().files[PurePosixPath("LICENSE-classifier.txt")] == tmp_path / "LICENSE"
    assert PurePosixPath("LICENSE-classifier.txt") not in kit.sources().files


@pytest.mark.parametrize("version", ["017.0", "17", "17.0.1", "\u0967\u096d.\u0966", "17.00"])
def test_what_is_no_version_of_a_system_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"min-ios .* is not a version"):
        Ios(min_ios=version)
