"""CoreML: Apple's own interface to the GPU and the neural engine of its chips."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost, Rates
from packager.core.errors import SettingError, nearest
from packager.core.values import GraphRequirements, Precision, Style, Traits
from packager.providers.provider import Start

MODEL_FORMATS = ("MLProgram", "NeuralNetwork")
COMPUTE_UNITS = ("ALL", "CPUOnly", "CPUAndGPU", "CPUAndNeuralEngine")
SPECIALIZATIONS = ("Default", "FastPrediction")


@dataclass(frozen=True, kw_only=True)
class Coreml:
    NAME: ClassVar[str] = "coreml"
    EXECUTION_PROVIDER: ClassVar[str] = "CoreMLExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "CoreML"
    SUMMARY: ClassVar[str] = "Apple's CoreML: the neural engine, the GPU and the CPU."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(
        cache_option="ModelCacheDirectory",
        is_rounding=True,
        exact_option="MLComputeUnits",
        exact_value="CPUOnly",
        faulty_runtime="1.30.",
        faulty_option="RequireStaticInputShapes",
    )
    """The neural engine and the GPU compute in 16 bits. The fault: github.com/microsoft/onnxruntime/issues/32569."""
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"ios": "--use_coreml", "node": "--use_coreml"}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = Cost(
        cpu=Rates.even(10),
        own=Rates.even(3.7),
        call_ms=0.5,
        copy_gb_s=5,
        most=0.8,
        needs_sizes=True,
    )
    """270 G MACs a second and 0.5 ms a call fit what others measured (benchmarks/results/xnnpack.md, "What a provider
    costs"); 100 G on two cores of the CPU and 5 GB/s for copies are assumptions."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "MLComputeUnits": ("CPUAndNeuralEngine", "CPUAndGPU", "CPUOnly"),
        "ModelFormat": ("NeuralNetwork",),
        "AllowLowPrecisionAccumulationOnGPU": ("1",),
        "SpecializationStrategy": ("FastPrediction",),
    }

    model_format: str = "MLProgram"
    """`MLProgram` takes more operators and 16-bit floats, from iOS 15; `NeuralNetwork` is its predecessor"""
    compute_units: str = "ALL"
    """processors that may compute: `ALL`, `CPUOnly`, `CPUAndGPU` or `CPUAndNeuralEngine`"""
    requires_static_shapes: bool = False
    """take only nodes whose inputs have fixed shapes: dynamic ones can be slower than the CPU"""
    enable_on_subgraphs: bool = False
    """take nodes inside the bodies of If, Loop and Scan too"""
    specialization: str = "Default"
    """`FastPrediction` loads more slowly to predict faster"""
    profiles_compute_plan: bool = False
    """log where Core ML runs each operator and its estimated cost: for developers"""
    is_low_precision_allowed: bool = False
    """let the GPU accumulate in 16 bits"""

    def __post_init__(self) -> None:
        """Raises SettingError for values that ONNX Runtime does not know."""
        _check("model-format", self.model_format, MODEL_FORMATS)
        _check("compute-units", self.compute_units, COMPUTE_UNITS)
        _check("specialization", self.specialization, SPECIALIZATIONS)

    def options(self) -> Mapping[str, str]:
        """Every key of coreml_provider_factory.h (ONNX Runtime 1.29) except ModelCacheDirectory, a folder that the app
        sets itself."""
        return {
            "ModelFormat": self.model_format,
            "MLComputeUnits": self.compute_units,
            "RequireStaticInputShapes": str(int(self.requires_static_shapes)),
            "EnableOnSubgraphs": str(int(self.enable_on_subgraphs)),
            "SpecializationStrategy": self.specialization,
            "ProfileComputePlan": str(int(self.profiles_compute_plan)),
            "AllowLowPrecisionAccumulationOnGPU": str(int(self.is_low_precision_allowed)),
        }

    def placement_options(self) -> Mapping[str, str]:
        """None: its rules are read for MLProgram and NeuralNetwork by `verification/partition/coreml`."""
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        note = ""
        if traits.precision is Precision.WEIGHT_ONLY:
            note = "CoreML has no DequantizeLinear: nodes that take the dequantized weights may stay on the CPU"
        elif traits.precision is Precision.FLOAT16 and self.model_format == "NeuralNetwork":
            note = "16-bit floats need CoreML's model-format 'MLProgram'"
        return GraphRequirements(
            style=Style.UNFUSED,
            reason="it knows few of the fused nodes and none of the quantized ones",
            needs_float=True,
            # gemm_op_builder.cc and model_builder.cc make tensors without the model's path: "model_path must not be
            # empty" for weights outside the file (github.com/microsoft/onnxruntime/pull/28702).
            needs_one_file=True,
            needs_cache_key=True,
            note=note,
        )


def _check(key: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingError(f"unknown {key} '{value}'", hint=f"{nearest(value, known)}")
