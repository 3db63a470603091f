"""Views of models for C++: types, shapes, names, files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from packager.core.class_names import class_name
from packager.core.values import Package, Plan, TensorSpec
from packager.files.hashes import known_sha256
from packager.targets import dimensions
from packager.targets.cpp import naming, storage, typed
from packager.targets.cpp.view import MethodView, ModelView, PipelineFileView, TensorView
from packager.targets.dimensions import Sizes
from packager.targets.golden import sample_views, tolerances
from packager.targets.pipelines import ModelMethod, pipeline_views
from packager.vectors import Golden

GOLDEN = "golden.safetensors"
ARGUMENTS = {
    "const Picture&": "{0}::Picture(pixels, width, height)",
    "const SoundView&": "{0}::SoundView(samples, 16000)",
    "std::string_view": '"some text"',
}
"""arguments in example code: type -> expression, with the namespace"""


def files_of(plan: Plan, golden: Golden) -> dict[PurePosixPath, Path]:
    """The files of a model by their paths below the folder of models: weights have the names that the graph knows."""
    folder = PurePosixPath(plan.model.name)
    found = {folder / file_name(plan): plan.cpu.path, **{folder / each.name: each for each in plan.cpu.data_files}}
    vectors = golden.get((plan.model.name, plan.cpu.sha256))
    return {**found, folder / GOLDEN: vectors.golden.path} if vectors else found


def file_name(plan: Plan) -> str:
    return f"{plan.model.name}.{plan.cpu.format}"


def model_view(plan: Plan, package: Package, golden: Golden, *, file: str, runtime_version: str) -> ModelView:
    """Raises ModelError for a model that C++ packages cannot have."""
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
    namespace = naming.namespace(package.name)
    return ModelView(
        cpp_namespace=namespace,
        class_name=name,
        name=model.name,
        file_name=file,
        source=model.path.name,
        source_sha256=model.sha256,
        package=package.name,
        version=package.version,
        file=file_name(plan),
        sha256={path.name: known_sha256(each) for path, each in files_of(plan, golden).items()},
        settings=plan.cpu.settings,
        runtime_version=runtime_version,
        inputs=input_views,
        outputs=output_views,
        golden=GOLDEN if vectors else "",
        tolerances=tolerances(vectors) if vectors else (),
        samples=sample_views(vectors.golden) if vectors else (),
        method=method,
        example=tuple(_example(namespace, name, method, input_views, output_views)),
    )


def pipeline_file_views(
    package: Package, models: Sequence[ModelView], names: Mapping[str, str]
) -> Iterator[PipelineFileView]:
    """`names` has those of files, by model and pipeline."""
    by_class = {each.class_name: each.file_name for each in models}
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
    for found in pipeline_views(package.pipelines, methods):
        members = naming.members((each.identifier for each in found.stages), naming.LOCAL | {"picture", "words"})
        finder, *readers = (replace(each, identifier=members[each.identifier]) for each in found.stages)
        yield PipelineFileView(
            cpp_namespace=naming.namespace(package.name),
            file_name=names[found.name],
            headers=tuple(sorted({by_class[each.method.class_name] for each in found.stages})),
            pipeline=replace(found, finder=finder, readers=tuple(readers)),
        )


def _tensor(spec: TensorSpec, names: Mapping[str, str], sizes: Sizes) -> TensorView:
    stored = storage.TYPES[spec.element]
    return TensorView(
        name=spec.name,
        identifier=names[spec.identifier],
        type=stored.type,
        element=stored.element,
        about=f"{spec.element.value} {sizes.shape(spec)}",
        shape=", ".join(str(size) if isinstance(size, int) else "-1" for size in spec.shape),
    )


def _example(
    namespace: str, name: str, method: MethodView | None, inputs: Sequence[TensorView], outputs: Sequence[TensorView]
) -> Iterator[str]:
    yield f"auto model = {namespace}::{name}::load().value();"
    if method is None:
        yield f"auto outputs = model.run({', '.join(each.identifier for each in inputs)}).value();"
        yield f"// outputs.{outputs[0].identifier}.values, outputs.{outputs[0].identifier}.shape"
        return
    given = [ARGUMENTS.get(each.type, each.name).format(namespace) for each in method.parameters]
    yield f"auto found = model.{method.verb}({', '.join(given)}).value();"
