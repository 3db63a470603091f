"""Views of models for Python: types, shapes, names, files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import get_args

from packager.core.class_names import class_name
from packager.core.contract import FUNCTIONS, TypedOutput
from packager.core.names import snake_case
from packager.core.values import Model, Package, Plan, TensorSpec
from packager.files.hashes import known_sha256
from packager.targets import dimensions
from packager.targets.dimensions import Sizes
from packager.targets.golden import tolerances
from packager.targets.pipelines import ModelMethod, pipeline_views
from packager.targets.python import naming, storage, typed
from packager.targets.python.view import MethodView, ModelView, PipelinePage, TensorView
from packager.vectors import Golden

GOLDEN = "golden.safetensors"
SOUND = "Sound"
"""result that is an input, too"""
RESULTS = tuple(
    sorted(
        {
            "Box",
            "InstanceMask",
            *(kind.DESCRIBED.type for kind in get_args(TypedOutput) if isinstance(kind.DESCRIBED.type, str)),
        }
        - {SOUND}
    )
)
"""types that methods return"""
ALWAYS = (
    "Heard",
    "LeftOut",
    "Message",
    "Metrics",
    "ModelError",
    "ModelErrorCode",
    "ModelInfo",
    "Options",
    "OutputTest",
    "Picture",
    "PictureLike",
    "Ranked",
    "SelfTest",
    SOUND,
    "SoundStream",
)
ARGUMENTS = {"PictureLike": '"photo.jpg"', "Sound": "Sound(samples, rate=16000)", "str": '"some text"'}
"""arguments in example code"""


def pipeline_pages(package: Package, models: Sequence[ModelView]) -> Iterator[PipelinePage]:
    """The modules of pipelines."""
    by_class = {each.class_name: each for each in models}
    methods = {
        each.name: ModelMethod(
            class_name=each.class_name,
            verb=each.method.verb,
            result=each.method.result,
            about=each.method.about,
            has_self_test=bool(each.golden),
        )
        for each in models
        if each.method
    }
    names = naming.modules([*(each.name for each in models), *(each.name for each in package.pipelines)])
    for found in pipeline_views(package.pipelines, methods):
        members = naming.members((each.identifier for each in found.stages), naming.LOCAL)
        finder, *readers = (replace(each, identifier=members[each.identifier]) for each in found.stages)
        words = set(re.findall(r"\w+", " ".join(each.method.result for each in readers)))
        yield PipelinePage(
            pipeline=replace(found, finder=finder, readers=tuple(readers)),
            module=names[found.name],
            results=tuple(sorted({"Detection", *({*RESULTS} & words)})),
            models=tuple(
                sorted({(by_class[name].module, name) for each in found.stages for name in [each.method.class_name]})
            ),
        )


def exported(models: Sequence[ModelView], pipelines: Sequence[PipelinePage]) -> Iterator[str]:
    """Names that apps import from the package."""
    for page in pipelines:
        yield from (page.pipeline.class_name, page.pipeline.item)
    yield from (*RESULTS, *ALWAYS)
    for each in models:
        yield from (each.class_name, f"{each.class_name}Outputs")
        if each.method and each.method.results:
            yield f"{each.class_name}Prediction"


def files_of(plan: Plan, golden: Golden) -> dict[PurePosixPath, Path]:
    """The files of a model by their paths below the folder of models: weights have the names that the graph knows."""
    folder = PurePosixPath(plan.model.name)
    found = {folder / file_name(plan): plan.cpu.path, **{folder / each.name: each for each in plan.cpu.data_files}}
    vectors = golden.get((plan.model.name, plan.cpu.sha256))
    return {**found, folder / GOLDEN: vectors.golden.path} if vectors else found


def file_name(plan: Plan) -> str:
    return f"{plan.model.name}.{plan.cpu.format}"


def model_view(
    plan: Plan, package: Package, golden: Golden, *, module: str, package_module: str, runtime_version: str
) -> ModelView:
    """Raises ModelError for a model that Python's API does not support."""
    model = plan.model
    storage.refuse(model)
    name = class_name(model.name)
    sizes = dimensions.sizes(model.signature.inputs)
    method = typed.method_view(model, model.contract, name) if model.contract else None
    inputs = naming.members((each.identifier for each in model.signature.inputs), naming.LOCAL)
    outputs = naming.members(each.identifier for each in model.signature.outputs)
    vectors = golden.get((model.name, plan.cpu.sha256))
    input_views = tuple(_tensor(each, inputs, sizes) for each in model.signature.inputs)
    output_views = tuple(_tensor(each, outputs, sizes) for each in model.signature.outputs)
    return ModelView(
        class_name=name,
        name=model.name,
        module=module,
        source=model.path.name,
        source_sha256=model.sha256,
        package=package.name,
        version=package.version,
        file=file_name(plan),
        sha256={path.name: known_sha256(file) for path, file in files_of(plan, golden).items()},
        settings=plan.cpu.settings,
        runtime_version=runtime_version,
        inputs=input_views,
        outputs=output_views,
        golden=GOLDEN if vectors else "",
        tolerances=tolerances(vectors) if vectors else (),
        method=method,
        imports=tuple(_imports(model, method, bool(vectors and tolerances(vectors)))),
        example=tuple(_example(package_module, name, method, input_views, output_views)),
    )


def _imports(model: Model, method: MethodView | None, tolerances: bool) -> Iterator[str]:
    """Lines that import what the module of a model uses."""
    words = set(re.findall(r"\w+", " ".join(_expressions(method)))) if method else set()
    contract = model.contract
    generation, states, lists, ranks = (
        contract is not None and bool(each)
        for each in (
            contract and contract.generated,
            contract and contract.states,
            contract and contract.is_batch,
            contract and contract.ranks,
        )
    )
    chats = bool(contract and contract.generated and contract.generated.chat)
    collections = {
        "AsyncIterator": generation,
        "Callable": contract is not None and contract.streamed is not None,
        "Iterator": generation,
        "Mapping": contract is not None,
        "Sequence": lists or ranks or chats,
    }
    results = {*RESULTS, *(snake_case(each) for each in FUNCTIONS)}
    own: Mapping[str, Iterable[str]] = {
        "chat": ["ChatTemplate", "Message"] if chats else [],
        "descriptor": ["Descriptor", "TensorSpec", *(["Tolerance"] if tolerances else [])],
        "generation": [
            *(["generated", "streamed"] if generation else []),
            *(["prompt_of"] if chats else []),
            *({"seed_tensor"} & words),
        ],
        "model": [*(["Carried"] if states and not generation else []), "Model", "tensor"],
        "options": ["ModelInfo"] if states and not generation else [],
        "pictures": {"PictureLike", "picture_tensors"} & words,
        "results": results & words,
        "sounds": {SOUND, "pcm_tensors", "sound_tensors"} & words,
        "streams": ["Overflow", "SoundStream", "StreamForm"] if contract and contract.streamed else [],
        "texts": [
            *(["Ranked", "ranked"] if ranks else []),
            *(["row_count"] if lists else []),
            *({"text_tensor", "texts_tensor"} & words),
        ],
    }
    if contract and not generation:
        yield "import asyncio"
    if any(collections.values()):
        yield f"from collections.abc import {', '.join(name for name, is_used in collections.items() if is_used)}"
    yield "from dataclasses import dataclass"
    yield "from typing import Any"
    yield from ("", "import numpy", "from numpy.typing import NDArray", "")
    for module, names in own.items():
        if names:
            yield f"from ._runtime.{module} import {', '.join(sorted(names, key=lambda each: (each.islower(), each)))}"


def _expressions(method: MethodView) -> Iterator[str]:
    """Types and expressions of a method."""
    yield from (method.result, method.value)
    for each in (*method.parameters, *(method.lists.parameters if method.lists else ())):
        yield from (each.type, each.maker)
    for fed in method.fed:
        yield fed.value
    for result in method.results:
        yield from (result.type, result.value)


def _tensor(spec: TensorSpec, names: Mapping[str, str], sizes: Sizes) -> TensorView:
    return TensorView(
        name=spec.name,
        identifier=names[spec.identifier],
        type=storage.array_of(spec.element),
        dtype=storage.dtype_of(spec.element),
        about=f"{spec.element.value} {sizes.shape(spec)}",
        sizes=tuple(str(size) if isinstance(size, int) else "None" for size in spec.shape),
    )


def _example(
    package: str, name: str, method: MethodView | None, inputs: Sequence[TensorView], outputs: Sequence[TensorView]
) -> Iterator[str]:
    taken = [each.type for each in method.parameters] if method else []
    extra = f", {SOUND}" if SOUND in taken else ""
    yield f"from {package} import {name}{extra}"
    yield ""
    yield f"with {name}.load() as model:"
    if method is None:
        yield f"    outputs = model.run({', '.join(each.identifier for each in inputs)})"
        yield f"    print(outputs.{outputs[0].identifier})"
        return
    call = f"model.{method.verb}({', '.join(ARGUMENTS.get(each.type, each.name) for each in method.parameters)})"
    if method.generation:
        yield f"    for part in {call}:"
        yield '        print(part, end="", flush=True)'
    else:
        yield f"    print({call})"
