"""`manifest.json`: contents of a release, their origin, and the decisions about them. Contains no timestamps, no local
paths, and nothing that depends on the machine: `evidence.py` writes what it measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version

from packager import __version__
from packager.core.characters import to_json
from packager.core.contract import Contract, TypedInput, TypedOutput, kind_of
from packager.core.findings import KernelProof, Parity, Partition, Report
from packager.core.names import kebab_case
from packager.core.quantized import KeptScales
from packager.core.to_json import plain
from packager.core.values import Compiled, Model, Package, Plan, TensorSpec, Variant, distinct_files
from packager.files.hashes import sha256_of
from packager.targets.golden import tolerances
from packager.targets.target import OwnRuntime, PackagedRuntime, Shipped
from packager.targets.xcframework.packaged import PackagedFramework
from packager.vectors import NO_VECTORS, Golden, Vectors

SCHEMA_VERSION = 2
"""Raised when a key gets another meaning or is gone; new keys leave it as it is."""
NO_RUNTIMES: Mapping[str, OwnRuntime] = {}
NOTHING: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True, kw_only=True)
class ShippedScales:
    """A file of scales in a release: the version after it is quantized with them if it asks for that."""

    model: str
    variant: str
    path: str
    """relative to the release's folder, in POSIX form"""
    sha256: str
    kept: KeptScales | None


def manifest(
    package: Package,
    plans: Sequence[Plan],
    report: Report,
    shipped: Sequence[Shipped],
    *,
    options: Mapping[str, object],
    runtimes: Mapping[str, str],
    warnings: Sequence[str],
    own_runtimes: Mapping[str, OwnRuntime] = NO_RUNTIMES,
    takes_in: Mapping[str, Sequence[str]] = NOTHING,
    golden: Golden = NO_VECTORS,
    scales: Sequence[ShippedScales] = (),
) -> str:
    """The manifest as JSON text; the same release gives the same text.

    `takes_in` maps wrappers to the targets whose packages they include.
    """
    models = {plan.model.name: plan.model for plan in plans}
    document = {
        "schema-version": SCHEMA_VERSION,
        "mobpack": __version__,
        "package": {"name": package.name, "version": package.version, "license": package.license},
        "models": [model_entry(models[name]) for name in sorted(models)],
        "compiled": [_compiled(each) for each in distinct_files(plans)],
        **({"scales": [_scales(each) for each in scales]} if scales else {}),
        "plans": [plan_entry(plan) for plan in plans],
        "converter": {name: version(name) for name in ("onnxruntime", "onnx")},
        "runtimes": dict(sorted(runtimes.items())),
        "own-runtimes": {target: runtime_entry(own_runtimes[target]) for target in sorted(own_runtimes)},
        "takes-in": {target: list(takes_in[target]) for target in sorted(takes_in)},
        "options": options,
        "partitions": [partition_entry(partition) for partition in report.partitions],
        "kernels": [kernels_entry(proof) for proof in report.kernels],
        "golden": golden_entries(golden),
        "artifacts": [
            {
                "target": each.artifact.target,
                "kind": each.artifact.kind,
                "path": each.path,
                "sha256": each.artifact.sha256,
                "size-bytes": each.artifact.size_bytes,
            }
            for each in sorted(shipped, key=lambda each: each.path)
        ],
        "warnings": list(warnings),
    }
    return to_json(document, indent=2) + "\n"


def model_entry(model: Model) -> dict[str, object]:
    return {
        "name": model.name,
        "file": model.path.name,
        "sha256": model.sha256,
        "size-bytes": model.size_bytes,
        "parameters": model.parameter_count,
        **({"imported": model.imported} if model.imported else {}),
        "ir-version": model.ir_version,
        "opsets": {domain or "ai.onnx": number for domain, number in sorted(model.opsets.items())},
        "inputs": [tensor_entry(spec) for spec in model.signature.inputs],
        "outputs": [tensor_entry(spec) for spec in model.signature.outputs],
        **({"contract": contract_entry(model.contract)} if model.contract else {}),
    }


def contract_entry(contract: Contract) -> dict[str, object]:
    """Method, inputs and outputs in an app's terms; tensors by name."""
    return {
        "method": contract.verb,
        "inputs": [_typed(each) for each in contract.inputs],
        "outputs": [_typed(each) for each in contract.outputs],
    }


def _typed(typed: TypedInput | TypedOutput) -> dict[str, object]:
    """Values that are false or absent by default are left out where they are."""
    given = [(each, getattr(typed, each.name)) for each in fields(typed)]
    values = {each.name: value for each, value in given if not (value is each.default and value in (False, None))}
    return {
        "kind": kind_of(typed),
        **{
            kebab_case(name): value.name if isinstance(value, TensorSpec) else plain(value)
            for name, value in values.items()
        },
    }


def runtime_entry(runtime: OwnRuntime) -> dict[str, object]:
    """The user's own runtime; unknown facts about a dependency are empty."""
    if not isinstance(runtime, PackagedRuntime):
        return _framework_entry(runtime)
    return {
        "version": runtime.version,
        "ship": runtime.ship,
        "coordinates": runtime.coordinates,
        "sha256": runtime.sha256,
        "name": runtime.name,
        "java-package": runtime.java_package,
        "processors": list(runtime.abis),
        "reduced": runtime.is_reduced,
        "operators-sha256": runtime.operators_sha256,
    }


def _framework_entry(runtime: PackagedFramework) -> dict[str, object]:
    return {
        "version": runtime.version,
        "ship": runtime.ship,
        "url": runtime.url,
        "sha256": runtime.sha256,
        "name": runtime.name,
        "processors": {name: list(found) for name, found in sorted(runtime.architectures.items())},
        "min-ios": runtime.minimum_os,
        "linkage": runtime.linkage,
        "providers": list(runtime.providers),
        "reduced": runtime.is_reduced,
        "operators-sha256": runtime.operators_sha256,
    }


def tensor_entry(spec: TensorSpec) -> dict[str, object]:
    return {"name": spec.name, "identifier": spec.identifier, "element": str(spec.element), "shape": list(spec.shape)}


def _compiled(compiled: Compiled) -> dict[str, object]:
    return {
        "model": compiled.variant.model.name,
        "variant": compiled.variant.name,
        "quantizer": compiled.variant.quantizer,
        **({"left-in-float": _kept_in_float(compiled.variant)} if compiled.variant.left else {}),
        "style": compiled.style,
        "format": compiled.format,
        "processor": compiled.processor,
        "data-files": [file.name for file in compiled.data_files],
        **({"data-sha256": [sha256_of(file) for file in compiled.data_files]} if compiled.data_files else {}),
        "sha256": compiled.sha256,
        **({"plain-sha256": compiled.plain_sha256} if compiled.plain_sha256 else {}),
        "size-bytes": compiled.size_bytes,
        "operators": sorted(compiled.operators),
        "disabled-optimizers": list(compiled.disabled_optimizers),
        **({"settings": dict(sorted(compiled.settings.items()))} if compiled.settings else {}),
    }


def _scales(each: ShippedScales) -> dict[str, object]:
    """A file of scales, and which of them are those of the version before."""
    kept = each.kept
    entry: dict[str, object] = {"model": each.model, "variant": each.variant, "path": each.path, "sha256": each.sha256}
    if kept is None:
        return entry
    own = [f"{choice.kind} {choice.name}: {choice.reason}" for choice in kept.own]
    return {**entry, "from-sha256": kept.sha256, "count": kept.count, "kept": kept.kept, "own": own}


def golden_entries(golden: Golden) -> list[dict[str, object]]:
    """The files of golden vectors, and the model files that each applies to, with the tolerances of their outputs."""
    found: dict[tuple[str, str], dict[str, object]] = {}
    files: dict[tuple[str, str], dict[str, object]] = {}
    for (model, sha256), vectors in sorted(golden.items()):
        file = vectors.golden
        found[model, file.sha256] = {
            "model": model,
            "sha256": file.sha256,
            "size-bytes": file.size_bytes,
            "samples": file.about["samples"],
            "sample-count": len(file.samples),
        }
        files.setdefault((model, file.sha256), {})[sha256] = _allowed(vectors)
    return [{**entry, "for": list(files[key]), "allowed": files[key]} for key, entry in found.items()]


def _allowed(vectors: Vectors) -> dict[str, object]:
    return {
        each.output: {
            "rtol": each.rtol,
            "atol": each.atol,
            "scale": each.scale,
            "mismatches": each.mismatches,
        }
        for each in tolerances(vectors)
    }


def _kept_in_float(variant: Variant) -> list[dict[str, str]]:
    """Layers that a quantizer kept in float, with reasons."""
    return [{"node": each.name, "operator": each.operator, "reason": each.reason} for each in variant.left]


def plan_entry(plan: Plan) -> dict[str, object]:
    return {
        "model": plan.model.name,
        "target": plan.target,
        "inside": plan.wrapper,
        "choices": [
            {
                "provider": choice.provider,
                "sha256": choice.compiled.sha256,
                "style": choice.compiled.style,
                "format": choice.compiled.format,
                "chips": list(choice.soc_models),
                **({"variant": choice.variant} if choice.variant else {}),
                "reason": choice.reason,
            }
            for choice in plan.choices
        ],
        "left-out": [{"provider": each.provider, "reason": each.reason} for each in plan.left_out],
    }


def partition_entry(partition: Partition) -> dict[str, object]:
    entry: dict[str, object] = {
        "model": partition.model,
        "target": partition.target,
        "provider": partition.provider,
        "sha256": partition.sha256,
        "chips": list(partition.soc_models),
    }
    if partition.skipped:
        return {**entry, "skipped": partition.skipped}
    if partition.refusal:
        return {**entry, "by": partition.by, "refusal": partition.refusal}
    return {
        **entry,
        "by": partition.by,
        "measured": partition.is_measured,
        "nodes": partition.node_count,
        "taken": partition.taken_count,
        "partitions": partition.partition_count,
        "share": None if partition.share is None else round(partition.share, 4),
        "left": [
            {"operator": left.operator, "count": left.count, "reason": left.reason, "example": left.example}
            for left in partition.left
        ],
        **(
            {"contract": {"nodes": partition.added_count, "taken": partition.added_taken_count}}
            if partition.added_count
            else {}
        ),
    }


def kernels_entry(proof: KernelProof) -> dict[str, object]:
    entry: dict[str, object] = {
        "model": proof.model,
        "variant": proof.variant,
        "sha256": proof.sha256,
        "runtime": proof.runtime,
    }
    if proof.skipped:
        return {**entry, "skipped": proof.skipped}
    return {**entry, "nodes": proof.node_count, "by": proof.by}


def parity_entry(parity: Parity) -> dict[str, object]:
    entry: dict[str, object] = {
        "model": parity.model,
        "variant": parity.variant,
        "style": parity.style,
        "sha256": parity.sha256,
        "runner": parity.label or parity.runner,
    }
    if parity.skipped:
        return {**entry, "skipped": parity.skipped}
    if parity.refusal:
        return {**entry, "refusal": parity.refusal}
    return {
        **entry,
        "runs-on": parity.runs_on,
        **({} if parity.placed is None else {"placed": parity.placed, "nodes": parity.node_count}),
        "against": parity.against,
        **(
            {}
            if parity.from_original is None
            else {"from-original": rounded(parity.from_original), "from-original-samples": parity.distance_samples}
        ),
        "samples": parity.samples,
        "tolerance": parity.tolerance,
        "atol": rounded(parity.atol),
        "outputs": [
            {
                "name": each.output,
                "max-abs-error": rounded(each.max_abs_error),
                "max-rel-error": rounded(each.max_rel_error),
                "scale": rounded(each.scale),
                "scale-from": each.scale_from,
                "worst-sample": each.worst_sample,
                **({} if each.top1_agreement is None else {"top1-agreement": rounded(each.top1_agreement)}),
            }
            for each in parity.compared_outputs
        ],
        **({"conditioning": parity.conditioning} if parity.conditioning else {}),
        "not-compared": list(parity.not_compared),
    }


def rounded(error: float) -> float:
    """Three significant digits: more would vary between processors."""
    return float(f"{error:.3g}")
