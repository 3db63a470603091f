"""Bills of materials: valid CycloneDX, complete, the same bytes every time, inside every package and beside it."""

import json
import sys
import tarfile
import zipfile
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from packager import description
from packager.core import components
from packager.core.card import Card, Dataset, Metric
from packager.core.components import Parts
from packager.core.errors import ToolError
from packager.core.findings import OutputError, Parity, Report
from packager.core.values import Package, Plan
from packager.distribution import sbom
from packager.distribution.sbom import DescribedModels
from packager.targets.ios import Ios
from tests.golden.cases import CASES, IOS_CASES, REACT_NATIVE_CASES, WEB_CASES, Case
from tests.onnx_text import linear, saved
from tests.toolchain import command
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = pytest.mark.by_content

CARD = Card(
    license="Apache-2.0",
    version="2.1",
    source="https://example.com/net",
    author="Ada Lovelace",
    description="Tells page from picture.",
    architecture="PP-LCNet",
    learning="supervised",
    datasets=(
        Dataset(name="pages", url="https://example.com/pages", license="CC-BY-4.0", sensitive=("names",)),
        Dataset(name="pages", use="evaluation"),
    ),
    metrics=(Metric(name="top-1 accuracy", value=0.94, on="a test set"),),
    users=("apps that scan",),
    uses=("turning pages",),
    limits=("columns were not tried",),
    trade_offs=("8-bit weights",),
    ethics=("none known",),
)
RECIPES: dict[str, object] = {"fp32": {"quantizer": "static-qdq", "weights": "int8"}}


def parts_of(case: Case) -> Parts:
    if isinstance(case.target, Ios):
        return case.target.parts(case.target.view(case.package, case.plans, case.report, golden=case.golden))
    return case.target.parts(case.target.view(case.package, case.plans, case.report, golden=case.golden))


def written(package: Package, parts: Parts, plans: tuple[Plan, ...], report: Report | None = None) -> str:
    described = DescribedModels(cards={plan.model.name: CARD for plan in plans}, recipes=RECIPES)
    return sbom.bill(package, parts, plans, described, report or Report(parities=()))


@cache
def validator(version: SchemaVersion) -> JsonStrictValidator:
    return JsonStrictValidator(version)


def assert_valid(text: str) -> dict[str, Any]:
    """Valid as 1.6 and, with its number, as 1.7; references are unique and lead somewhere; URLs are canonical."""
    assert validator(SchemaVersion.V1_6).validate_str(text) is None
    bill: dict[str, Any] = json.loads(text)
    newer = {**bill, "$schema": "http://cyclonedx.org/schema/bom-1.7.schema.json", "specVersion": "1.7"}
    assert validator(SchemaVersion.V1_7).validate_str(json.dumps(newer)) is None
    references = list(references_in(bill))
    assert len(set(references)) == len(references)
    for each in bill["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= set(references)
    for each in (bill["metadata"]["component"], *bill["components"]):
        if "purl" in each:
            assert PackageURL.from_string(each["purl"]).to_string() == each["purl"]
    return bill


def references_in(value: Any) -> Any:
    if isinstance(value, dict):
        if "bom-ref" in value:
            yield value["bom-ref"]
        for each in value.values():
            yield from references_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from references_in(each)


def component(bill: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in bill["components"] if each["name"] == name]
    return dict(found)


@pytest.mark.parametrize("case", CASES)
def test_bills_of_android_libraries_are_valid(case: str) -> None:
    bill = assert_valid(written(CASES[case].package, parts_of(CASES[case]), CASES[case].plans))
    (runtime,) = [each for each in bill["components"] if each["name"].startswith("onnxruntime-android")]
    assert runtime["purl"] == f"pkg:maven/com.microsoft.onnxruntime/{runtime['name']}@{runtime['version']}?type=aar"
    assert component(bill, "kotlin-stdlib")["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    assert bill["metadata"]["component"]["purl"].endswith("?type=aar")


@pytest.mark.parametrize("case", IOS_CASES)
def test_bills_of_swift_packages_are_valid(case: str) -> None:
    found = IOS_CASES[case]
    bill = assert_valid(written(found.package, parts_of(found), found.plans))
    (runtime,) = [each for each in bill["components"] if each["name"].startswith("onnxruntime")]
    assert runtime["hashes"][0]["content"] in runtime["purl"]
    moved = replace(found, package=replace(found.package, scm="https://github.com/example/vision.git"))
    bill = assert_valid(written(moved.package, parts_of(moved), moved.plans))
    version = found.package.version
    assert bill["metadata"]["component"]["purl"] == f"pkg:swift/github.com/example/vision@{version}"


@pytest.mark.parametrize("case", REACT_NATIVE_CASES)
def test_bills_of_react_native_modules_are_valid(case: str) -> None:
    found = REACT_NATIVE_CASES[case]
    parts = found.target.parts(found.view())
    bill = assert_valid(written(found.package, parts, (*found.android.plans, *found.ios.plans)))
    assert bill["metadata"]["component"]["purl"].startswith("pkg:npm/")
    assert component(bill, "onnxruntime-c")["purl"].startswith("pkg:cocoapods/onnxruntime-c@")
    assert component(bill, "onnxruntime-web")["scope"] == "optional"


@pytest.mark.react_native
@pytest.mark.parametrize("case", WEB_CASES)
def test_bills_of_web_packages_are_valid(case: str) -> None:
    found = WEB_CASES[case]
    view = found.target.view(found.package, found.plans, Report(parities=()), golden=found.golden)
    bill = assert_valid(written(found.package, found.target.parts(view), found.plans))
    assert component(bill, "onnxruntime-web")["hashes"][0]["alg"] == "SHA-256"


VISION = CASES["image_classifier"]


def test_a_runtime_of_the_projects_own_is_named_by_its_hash() -> None:
    part = components.own_runtime("1.29.0", "MIT", sha256="ab" * 32)
    assert PackageURL.from_string(part.purl).qualifiers == {"checksum": f"sha256:{'ab' * 32}"}
    assert_valid(written(VISION.package, Parts(package=parts_of(VISION).package, libraries=(part,)), VISION.plans))


def test_the_model_card_has_all_that_the_project_says() -> None:
    bill = assert_valid(written(VISION.package, parts_of(VISION), VISION.plans))
    (model,) = [each for each in bill["components"] if each["type"] == "machine-learning-model"]
    assert model["hashes"] == [{"alg": "SHA-256", "content": VISION.plans[0].model.sha256}]
    assert (model["version"], model["licenses"]) == ("2.1", [{"license": {"id": "Apache-2.0"}}])
    card = model["modelCard"]
    assert card["modelParameters"]["approach"] == {"type": "supervised"}
    assert card["modelParameters"]["datasets"][0]["sensitiveData"] == ["names"]
    assert card["modelParameters"]["inputs"]
    assert card["quantitativeAnalysis"]["performanceMetrics"] == [
        {"type": "top-1 accuracy", "value": "0.94", "slice": "a test set"}
    ]
    assert card["considerations"]["technicalLimitations"] == ["columns were not tried"]
    told = {each["name"]: each["value"] for each in card["properties"]}
    assert json.loads(told["mobpack:quantization:fp32"]) == RECIPES["fp32"]
    assert {each["hashes"][0]["content"] for each in model["components"]} == {
        file.sha256 for plan in VISION.plans for file in plan.files
    }


def test_the_task_comes_from_the_contract() -> None:
    case = CASES["contracts"]
    bill = assert_valid(written(case.package, parts_of(case), case.plans))
    tasks = {each["modelCard"]["modelParameters"]["task"] for each in bill["components"] if "modelCard" in each}
    assert "image to classes" in tasks


def test_measured_errors_are_in_the_bill_with_a_report_alone() -> None:
    """The bytes of a package must not depend on the processor."""
    file = VISION.plans[0].files[0]
    error = OutputError(output="y", max_abs_error=1e-7, max_rel_error=2.3456e-7, worst_sample=0, top1_agreement=1.0)
    ran = Parity(
        model=VISION.plans[0].model.name,
        variant="fp32",
        runner="cpu",
        sample_count=3,
        samples="3 random",
        tolerance=1e-3,
        atol=1e-5,
        sha256=file.sha256,
        outputs=(error,),
    )
    skipped = replace(ran, runner="arm64", skipped="no emulator")
    without = written(VISION.package, parts_of(VISION), VISION.plans)
    assert "2.34" not in without
    bill = assert_valid(written(VISION.package, parts_of(VISION), VISION.plans, Report(parities=(ran, skipped))))
    (model,) = [each for each in bill["components"] if each["type"] == "machine-learning-model"]
    declared, measured, agreement = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    assert (declared["value"], measured["value"], agreement["value"]) == ("0.94", "2.35e-07", "1")
    assert measured["slice"].startswith("fp32, ")
    limits = model["modelCard"]["considerations"]["technicalLimitations"]
    assert limits[1:] == ["files may differ from the original by 1e-05 + 0.001 x the output's scale"]


def test_terms_that_spdx_does_not_list_are_written_as_they_are() -> None:
    for text, entry in {
        "Proprietary": {"license": {"name": "Proprietary"}},
        "MIT or Apache-2.0": {"expression": "MIT OR Apache-2.0"},
        "LicenseRef-Acme": {"expression": "LicenseRef-Acme"},
    }.items():
        case = replace(VISION, package=replace(VISION.package, license=text))
        bill = assert_valid(written(case.package, parts_of(case), case.plans))
        assert bill["metadata"]["component"]["licenses"] == [entry]


def test_the_serial_number_follows_the_content() -> None:
    first, again = (json.loads(written(VISION.package, parts_of(VISION), VISION.plans)) for _ in range(2))
    assert first == again
    other = json.loads(written(VISION.package, parts_of(CASES["everything"]), VISION.plans))
    assert other["serialNumber"] != first["serialNumber"]


@pytest.mark.parametrize("case", CASES)
def test_spdx_has_the_same_parts_and_the_same_bytes_every_time(case: str) -> None:
    """The library refuses wrong types and cardinalities when it writes, and when it reads."""
    found = CASES[case]
    described = DescribedModels(cards={plan.model.name: CARD for plan in found.plans}, recipes=RECIPES)
    text, again = (sbom.spdx(found.package, parts_of(found), found.plans, described, found.report) for _ in range(2))
    assert text == again
    read = sbom.spdx_library().SHACLObjectSet()
    sbom.spdx_library().JSONLDDeserializer().read(BytesIO(text.encode()), read)
    elements = [each for each in json.loads(text)["@graph"] if "spdxId" in each]
    assert len({each["spdxId"] for each in elements}) == len(elements)
    bill = json.loads(written(found.package, parts_of(found), found.plans, found.report))
    urls = {each["purl"] for each in (bill["metadata"]["component"], *bill["components"]) if "purl" in each}
    assert {each["software_packageUrl"] for each in elements if "software_packageUrl" in each} == urls
    models = {each["name"]: each for each in elements if each["type"] == "ai_AIPackage"}
    for each in bill["components"]:
        if each["type"] == "machine-learning-model":
            (digest,) = models[each["name"]]["verifiedUsing"]
            assert digest["hashValue"] == each["hashes"][0]["content"]
            assert models[each["name"]]["ai_limitation"].startswith("columns were not tried")
    kinds = {each["relationshipType"] for each in elements if each["type"] == "Relationship"}
    assert kinds == {"contains", "dependsOn", "hasDeclaredLicense", "testedOn", "trainedOn"}


def test_spdx_writes_terms_that_it_does_not_list_as_ones_of_their_own() -> None:
    case = replace(VISION, package=replace(VISION.package, license="Acme terms 1"))
    described = DescribedModels(cards={}, recipes={})
    text = sbom.spdx(case.package, parts_of(case), case.plans, described, case.report)
    assert '"simplelicensing_licenseExpression": "LicenseRef-Acme-terms-1"' in text


def test_without_its_library_spdx_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spdx_python_model", None)
    with pytest.raises(ToolError, match="SPDX needs spdx-python-model") as error:
        sbom.spdx_library()
    assert error.value.hint == "pip install 'mobpack[spdx]'"


@pytest.mark.kotlin
@pytest.mark.processes
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
