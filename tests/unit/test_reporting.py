"""The report as JSON: complete, valid for its schema, and without traces of this machine."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from packager.core.findings import Report
from packager.reporting import Extras, as_text, document, plain, write
from packager.reporting.describing import NOTHING_MORE
from packager.reporting.places import placeless
from packager.workflows import reference
from tests.cases.reporting_cases import (
    BAD,
    EXTRAS,
    FAILURE,
    FIXED,
    GOOD,
    GOOD_REPORT,
    KERNELS,
    NOT_HERE,
    ODD,
    PARITIES,
    PLANS,
    REPORT,
    UNFUSED,
    parity,
)
from tests.cases.schemas import jsonschema

SCHEMA = Path(__file__).parents[2] / "docs" / "report.schema.json"
NOTHING = Report(parities=())


def as_json(report: Report = REPORT, extras: Extras = EXTRAS) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(as_text(document(PLANS, report, extras)))
    return found


@cache
def validator() -> Any:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def errors(found: object) -> list[str]:
    return [each.message for each in validator().iter_errors(found)]


def test_reports_keep_to_their_schema() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == reference.report_schema()
    for report in [REPORT, GOOD_REPORT, NOTHING]:
        for extras in [EXTRAS, NOTHING_MORE]:
            assert errors(as_json(report, extras)) == []
    for spoil in [without_verdict, with_another_key, with_a_word_for_a_number, of_another_version]:
        found = as_json()
        assert errors(found) == []
        spoil(found)
        assert len(errors(found)) == 1
    keys = re.findall(r'"([^"]+)":', as_text(document(PLANS, REPORT, EXTRAS)))
    assert "max-rel-error" in keys
    assert [key for key in keys if "_" in key] == []


def without_verdict(found: dict[str, Any]) -> None:
    del found["verdict"]


def with_another_key(found: dict[str, Any]) -> None:
    found["parity"][0]["speed"] = 1


def with_a_word_for_a_number(found: dict[str, Any]) -> None:
    found["parity"][0]["outputs"][0]["cosine"] = "high"


def of_another_version(found: dict[str, Any]) -> None:
    found["schema-version"] = 2


def test_json_says_what_was_found() -> None:
    found = as_json()
    assert found["verdict"] == "failed"
    assert [each["state"] for each in found["parity"]] == [*["passed"] * 3, *["skipped"] * 3, "failed", "refused"]
    assert found["parity"][3]["skipped"] == NOT_HERE
    worst = found["parity"][6]["outputs"][1]
    assert (worst["name"], worst["max-rel-error"], worst["failure"]) == (ODD, 0.34, BAD.failure)
    assert (worst["top1-agreement"], worst["histogram"][8]) == (0.9995, 5000)
    assert found["parity"][6]["outputs"][2]["max-abs-error"] == "infinity"
    assert [each["size-bytes"] for each in found["files"]] == [1_900_000, 1_900_000, 6_780_000]
    assert found["plans"][0]["choices"][0]["chips"] == ["SM8650"]
    assert found["partitions"][0]["left"][0]["example"] == "/head/Softmax"
    assert [each["skipped"] for each in found["kernels"]] == ["", "needs FP16"]
    assert found["models"][0]["opsets"] == {"ai.onnx": 17, "com.microsoft": 1}
    assert found["failures"][0]["node"] == FAILURE.node
    assert [each["output-sqnr-db"] for each in found["layers"][0]["layers"]] == [45.0, 15.0, "-infinity", "infinity"]
    assert [each["gives"] for each in found["layers"][0]["layers"]] == ["integers", "integers", "integers", "float"]
    assert found["latencies"][0]["ratio"] == 0.5
    assert found["stopped-by"] == list(EXTRAS.stopped_by)


def test_what_nobody_ran_has_not_passed() -> None:
    for report, extras, verdict in [
        (REPORT, NOTHING_MORE, "failed"),
        (GOOD_REPORT, NOTHING_MORE, "passed"),
        (GOOD_REPORT, Extras(stopped_by=("a gate",)), "failed"),
        (replace(GOOD_REPORT, parities=(parity("cpu", FIXED, BAD),)), NOTHING_MORE, "failed"),
        (Report(parities=(parity("arm64", FIXED, skipped="missing"),)), NOTHING_MORE, "not checked"),
        (Report(parities=(parity("coreml", FIXED, refusal="no"),)), NOTHING_MORE, "not checked"),
        (NOTHING, NOTHING_MORE, "not checked"),
    ]:
        assert document(PLANS, report, extras).verdict == verdict


def test_the_same_report_gives_the_same_bytes_in_order(tmp_path: Path) -> None:
    write(PLANS, REPORT, tmp_path / "one", EXTRAS)
    write(PLANS, REPORT, tmp_path / "deep" / "two", EXTRAS, name="other")
    for suffix in ("json", "html"):
        content = (tmp_path / "one" / f"report.{suffix}").read_bytes()
        assert content == (tmp_path / "deep" / "two" / f"other.{suffix}").read_bytes()
        assert b"\r" not in content
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["report.html", "report.json"]
    assert list(plain({"b": 1, "a": 2})) == ["a", "b"]
    odd = replace(GOOD, max_abs_error=float("nan"), sqnr_db=float("-inf"), cosine=1 / 3)
    found = as_json(Report(parities=(parity("cpu", UNFUSED, odd),)))["parity"][0]["outputs"][0]
    assert (found["max-abs-error"], found["sqnr-db"], found["cosine"]) == ("not a number", "-infinity", 0.333333)


def test_the_folders_of_this_machine_stay_here(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "model.ort"
    assert placeless(f"cannot load '{file}': no such file") == "cannot load 'model.ort': no such file"
    assert placeless(f"{Path.home()}/a/b.onnx and {Path.cwd() / 'c.onnx'}") == "b.onnx and c.onnx"
    assert placeless("node /encoder/layer.0/MatMul differs") == "node /encoder/layer.0/MatMul differs"
    spoken = [
        parity("cpu", FIXED, refusal=f"{file} is broken"),
        parity("arm64", FIXED, skipped=f"{file} is missing"),
        replace(PARITIES[0], runs_on=f"Python of {file}"),
    ]
    failure = replace(FAILURE, evidence=file, message=f"see {file}", node=f"in {file}", hint=f"look at {file}")
    kernels = (replace(KERNELS[1], skipped=f"{file} does not load"),)
    report = Report(parities=tuple(spoken), failures=(failure,), kernels=kernels)
    text = as_text(document(PLANS, report, Extras(warnings=(f"{file} is large",), stopped_by=(f"{file}",))))
    assert str(tmp_path) not in text
    assert text.count("model.ort") == 10
