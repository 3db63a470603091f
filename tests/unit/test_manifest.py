"""The manifest describes a release's content and origin, without times or paths."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from packager.core.contract import ClassesOutput, Contract, TextInput
from packager.core.findings import OutputError, Parity, Partition, Report
from packager.core.values import (
    Artifact,
    Choice,
    Compiled,
    ElementType,
    Model,
    Package,
    Plan,
    Precision,
    Signature,
    TensorSpec,
    Traits,
    baseline,
)
from packager.distribution import release
from packager.engines.environments.runtime import Runtime
from packager.targets import Shipped

X = TensorSpec(name="x:0", identifier="x0", element=ElementType.FLOAT, shape=("batch", 3, None))
MODEL = Model(
    name="classifier",
    path=Path("/somewhere/classifier ä.onnx"),
    graph=b"",
    signature=Signature(inputs=(X,), outputs=(X,)),
    ir_version=8,
    opsets={"com.microsoft": 1, "": 17},
    operators={"Relu": 1},
    size_bytes=10,
    parameter_count=4,
    traits=Traits(precision=Precision.FLOAT32),
    sha256="ab" * 32,
)
COMPILED = Compiled(
    variant=baseline(MODEL, "fp32"),
    path=Path("/cache/model.ort"),
    sha256="cd" * 32,
    size_bytes=11,
    operators={"ai.onnx;14;Relu": ""},
    disabled_optimizers=("ConstantFolding",),
)
PARITY = Parity(
    model="classifier",
    variant="fp32",
    runner="cpu",
    sample_count=3,
    samples="3 random, seed 0",
    tolerance=1e-3,
    atol=1e-5,
    sha256="cd" * 32,
    outputs=(
        OutputError(output="x:0", max_abs_error=1.23456e-7, max_rel_error=9.87654e-8, worst_sample=2, scale=1.25),
    ),
    unstable_outputs=("noise",),
)
PACKAGE = Package(name="vision", version="1.0.0", license="Apache-2.0")


def shipped(path: str) -> Shipped:
    artifact = Artifact(target="android", kind="aar", path=Path("/cache/x.aar"), sha256="ef" * 32, size_bytes=12)
    return Shipped(artifact=artifact, path=path)


def text(
    *parities: Parity,
    compiled: Compiled = COMPILED,
    artifacts: tuple[str, ...] = ("android/b.aar", "android/a.aar"),
    model: Model = MODEL,
) -> str:
    return release.manifest(
        PACKAGE,
        [
            Plan(
                model=model,
                target="android",
                environment=Runtime.NAME,
                choices=(Choice(provider="cpu", compiled=compiled, reason="it must"),),
            )
        ],
        Report(parities=parities or (PARITY,)),
        [shipped(path) for path in artifacts],
        options={"seed": 0},
        runtimes={"android": "onnxruntime-android"},
        warnings=["old opset"],
    )


def document(*parities: Parity) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text(*parities))
    return result


def evidence(*parities: Parity, **facts: Any) -> dict[str, Any]:
    report = Report(parities=parities or (PARITY,), **facts)
    result: dict[str, Any] = json.loads(release.evidence(report, warnings=["skipped"], contradictions=["other"]))
    return result


def test_what_the_machine_measured_is_evidence_and_not_in_the_manifest() -> None:
    said = Partition(model="classifier", target="android", provider="qnn", sha256="cd" * 32, is_measured=True, by="QNN")
    found = evidence(measured=(said,))
    assert [(each["provider"], each["measured"]) for each in found["partitions"]] == [("qnn", True)]
    assert (found["warnings"], found["contradictions"]) == (["skipped"], ["other"])
    one, other = PARITY, replace(PARITY, skipped="no qemu", outputs=())
    assert text(one) == text(other)
    assert "1.23e-07" not in text()


def test_the_manifest_is_the_same_whatever_the_order_and_machine() -> None:
    assert [each["path"] for each in document()["artifacts"]] == ["android/a.aar", "android/b.aar"]
    assert not any(folder in text() for folder in ("/somewhere", "/cache", str(Path.cwd())))
    other = replace(
        COMPILED,
        variant=replace(COMPILED.variant, model=replace(MODEL, opsets=dict(sorted(MODEL.opsets.items())))),
        operators=dict(reversed({**COMPILED.operators, "ai.onnx;1;A": ""}.items())),
    )
    ordered = replace(COMPILED, operators=dict(sorted({**COMPILED.operators, "ai.onnx;1;A": ""}.items())))
    assert text(compiled=other, artifacts=("android/a.aar", "android/b.aar")) == text(compiled=ordered)
    assert text().endswith("}\n")
    assert "classifier ä.onnx" in text()
    (model,) = document()["models"]
    assert (model["name"], model["file"], model["sha256"]) == ("classifier", "classifier ä.onnx", "ab" * 32)
    assert model["inputs"] == [{"name": "x:0", "identifier": "x0", "element": "float", "shape": ["batch", 3, None]}]


def test_parity_and_agreement_are_told_where_they_were_measured() -> None:
    (entry,) = evidence()["parity"]
    assert entry["outputs"] == [
        {
            "name": "x:0",
            "max-abs-error": 1.23e-7,
            "max-rel-error": 9.88e-8,
            "scale": 1.25,
            "scale-from": "its largest value",
            "worst-sample": 2,
        }
    ]
    assert (entry["samples"], entry["not-compared"]) == ("3 random, seed 0", ["noise"])
    assert (entry["tolerance"], entry["atol"]) == (1e-3, 1e-5)
    (output,) = PARITY.outputs
    measured = replace(PARITY, outputs=(replace(output, top1_agreement=0.98765),))
    (entry,) = evidence(measured)["parity"]
    assert entry["outputs"][0]["top1-agreement"] == 0.988
    (entry,) = evidence(replace(PARITY, skipped="no GPU", outputs=()))["parity"]
    assert entry == {
        "model": "classifier",
        "variant": "fp32",
        "style": "fixed",
        "sha256": "cd" * 32,
        "runner": "cpu",
        "skipped": "no GPU",
    }


def test_contracts_are_in_it_with_their_labels_and_tensors_by_name() -> None:
    scores = replace(X, name="scores", identifier="scores")
    contract = Contract(
        inputs=(TextInput(identifier="text", code_points=X),),
        outputs=(ClassesOutput(identifier="kind", scores=scores, labels=("ham", "späm"), top_k=2, threshold=0.5),),
    )
    model = replace(MODEL, contract=contract)
    (found,) = json.loads(text(model=model))["models"]
    assert found["contract"] == {
        "method": "classify",
        "inputs": [{"kind": "text", "identifier": "text", "code-points": "x:0"}],
        "outputs": [
            {
                "kind": "classes",
                "identifier": "kind",
                "scores": "scores",
                "labels": ["ham", "späm"],
                "top-k": 2,
                "threshold": 0.5,
            }
        ],
    }


def test_a_text_of_a_contract_says_whether_a_run_takes_several() -> None:
    text_input = TextInput(identifier="text", code_points=X, is_batch=True)
    model = replace(MODEL, contract=Contract(inputs=(text_input,), outputs=()))
    (found,) = json.loads(text(model=model))["models"]
    assert found["contract"]["inputs"] == [
        {"kind": "text", "identifier": "text", "code-points": "x:0", "is-batch": True}
    ]


def test_versions_options_and_warnings_are_in_it() -> None:
    found = document()
    assert found["schema-version"] == 2
    assert set(found["converter"]) == {"onnx", "onnxruntime"}
    assert (found["options"], found["runtimes"], found["warnings"]) == (
        {"seed": 0},
        {"android": "onnxruntime-android"},
        ["old opset"],
    )
    assert found["compiled"][0]["disabled-optimizers"] == ["ConstantFolding"]
