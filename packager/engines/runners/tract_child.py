"""Opens models with tract, for session/engine_child.py. tract needs every size before it translates a model, so that it
opens the model again for samples of other sizes."""

from importlib import metadata
from typing import Any

TYPES = {
    "bool": "bool",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}


def opened(job: dict[str, Any]) -> tuple[Any, str]:
    names = [spec["name"] for spec in job["inputs"]]
    known: dict[tuple[Any, ...], Any] = {}
    if all(None not in spec["shape"] for spec in job["inputs"]):
        facts = tuple((tuple(spec["shape"]), spec["type"]) for spec in job["inputs"])
        known[facts] = translated(job, names, facts)

    def run(feed: dict[str, Any]) -> list[Any]:
        facts = tuple((feed[name].shape, str(feed[name].dtype)) for name in names)
        if facts not in known:
            known.clear()  # one at a time: each holds the weights
            known[facts] = translated(job, names, facts)
        order, model = known[facts]
        return [each.to_numpy() for each in model.run([feed[name] for name in order])]

    return run, f"tract {metadata.version('tract')}"


def translated(job: dict[str, Any], names: list[str], facts: tuple[Any, ...]) -> tuple[list[str], Any]:
    """Names of the inputs in tract's order, and the model for these shapes and types."""
    import tract

    model = tract.onnx().load(job["model"])
    found = [model.input_name(index) for index in range(model.input_count())]
    if sorted(found) != sorted(names):
        raise ValueError(f"tract finds the inputs {', '.join(found)}")
    for name, (shape, kind) in zip(names, facts, strict=True):
        model.set_input_fact(found.index(name), ",".join([*map(str, shape), TYPES[kind]]))
    for index in range(model.output_count()):
        model.set_output_fact(index, None)  # declared sizes may be symbols that it cannot solve
    return found, model.into_model().into_runnable()
