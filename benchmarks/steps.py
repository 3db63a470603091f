"""One step in a process that has imported everything it needs: `python -m benchmarks.steps STEP WARM_UP FILE`.

The step runs on WARM_UP first, a small file, so that the figure for FILE holds the work and no imports. Prints JSON:
CPU and wall seconds of the one call, user and system apart.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def our_config(file: Path) -> None:
    from packager.compile.operators import operator_config, required_operators

    operator_config([required_operators(file)])


def their_config(file: Path) -> None:
    from onnxruntime.tools.ort_format_model import create_config_from_models

    with tempfile.TemporaryDirectory() as folder:
        create_config_from_models([file], Path(folder) / "config", True)


def our_conversion(file: Path) -> None:
    """Convert as `mobpack convert` does, in one process."""
    from packager import models
    from packager.compile.converter import ConversionJob, convert

    with tempfile.TemporaryDirectory() as folder:
        model = models.hashed(models.load(file, "model"))
        graph = Path(folder) / "graph.onnx"
        graph.write_bytes(model.graph)
        convert(
            ConversionJob(
                graph=str(graph),
                data_folder=str(models.data_folder(file)),
                output=str(Path(folder) / "model.ort"),
                scratch=folder,
                source_bytes=model.size_bytes,
            )
        )


def their_conversion(file: Path) -> None:
    """Convert as ONNX Runtime's tool does by default, in one process."""
    from onnxruntime.tools.convert_onnx_models_to_ort import OptimizationStyle, convert_onnx_models_to_ort

    styles = [OptimizationStyle.Fixed, OptimizationStyle.Runtime]
    with tempfile.TemporaryDirectory() as folder:
        convert_onnx_models_to_ort(
            file, Path(folder), optimization_styles=styles, target_platform="arm", enable_type_reduction=True
        )


def our_inspection(file: Path) -> None:
    from packager import models

    models.blockers(models.load(file, "model"))


def their_inspection(file: Path) -> None:
    """Inspect as scripts do today: load, check, infer shapes (files under 2 GB)."""
    import onnx.checker
    import onnx.shape_inference

    model = onnx.load(file)
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, data_prop=True)


def compare_configs(file: Path) -> None:
    """Raises SystemExit when our operator config and ONNX Runtime's differ in more than comments."""
    from onnxruntime.tools.ort_format_model import create_config_from_models

    from packager.compile.operators import operator_config, required_operators

    with tempfile.TemporaryDirectory() as folder:
        create_config_from_models([file], Path(folder) / "config", True)
        theirs = lines((Path(folder) / "config").read_text(encoding="utf-8"))
    ours = lines(operator_config([required_operators(file)]))
    if ours != theirs:
        raise SystemExit("\n".join(sorted(set(ours) ^ set(theirs))))


def lines(config: str) -> list[str]:
    return [line for line in config.splitlines() if line and not line.startswith("#")]


STEPS: dict[str, Callable[[Path], None]] = {
    step.__name__.replace("_", "-"): step
    for step in (
        our_conversion,
        their_conversion,
        our_config,
        their_config,
        our_inspection,
        their_inspection,
        compare_configs,
    )
}


def main() -> None:
    name, warm_up, file = sys.argv[1:]
    step = STEPS[name]
    step(Path(warm_up))
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    step(Path(file))
    wall_s, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {"user_s": after.ru_utime - before.ru_utime, "system_s": after.ru_stime - before.ru_stime, "wall_s": wall_s}
        )
    )


if __name__ == "__main__":
    main()
