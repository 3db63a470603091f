"""Makes the description of a package from its plans."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from packager import __version__
from packager.core.class_names import class_name
from packager.core.contract import LOWEST, Contract, TextInput, TypedInput, TypedOutput, kind_of
from packager.core.described import Plain
from packager.core.pipeline import Pipeline
from packager.core.values import Package, Plan
from packager.description.api import MethodParameter, MethodResult, ModelApi, PackageApi, PipelineApi, StageApi
from packager.description.language import Language
from packager.vectors import Golden


class DescribedTarget(Protocol):
    """The part of a target that its packages describe."""

    NAME: ClassVar[str]
    LANGUAGE: ClassVar[Language]
    REVISION: ClassVar[tuple[int, int]]


def describe(package: Package, plans: Sequence[Plan], golden: Golden, target: DescribedTarget) -> PackageApi:
    """The API of the package of `target` with the files of `plans`: those of several targets for a wrapper."""
    by_model: dict[str, list[Plan]] = {}
    for plan in plans:
        by_model.setdefault(plan.model.name, []).append(plan)
    given: Mapping[str, object] = {
        "channel": package.delivery,
        "encryption": package.encryption,
        "trust": package.trust,
    }
    return PackageApi(
        mobpack=__version__,
        package=package.name,
        version=package.version,
        target=target.NAME,
        language=target.LANGUAGE.name,
        revision=target.REVISION,
        features=tuple(name for name, value in given.items() if value),
        providers=tuple(sorted({choice.provider for plan in plans for choice in plan.choices})),
        models=tuple(_model(by_model[name], golden) for name in sorted(by_model)),
        pipelines=tuple(
            _pipeline(each) for each in package.pipelines if by_model.keys() >= {stage.model for stage in each.stages}
        ),
    )


def _model(plans: Sequence[Plan], golden: Golden) -> ModelApi:
    model = plans[0].model
    contract = model.contract or Contract(inputs=(), outputs=())
    return ModelApi(
        name=model.name,
        class_name=class_name(model.name),
        method=contract.verb if model.contract else "",
        parameters=tuple(_parameter(each) for each in contract.parameters),
        results=tuple(_result(each) for each in contract.outputs),
        options=_options(contract),
        has_chat=bool(contract.generated and contract.generated.chat),
        stream_hop=contract.streamed.hop if contract.streamed else None,
        states=tuple(each.identifier for each in contract.states),
        has_self_test=all((model.name, file.sha256) in golden for plan in plans for file in plan.files),
        inputs=model.signature.inputs,
        outputs=model.signature.outputs,
    )


def _parameter(typed: TypedInput) -> MethodParameter:
    is_batch = isinstance(typed, TextInput) and typed.is_batch
    return MethodParameter(name=typed.identifier, kind=kind_of(typed), is_batch=is_batch)


def _result(typed: TypedOutput) -> MethodResult:
    said = typed.DESCRIBED
    known = {each: getattr(typed, each) for each in (*said.lines, *said.numbers)}
    top_k, threshold = (getattr(typed, each) for each in said.limits) if said.limits else (None, LOWEST)
    return MethodResult(
        name=typed.identifier,
        kind=kind_of(typed),
        type=said.type.value if isinstance(said.type, Plain) else said.type,
        is_list=said.is_list,
        tensors=tuple(getattr(typed, each).name for each in said.tensors),
        top_k=top_k,
        threshold=threshold if threshold > LOWEST else None,
        **known,
    )


def _pipeline(pipeline: Pipeline) -> PipelineApi:
    return PipelineApi(
        name=pipeline.name,
        class_name=pipeline.class_name,
        item_class_name=pipeline.item_class_name,
        stages=tuple(
            StageApi(name=each.identifier, model=each.model, min_score=each.min_score) for each in pipeline.stages
        ),
        max_items=pipeline.max_items,
    )


def _options(contract: Contract) -> tuple[str, ...]:
    seed = contract.generated and contract.generated.seed
    return (*(() if contract.top is None else ("top",)), *(("seed",) if seed else ()))
