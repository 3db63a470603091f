"""Opens .tflite files with LiteRT, for session/engine_child.py. `inputs` and `outputs` of the job are those of the ONNX
model that was made from the file: tensors are found by their names, or in order if names have changed, and a picture's
axes are moved where one has channels first and the other has them last."""

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
"""Permutations of four axes that move channels to the end, and to the front."""


def opened(job: dict[str, Any]) -> tuple[Any, str]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    # XNNPACK, the default, may compute in other precisions; the built-in kernels are the file's definition.
    resolver = OpResolverType.AUTO if job["threads"] else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(
        model_path=job["model"], num_threads=job["threads"] or 1, experimental_op_resolver_type=resolver
    )
    inputs = matched(job["inputs"], interpreter.get_input_details())
    outputs = matched(job["outputs"], interpreter.get_output_details())

    def run(feed: dict[str, Any]) -> list[Any]:
        given = {name: arranged(feed[name], sizes_of(port), LAST) for name, port in inputs.items()}
        for name, port in inputs.items():
            interpreter.resize_tensor_input(port["index"], given[name].shape)
        interpreter.allocate_tensors()
        for name, port in inputs.items():
            interpreter.set_tensor(port["index"], given[name].astype(port["dtype"]))
        interpreter.invoke()
        return [
            arranged(interpreter.get_tensor(outputs[spec["name"]]["index"]), spec["shape"], FIRST)
            for spec in job["outputs"]
        ]

    return run, f"LiteRT {metadata.version('ai-edge-litert')}, built-in kernels"


def matched(specs: Sequence[Mapping[str, Any]], ports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Name in the ONNX model -> the tensor of the file. Raises ValueError if their numbers differ."""
    if len(specs) != len(ports):
        raise ValueError(f"the .tflite file has {len(ports)} of what the model has {len(specs)}: it is another model")
    names = [spec["name"] for spec in specs]
    for key in (lambda name: name, short):
        by_name = {key(port["name"]): port for port in ports}
        if len(by_name) == len(ports) and all(key(name) in by_name for name in names):
            return {name: by_name[key(name)] for name in names}
    return dict(zip(names, ports, strict=True))


def short(name: str) -> str:
    """`serving_default_image:0` -> `image`."""
    return name.partition(":")[0].rpartition("/")[2].removeprefix("serving_default_")


def sizes_of(port: Mapping[str, Any]) -> list[int | None]:
    return [None if size < 0 else int(size) for size in port["shape_signature"]]


def arranged(array: Any, sizes: Sequence[int | None], order: tuple[int, ...]) -> Any:
    """`array`, its axes permuted by `order` if it fits `sizes` only then."""
    if array.ndim != 4 or len(sizes) != 4 or fits(array.shape, sizes):
        return array
    moved = array.transpose(order)
    return moved if fits(moved.shape, sizes) else array


def fits(shape: Sequence[int], sizes: Sequence[int | None]) -> bool:
    """Whether every size but the first, the batch, is the declared one."""
    return all(wanted in (None, size) for size, wanted in list(zip(shape, sizes, strict=True))[1:])
