"""Bills of materials: valid CycloneDX, complete, the same bytes every time, inside every package and beside it."""

import json
import sys
from dataclasses import replace
from io import BytesIO

import pytest
from packageurl import PackageURL

from packager.core import components
from packager.core.components import Parts
from packager.core.errors import ToolError
from packager.core.findings import OutputError, Parity, Report
from packager.distribution import sbom
from packager.distribution.sbom import DescribedModels
from packager.targets.ios import Ios
from tests.cases.sbom import CARD, RECIPES, assert_valid, component, written
from tests.golden.cases import CASES, IOS_CASES, REACT_NATIVE_CASES, Case


def parts_of(case: Case) -> Parts:
    if isinstance(case.target, Ios):
        return case.target.parts(case.target.view(case.package, case.plans, case.report, golden=case.golden))
    return case.target.parts(case.target.view(case.package, case.plans, case.report, golden=case.golden))


def test_bills_of_all_targets_are_valid() -> None:
    for case in CASES:
        bill = assert_valid(written(CASES[case].package, parts_of(CASES[case]), CASES[case].plans))
        (runtime,) = [each for each in bill["components"] if each["name"].startswith("onnxruntime-android")]
        assert runtime["purl"] == f"pkg:maven/com.microsoft.onnxruntime/{runtime['name']}@{runtime['version']}?type=aar"
        assert component(bill, "kotlin-stdlib")["licenses"] == [{"license": {"id": "Apache-2.0"}}]
        assert bill["metadata"]["component"]["purl"].endswith("?type=aar")
    for case in IOS_CASES:
        found = IOS_CASES[case]
        bill = assert_valid(written(found.package, parts_of(found), found.plans))
        (runtime,) = [each for each in bill["components"] if each["name"].startswith("onnxruntime")]
        assert runtime["hashes"][0]["content"] in runtime["purl"]
        moved = replace(found, package=replace(found.package, scm="https://github.com/example/vision.git"))
        bill = assert_valid(written(moved.package, parts_of(moved), moved.plans))
        version = found.package.version
        assert bill["metadata"]["component"]["purl"] == f"pkg:swift/github.com/example/vision@{version}"
    for case in REACT_NATIVE_CASES:
        wrapped = REACT_NATIVE_CASES[case]
        parts = wrapped.target.parts(wrapped.view())
        bill = assert_valid(written(wrapped.package, parts, (*wrapped.android.plans, *wrapped.ios.plans)))
        assert bill["metadata"]["component"]["purl"].startswith("pkg:npm/")
        assert component(bill, "onnxruntime-c")["purl"].startswith("pkg:cocoapods/onnxruntime-c@")
        assert component(bill, "onnxruntime-web")["scope"] == "optional"


VISION = CASES["image_classifier"]


def test_the_serial_number_follows_the_content_and_the_task_the_contract() -> None:
    first, again = (json.loads(written(VISION.package, parts_of(VISION), VISION.plans)) for _ in range(2))
    assert first == again
    other = json.loads(written(VISION.package, parts_of(CASES["everything"]), VISION.plans))
    assert other["serialNumber"] != first["serialNumber"]
    case = CASES["contracts"]
    bill = assert_valid(written(case.package, parts_of(case), case.plans))
    tasks = {each["modelCard"]["modelParameters"]["task"] for each in bill["components"] if "modelCard" in each}
    assert "image to classes" in tasks
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
    case = replace(VISION, package=replace(VISION.package, license="Acme terms 1"))
    described = DescribedModels(cards={}, recipes={})
    text = sbom.spdx(case.package, parts_of(case), case.plans, described, case.report)
    assert '"simplelicensing_licenseExpression": "LicenseRef-Acme-terms-1"' in text


def test_spdx_has_the_same_parts_and_the_same_bytes_every_time() -> None:
    """The library refuses wrong types and cardinalities when it writes, and when it reads."""
    for case in CASES:
        found = CASES[case]
        described = DescribedModels(cards={plan.model.name: CARD for plan in found.plans}, recipes=RECIPES)
        text, again = (
            sbom.spdx(found.package, parts_of(found), found.plans, described, found.report) for _ in range(2)
        )
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


def test_without_its_library_spdx_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spdx_python_model", None)
    with pytest.raises(ToolError, match="SPDX needs spdx-python-model") as error:
        sbom.spdx_library()
    assert error.value.hint == "pip install 'mobpack[spdx]'"
