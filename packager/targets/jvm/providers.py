"""Execution providers that ONNX Runtime's Java package knows on servers and desktops, as Kotlin names them."""

from packager.targets.kotlin.view import ProviderView


def _provider(constant: str, execution_provider: str, summary: str, *, tolerance: str = "") -> ProviderView:
    return ProviderView(
        name=constant.lower(),
        constant=constant,
        summary=summary,
        is_on_cores=False,
        execution_provider=execution_provider,
        hides_nodes=False,
        java_method="",
        threads_option="",
        oldest_android=0,
        tolerance=tolerance,
        options=(),
    )


ROUNDS = "1e-2"
KNOWN = (
    _provider("CUDA", "CUDAExecutionProvider", "NVIDIA's GPUs, by `onnxruntime_gpu` in place of `onnxruntime`."),
    _provider(
        "TENSORRT",
        "TensorrtExecutionProvider",
        "NVIDIA's GPUs by TensorRT, which compiles a model for minutes; by `onnxruntime_gpu`.",
        tolerance=ROUNDS,
    ),
    _provider(
        "OPENVINO",
        "OpenVINOExecutionProvider",
        "Intel's processors, GPUs and NPUs, by an ONNX Runtime that is built for it; its setting is `device_type`.",
        tolerance=ROUNDS,
    ),
    _provider(
        "DIRECTML",
        "DmlExecutionProvider",
        "GPUs of Windows, by an ONNX Runtime that is built for it; its setting is `device_id`.",
        tolerance=ROUNDS,
    ),
    _provider(
        "COREML",
        "CoreMLExecutionProvider",
        "Apple's neural engine, GPU and CPU.",
        tolerance=ROUNDS,
    ),
)
"""Every provider but the CPU, which runs last in every package."""
