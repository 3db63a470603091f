"""Builds an engine with TensorRT for RTX, which needs no GPU for that when it is told for which: `python gpu_build.py
CHILD MODEL DATA_FOLDER SAMPLES`, where CHILD is tensorrt_child.py and SAMPLES is JSON, a list of input name -> shape or
numbers. Prints JSON. It stands alone."""

import importlib.util
import json
import sys
from typing import Any

import numpy

trt = importlib.import_module("tensorrt_rtx_bindings")
spec = importlib.util.spec_from_file_location("child", sys.argv[1])
assert spec
assert spec.loader
child = importlib.util.module_from_spec(spec)
sys.modules["child"] = child  # dataclasses look there
spec.loader.exec_module(child)


def built(model: str, data_folder: str, samples: list[dict[str, Any]]) -> dict[str, Any]:
    job = {"model": model, "data_folder": data_folder or None, "module": trt.__name__, "fp16": False}
    log = child.logger_of(trt)
    parsed = child.parse(trt, log, {**job, "is_quantized": False})
    inputs = child.inputs_of(parsed.network)
    spans: dict[str, Any] = {}
    for sample in samples:
        feed = {
            tensor.name: numpy.array(sample[tensor.name])
            if tensor.is_shape_tensor
            else numpy.empty(sample[tensor.name], child.dtype_of(trt, tensor.dtype, tensor.name))
            for tensor in inputs
        }
        spans = child.widened(spans, child.asks(parsed.network, feed))
    config = child.configuration(trt, parsed, spans)
    config.num_compute_capabilities = 1
    config.set_compute_capability(trt.ComputeCapability.SM89, 0)
    plan = child.build(parsed, config, log)
    answer = {"size": plan.nbytes, "tf32": config.get_flag(trt.BuilderFlag.TF32), "spans": sorted(spans)}
    try:
        child.Engine(trt, log, plan, spans, None)
    except child.UnusableError as error:
        answer["unusable"] = str(error)
    return {**answer, "types": {tensor.name: str(child.dtype_of(trt, tensor.dtype, "x")) for tensor in inputs}}


if __name__ == "__main__":
    try:
        print(json.dumps(built(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))))
    except child.RefusedError as error:
        print(json.dumps({"refused": str(error)}))
