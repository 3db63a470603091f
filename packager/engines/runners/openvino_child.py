"""Opens models with OpenVINO, for session/engine_child.py."""

from typing import Any

EXACT = {
    "INFERENCE_PRECISION_HINT": "f32",  # otherwise bfloat16 where the processor has it: errors of 3e-3
    "EXECUTION_MODE_HINT": "ACCURACY",
}


def opened(job: dict[str, Any]) -> tuple[Any, str]:
    import openvino

    core = openvino.Core()
    model = core.read_model(job["model"])
    threads = {"INFERENCE_NUM_THREADS": job["threads"]} if job["threads"] else {}
    compiled = core.compile_model(model, "CPU", {**EXACT, **threads})
    names = places_of(compiled.inputs, job["inputs"])
    outputs = list(compiled.outputs)
    if len(outputs) != len(job["outputs"]):
        raise ValueError(f"it finds {len(outputs)} outputs in a model with {len(job['outputs'])}")

    def run(feed: dict[str, Any]) -> list[Any]:
        found = compiled({place: feed[name] for name, place in names.items()}, share_inputs=False)
        return [found[each].copy() for each in outputs]

    return run, f"OpenVINO {openvino.__version__.partition('-')[0]} on the CPU, in float32"


def places_of(inputs: Any, specs: list[dict[str, Any]]) -> dict[str, int]:
    """Name of an input -> its index. In order, for an input that passes through has the output's name in OpenVINO; by
    name if it has left inputs out."""
    if len(inputs) == len(specs):
        return {spec["name"]: index for index, spec in enumerate(specs)}
    by_name = {name: index for index, port in enumerate(inputs) for name in port.get_names()}
    return {spec["name"]: by_name[spec["name"]] for spec in specs if spec["name"] in by_name}
