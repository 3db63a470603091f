"""Opens models with IREE, for session/engine_child.py. IREE compiles a program for every combination of sizes: a model
whose sizes are not all known is compiled for each sample of other sizes. The job also has `gpu`: IREE's name of the
interface to a graphics processor, empty for the CPU."""

import io
import os
import re
import tempfile
from collections.abc import Callable
from importlib import metadata
from typing import Any

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)
ERROR = re.compile(r'error: (?:loc\("(?P<operator>\w*).*?"\): )?(?P<words>.*)')
Run = Callable[[dict[str, Any]], list[Any]]


def opened(job: dict[str, Any]) -> tuple[Any, str]:
    device = device_of(job)
    known: dict[tuple[Any, ...], Run] = {}
    if all(None not in spec["shape"] for spec in job["inputs"]):
        known[sizes_of(job, None)] = program(job, device, sizes_of(job, None))

    def run(feed: dict[str, Any]) -> list[Any]:
        sizes = sizes_of(job, feed)
        if sizes not in known:
            known.clear()  # one at a time: each holds the weights
            known[sizes] = program(job, device, sizes)
        return known[sizes](feed)

    where = f"on {job['gpu'].upper()}" if job["gpu"] else "on the CPU"
    return run, f"IREE {metadata.version('iree-base-compiler')} {where}"


def device_of(job: dict[str, Any]) -> Any:
    import iree.runtime

    if job["gpu"] or job["threads"] < 2:
        return iree.runtime.get_device(job["gpu"] or "local-sync")
    iree.runtime.flags.parse_flags(f"--task_topology_max_group_count={job['threads']}")
    return iree.runtime.get_device("local-task")


def sizes_of(job: dict[str, Any], feed: dict[str, Any] | None) -> tuple[Any, ...]:
    """Sizes of all inputs, in order: those of `feed`, or those that the model declares."""
    return tuple(tuple(spec["shape"] if feed is None else feed[spec["name"]].shape) for spec in job["inputs"])


def program(job: dict[str, Any], device: Any, sizes: tuple[Any, ...]) -> Run:
    import iree.runtime

    code = compiled(imported(job, sizes), job["gpu"])
    config = iree.runtime.Config(device=device)
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, code)
    main = iree.runtime.load_vm_module(module, config)["main"]
    names = [spec["name"] for spec in job["inputs"]]

    def run(feed: dict[str, Any]) -> list[Any]:
        found = main(*(feed[name] for name in names))
        return [each.to_host() for each in (found if isinstance(found, tuple) else (found,))]

    return run


def imported(job: dict[str, Any], sizes: tuple[Any, ...]) -> bytes:
    """The graph with these sizes of inputs, in MLIR's byte code."""
    import onnx
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer

    model = onnx.load(job["model"])
    constants = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in constants]
    for value, shape in zip(inputs, sizes, strict=True):
        for dimension, size in zip(value.type.tensor_type.shape.dim, shape, strict=True):
            dimension.dim_value = size
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.graph.name = "main"
    name_by_operators(model.graph)
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    information = onnx_importer.ModelInfo(model)
    module = information.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(information.main_graph, module).import_all()
    written = io.BytesIO()
    module.write_bytecode(written)
    return written.getvalue()


def name_by_operators(graph: Any) -> None:
    """Makes the name of each node begin with its operator: IREE's errors have the names."""
    for node in graph.node:
        node.name = f"{node.op_type} {node.name}"
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                name_by_operators(inner)


def compiled(module: bytes, gpu: str) -> Any:
    """IREE's program. Raises ValueError that names the operators which it cannot compile."""
    from iree.compiler import api

    session = api.Session()
    session.set_flags("--iree-input-type=onnx", *((f"--iree-hal-target-device={gpu}",) if gpu else CPU))
    job = session.invocation()
    job.enable_console_diagnostics()
    made = api.Output.open_membuffer()
    before = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            is_made = job.parse_source(api.Source.wrap_buffer(session, module)) and job.execute()
        finally:
            os.dup2(before, 2)
            os.close(before)
        log.seek(0)
        said = log.read().decode(errors="replace")
    if not is_made:
        raise ValueError(f"IREE's compiler does not take the model: {reason(said)}")
    job.output_vm_bytecode(made)
    return bytes(made.map_memory())


def reason(said: str) -> str:
    """The first error that IREE's compiler has printed, and the operators that its errors are about."""
    errors = [found for line in said.splitlines() if (found := ERROR.search(line))]
    operators = dict.fromkeys(found["operator"] for found in errors if found["operator"])
    if operators:
        return f"it has no code for {', '.join(operators)} with these types, sizes and attributes"
    return errors[0]["words"] if errors else "it gives no reason"
