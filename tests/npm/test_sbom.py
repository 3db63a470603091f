"""Bills of materials: valid CycloneDX, complete, the same bytes every time, inside every package and beside it."""

import pytest

from packager.core.findings import Report
from tests.cases.sbom import assert_valid, component, written
from tests.golden.cases import WEB_CASES


@pytest.mark.parametrize("case", WEB_CASES)
def test_bills_of_web_packages_are_valid(case: str) -> None:
    found = WEB_CASES[case]
    view = found.target.view(found.package, found.plans, Report(parities=()), golden=found.golden)
    bill = assert_valid(written(found.package, found.target.parts(view), found.plans))
    assert component(bill, "onnxruntime-web")["hashes"][0]["alg"] == "SHA-256"
