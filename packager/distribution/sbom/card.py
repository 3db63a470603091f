"""Model cards: a model's entry in a bill of materials."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packager.core.card import NO_CARD, Card, Dataset
from packager.core.contract import StateInput, TensorInput, TensorOutput, kind_of
from packager.core.findings import Parity
from packager.core.signature import TensorSpec
from packager.core.values import Compiled, Model
from packager.distribution.sbom.cyclonedx import Entry, compact, license_choice, properties, sha256


@dataclass(frozen=True, kw_only=True)
class ShippedModel:
    """A model in a package."""

    model: Model
    card: Card = NO_CARD
    files: tuple[Compiled, ...] = ()
    recipes: Mapping[str, object]
    """variant -> the keys of its quantizer"""
    parities: tuple[Parity, ...] = ()
    """comparisons of `files` that ran; empty in a package, whose bytes must not depend on the processor"""


def reference(model: Model) -> str:
    return f"model:{model.name}"


def entry(shipped: ShippedModel, package_version: str) -> Entry:
    """The component of a model, with its card and its files."""
    model, card = shipped.model, shipped.card
    return compact(
        {
            "type": "machine-learning-model",
            "bom-ref": reference(model),
            "authors": [{"name": card.author}] if card.author else [],
            "name": model.name,
            "version": card.version or package_version,
            "description": card.description,
            "hashes": sha256(model.sha256),
            "licenses": license_choice(card.license),
            "externalReferences": [{"type": "website", "url": card.source}] if card.source else [],
            "modelCard": _card(shipped),
            "components": [_file(each, model) for each in shipped.files],
            "properties": properties({"file": model.path.name, "licence-file": model.license_name}),
        }
    )


def _file(compiled: Compiled, model: Model) -> Entry:
    """A file as it ships. Its hash finds it in the package, where names depend on the platform."""
    variant = compiled.variant
    return {
        "type": "file",
        "bom-ref": f"{reference(model)}/{compiled.sha256[:16]}",
        "name": f"{model.name}, {variant.name}, {compiled.style} .{compiled.format}",
        "hashes": sha256(compiled.sha256),
        "properties": properties(
            {
                "variant": variant.name,
                "quantizer": variant.quantizer,
                "precision": str(variant.traits.precision),
                "weights": variant.traits.weights,
                "activations": variant.traits.activations,
                "layers-left-in-float": len(variant.left) or "",
                "bytes": str(compiled.size_bytes),
            }
        ),
    }


def _card(shipped: ShippedModel) -> Entry:
    model, card = shipped.model, shipped.card
    metrics = [*_declared(card), *_measured(shipped.parities)]
    return compact(
        {
            "bom-ref": f"{reference(model)}/card",
            "modelParameters": compact(
                {
                    "approach": {"type": card.learning} if card.learning else {},
                    "task": card.task or _task(model),
                    "modelArchitecture": card.architecture,
                    "datasets": [_dataset(each) for each in card.datasets],
                    "inputs": [{"format": each} for each in _inputs(model)],
                    "outputs": [{"format": each} for each in _outputs(model)],
                }
            ),
            "quantitativeAnalysis": {"performanceMetrics": metrics} if metrics else {},
            "considerations": _considerations(shipped),
            "properties": properties(
                {
                    "parameters": str(model.parameter_count),
                    "opsets": {domain or "ai.onnx": number for domain, number in sorted(model.opsets.items())},
                    **{f"quantization:{name}": _recipe(each) for name, each in sorted(shipped.recipes.items())},
                }
            ),
        }
    )


def _recipe(settings: object) -> object:
    """The settings of a quantizer; nothing for the model's own numbers."""
    return "" if settings == {"quantizer": "none"} else settings


def _considerations(shipped: ShippedModel) -> Entry:
    card = shipped.card
    return compact(
        {
            "users": list(card.users),
            "useCases": list(card.uses),
            "technicalLimitations": [*card.limits, *dict.fromkeys(_limits(shipped))],
            "performanceTradeoffs": list(card.trade_offs),
            "ethicalConsiderations": [{"name": each} for each in card.ethics],
        }
    )


def _limits(shipped: ShippedModel) -> Iterator[str]:
    """Limits that the graph and the comparisons show."""
    if drawn := shipped.model.random_operators:
        yield f"draws random numbers ({', '.join(sorted(drawn))}): outputs differ from run to run"
    for each in shipped.parities:
        yield f"files may differ from {each.against} by {each.atol:.3g} + {each.tolerance:g} x the output's scale"
        if each.conditioning:
            yield each.conditioning


def _dataset(data: Dataset) -> Entry:
    """Component data; its contents have no licence of their own in the format, so that it is a property."""
    contents = compact(
        {
            "url": data.url,
            "properties": properties({"use": data.use, "licence": data.license}),
        }
    )
    return compact(
        {
            "type": "dataset",
            "name": data.name,
            "contents": contents,
            "sensitiveData": list(data.sensitive),
            "description": data.description,
        }
    )


def _task(model: Model) -> str:
    """`image to classes`, from the model's contract; empty without one."""
    if not model.contract:
        return ""
    given = [kind_of(each) for each in model.contract.inputs if not isinstance(each, StateInput)]
    return f"{_joined(given)} to {_joined([kind_of(each) for each in model.contract.outputs])}"


def _joined(kinds: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(kinds)) or "nothing"


def _inputs(model: Model) -> Iterator[str]:
    if not model.contract:
        yield from map(_tensor, model.signature.inputs)
        return
    for each in model.contract.inputs:
        yield _tensor(each.spec) if isinstance(each, TensorInput) else f"{each.identifier}: {kind_of(each)}"


def _outputs(model: Model) -> Iterator[str]:
    if not model.contract:
        yield from map(_tensor, model.signature.outputs)
        return
    for each in model.contract.outputs:
        yield _tensor(each.spec) if isinstance(each, TensorOutput) else f"{each.identifier}: {kind_of(each)}"


def _tensor(spec: TensorSpec) -> str:
    """`pixels: float32[1, 3, 224, 224]`"""
    return f"{spec.name}: {spec.element}[{', '.join(str(each) for each in spec.shape)}]"


def _declared(card: Card) -> Iterator[Entry]:
    for each in card.metrics:
        yield compact({"type": each.name, "value": str(each.value), "slice": each.on})


def _measured(parities: Sequence[Parity]) -> Iterator[Entry]:
    """Errors of the files against the model, as mobpack measured them: three digits, as more differ by processor."""
    for parity in parities:
        where = f"{parity.variant}, {parity.style}, on {parity.label or parity.runner}; {parity.samples}"
        for each in parity.compared_outputs:
            yield {
                "type": f"largest error of {each.output} against {parity.against}, as share of its scale",
                "value": f"{each.max_rel_error:.3g}",
                "slice": where,
            }
            if each.top1_agreement is not None:
                agreement = f"{each.top1_agreement:.3g}"
                yield {
                    "type": f"top-1 agreement of {each.output} with {parity.against}",
                    "value": agreement,
                    "slice": where,
                }
        if parity.from_original is not None:
            samples = f"{parity.variant}; {parity.distance_samples}"
            value = f"{parity.from_original:.3g}"
            yield {"type": "largest error against the model before quantization", "value": value, "slice": samples}
