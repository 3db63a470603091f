"""Flutter: a pub package has the files of the Android package, always the same bytes, and refuses what it lacks."""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager import description
from packager.config import Config, from_document
from packager.core.class_names import RESERVED
from packager.core.contract import TensorOutput
from packager.core.described import API
from packager.core.errors import GateError, ModelError, SettingError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Plan, Signature
from packager.distribution import release
from packager.distribution.differences import Level, compare
from packager.distribution.differences.reading import read
from packager.distribution.release.checking import verify_release
from packager.distribution.release.contents import model_name
from packager.files.installed import templates_folder
from packager.files.store import Store
from packager.render.templates import dart_string, write_sources
from packager.targets import included
from packager.targets.flutter import Flutter, naming
from packager.targets.flutter.license import license_text
from packager.targets.flutter.model import refuse
from packager.workflows.packages import with_texts
from packager.workflows.requested import requested_targets
from tests.cases.ios_target import on_disk
from tests.golden.cases import CONTRACTS, FLUTTER_CASES, LISTS, Published, api_of, plan, specs
from tests.golden.stored import GOLDEN
from tests.toolchain import dart_bindings
from tests.toolchain.dart import PROBLEM, configured_package, dart

CONTRACT = FLUTTER_CASES["contracts"]


TYPE = re.compile(r"^(?:(?:abstract|final|base|sealed|interface) )*(?:class|enum|extension) ([A-Z]\w*)", re.MULTILINE)
"""a declaration of Dart"""
EXPORT = re.compile(r"^export 'src/[\w/]*?(\w+\.dart)'(?: (show|hide) ([\w, ]+))?;$", re.MULTILINE)
TAGGER = next(each for each in CONTRACTS if each.model.name == "tagger")
"""a model with named parts of a text"""


def with_raw_output(tagger: Plan) -> Plan:
    """The model with a second result, beside the parts of the text."""
    model = tagger.model
    assert model.contract
    raw = specs("output", ("raw", ElementType.FLOAT, (1, "steps", 8)))
    contract = replace(model.contract, outputs=(*model.contract.outputs, TensorOutput(identifier="raw", spec=raw[0])))
    signature = replace(model.signature, outputs=(*model.signature.outputs, *raw))
    return replace(tagger, model=replace(model, name="marker", contract=contract, signature=signature))


def there(case: Published, folder: Path) -> Published:
    """The case with files on disk."""
    android = on_disk(case.android, folder / "android") if case.android else None
    return replace(case, android=android, ios=on_disk(case.ios, folder / "ios") if case.ios else None)


def packed(case: Published, store: Path) -> Path:
    """The archive."""
    view = case.view()
    (artifact,) = case.target.assemble(view, case.target.render(view), Store(store))
    return artifact.path


def inside(archive: Path) -> dict[PurePosixPath, bytes]:
    with zipfile.ZipFile(archive) as content:
        return {PurePosixPath(*PurePosixPath(name).parts[1:]): content.read(name) for name in content.namelist()}


def configured(table: Mapping[str, object], **others: Mapping[str, object]) -> Config:
    document = {
        "package": {"name": "demo"},
        "model": {"a": {"path": "a.onnx"}},
        "target": {"flutter": dict(table), **{name: dict(other) for name, other in others.items()}},
    }
    return from_document(document, Path("/project"), targets=(), settings=())


def with_plans(*plans: Plan) -> Published:
    android = FLUTTER_CASES["cpu_alone"].android
    assert android
    return replace(FLUTTER_CASES["cpu_alone"], android=replace(android, plans=plans))


def test_the_code_of_every_contract_and_type_is_clean_for_the_strictest_analyzer(tmp_path: Path) -> None:
    toolchain = dart()
    cases = {**FLUTTER_CASES, "lists": with_plans(*LISTS, with_raw_output(TAGGER))}
    for name, case in cases.items():
        write_sources(there(case, tmp_path / f"files of {name}").sources(), tmp_path / name)
        configured_package(tmp_path / name, case.view().names.pub_name)
    done = toolchain.run(["dart", "analyze", "--fatal-infos", "--format=machine", *cases], cwd=tmp_path)
    assert (done.returncode, PROBLEM.findall(done.output)) == (0, []), done.output
    done = toolchain.run(["dart", "format", "--output=none", "--set-exit-if-changed", *cases], cwd=tmp_path)
    assert done.returncode == 0, done.output


def test_bindings_are_those_of_the_carried_header() -> None:
    header = (templates_folder() / dart_bindings.HEADER).read_text(encoding="utf-8")
    written = (templates_folder() / dart_bindings.PLACE).read_text(encoding="utf-8")
    assert dart_bindings.source(header) == written, "run python -m tests.toolchain.dart_bindings --write"
    assert len(dart_bindings.functions(header)) == 425


def test_the_package_has_the_very_bytes_of_the_library_for_android(tmp_path: Path) -> None:
    case = there(FLUTTER_CASES["everything"], tmp_path / "files")
    found = inside(packed(case, tmp_path / "store"))
    models = {path.name: content for path, content in found.items() if path.parts[0] == "models"}
    shipped = {
        choice.compiled.path.read_bytes() for made in case.cases for each in made.plans for choice in each.choices
    }
    assert shipped <= set(models.values())
    listed = found[PurePosixPath("pubspec.yaml")].decode()
    assert all(f'- path: "models/{name}"' in listed for name in models)


def test_an_archive_has_the_same_bytes_again(tmp_path: Path) -> None:
    case = there(CONTRACT, tmp_path / "files")
    assert packed(case, tmp_path / "one").read_bytes() == packed(case, tmp_path / "two").read_bytes()


def test_a_release_has_the_archive_and_its_files_in_a_folder(tmp_path: Path) -> None:
    case = there(CONTRACT, tmp_path / "files")
    view = case.view()
    artifacts = case.target.assemble(view, case.target.render(view), Store(tmp_path / "store"))
    shipped = case.target.layout(view, artifacts, tmp_path / "dist")
    assert [each.path for each in shipped] == ["flutter/contracts-1.0.0.zip"]
    folder = tmp_path / "dist" / "flutter" / "contracts"
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {PurePosixPath(path): content for path, content in files.items()} == inside(artifacts[0].path)


def test_the_package_names_the_runtime_of_each_platform_in_its_bill_of_materials() -> None:
    parts = CONTRACT.target.parts(CONTRACT.view())
    assert parts.package.purl == "pkg:pub/contracts@1.0.0"
    assert [each.purl.partition("@")[0] for each in parts.libraries] == [
        "pkg:maven/com.microsoft.onnxruntime/onnxruntime-android",
        "pkg:generic/onnxruntime",
    ]


@pytest.mark.parametrize(
    ("tables", "brought"),
    [
        ((), ("android", "ios")),
        (("android",), ("android",)),
        (("ios",), ("ios",)),
        (("ios", "android", "web"), ("android", "ios", "web")),
    ],
)
def test_flutter_brings_the_targets_that_the_project_has(tables: tuple[str, ...], brought: tuple[str, ...]) -> None:
    config = configured({}, **{name: {} for name in tables})
    assert requested_targets(config, ["flutter"]) == (*brought, "flutter")
    assert included(Flutter, config.targets()) == brought


def test_complex_numbers_are_refused() -> None:
    made = plan(
        "waves",
        Signature(
            inputs=specs("input", ("x", ElementType.OTHER, (2,))),
            outputs=specs("output", ("y", ElementType.FLOAT, (2,))),
        ),
    )
    with pytest.raises(ModelError, match="input 'x' has a type that Dart cannot pass"):
        refuse(made)


@pytest.mark.parametrize(
    ("package", "name"),
    [("page-orientation", "page_orientation"), ("flutter", "flutter_models"), ("vision", "vision_models")],
)
def test_the_name_of_a_package_is_one_that_pub_takes(package: str, name: str) -> None:
    assert naming.pub_name(package) == name


@pytest.mark.parametrize("name", ["Page", "page-orientation", "1page", "class", "flutter", "p" * 65])
def test_a_name_that_pub_rejects_is_refused(name: str) -> None:
    with pytest.raises(SettingError):
        Flutter(package=name)


def test_members_and_files_have_names_of_their_own() -> None:
    assert naming.members(["x", "top"], {"top"}) == {"x": "x", "top": "topValue"}
    assert naming.file_names(["Net", "net", "a-b"]) == {"Net": "net", "net": "net_2", "a-b": "a_b"}


def test_no_model_takes_the_name_of_a_type_that_its_file_uses_or_its_package_exports() -> None:
    library = templates_folder() / "flutter" / "lib"
    declared = {
        name: file.name.removesuffix(".j2")
        for file in (library / "src").rglob("*.dart*")
        for name in TYPE.findall(file.read_text(encoding="utf-8"))
    }
    used = set(re.findall(r"\w+", (library / "src" / "models" / "model.dart.j2").read_text(encoding="utf-8")))
    packages = [library / "package.dart.j2", GOLDEN / "contracts" / "flutter" / "lib" / "contracts.dart"]
    exported = "".join(each.read_text(encoding="utf-8") for each in packages)
    for file, kind, names in EXPORT.findall(exported):
        listed = set(re.findall(r"\w+", names))
        used |= listed if kind == "show" else {each for each in declared if declared[each] == file} - listed
    assert len(used & declared.keys()) > 50
    assert {name for name in used & declared.keys() if name.lower() not in RESERVED} == set()


def test_a_string_of_dart_is_what_it_was() -> None:
    assert dart_string('a"b\\$c\n日') == '"a\\"b\\\\\\$c\\n\\u65e5"'


def shipped(case: Published, folder: Path) -> Path:
    """A release with the package alone."""
    view = case.view()
    sources = with_texts(case.target.render(view), {API: description.printed(api_of(case))})
    artifacts = case.target.assemble(view, sources, Store(folder / "store"))
    dist = folder / "dist"
    found = case.target.layout(view, artifacts, dist)
    text = release.manifest(
        case.package, case.cases[0].plans, Report(parities=()), found, warnings=(), options={}, runtimes={}
    )
    (dist / "manifest.json").write_text(text, encoding="utf-8", newline="\n")
    return dist


def test_releases_with_a_package_for_flutter_are_compared(tmp_path: Path) -> None:
    whole = there(CONTRACT, tmp_path / "files")
    old = read(shipped(whole, tmp_path / "old"))
    assert old.packages["flutter"].processors == ("android", "ios", "linux", "macos", "windows")
    assert old.packages["flutter"].depends_on == {"onnxruntime-android": "1.29.0", "onnxruntime-binary": "1.29.0"}
    phones = replace(whole, ios=None)
    changes = {each.change: each.level for each in compare(old, read(shipped(phones, tmp_path / "new"))).changes}
    assert changes["no library for ios"] is Level.MAJOR
    assert not [each for each in changes if "iOS" in each]
    archive = read(next((tmp_path / "old").glob("dist/flutter/*.zip")))
    assert archive.version == "1.0.0"
    assert compare(archive, archive).verdict is Level.NONE


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("models-1.2.3/models/scorer.ort.tflite", "scorer.ort.tflite"),
        ("models-1.2.3/web/models/scorer.ort", "web/scorer.ort"),
        ("models-1.2.3/lib/src/models/scorer.dart", ""),
        ("models-1.2.3/lib/models.dart", ""),
    ],
)
def test_a_file_of_a_model_is_told_from_code_in_a_folder_of_the_same_name(path: str, name: str) -> None:
    """A folder that is taken for one is signed, extracted and delivered."""
    assert model_name("pub-package", path) == name


def test_a_release_whose_pub_package_has_another_name_than_its_project_is_whole(tmp_path: Path) -> None:
    case = replace(CONTRACT, target=Flutter(package="other_name"))
    dist = shipped(case, tmp_path)
    assert (dist / "flutter" / "other_name" / "pubspec.yaml").is_file()
    assert verify_release(dist).unlisted == ()
    (dist / "flutter" / "other_name" / "pubspec.yaml").write_text("name: another\n", encoding="utf-8")
    with pytest.raises(GateError, match="pubspec"):
        verify_release(dist)


@pytest.mark.parametrize(
    ("terms", "developers", "first", "last"),
    [
        (
            "MIT",
            ("Ada Lovelace", "Acme"),
            "MIT License\n\nCopyright (c) Ada Lovelace, Acme\n\nPermission",
            "SOFTWARE.\n",
        ),
        ("BSD-3-Clause", (), "Copyright (c) the authors of reader\n\nRedistribution and use", "SUCH DAMAGE.\n"),
        ("Apache-2.0", (), "\n                                 Apache License\n", "under the License.\n"),
        ("LicenseRef-Acme", (), "SPDX-License-Identifier: LicenseRef-Acme\n", "has the text.\n"),
        ("", (), "Use it as you like.\n\nNot you.\n", "Not you.\n"),
    ],
)
def test_the_licence_of_a_package_is_a_text(
    terms: str, developers: tuple[str, ...], first: str, last: str, tmp_path: Path
) -> None:
    models = {"LICENSE-a.txt": tmp_path / "a", "LICENSE-b.txt": tmp_path / "b", "LICENSE-c.txt": tmp_path / "c"}
    for file, text in zip(
        models.values(), ("Use it as you like.\n", "Not you.\n", "Use it as you like.\n"), strict=True
    ):
        file.write_text(text, encoding="utf-8")
    package = Package(name="reader", version="1.0.0", license=terms, developers=developers)
    text = license_text(package, models)
    assert text.startswith(first)
    assert text.endswith(last)
    assert "HOLDERS}" not in text


def test_a_package_without_any_licence_says_so() -> None:
    assert license_text(Package(name="reader", version="1.0.0", license=""), {}).endswith("all rights reserved.\n")
