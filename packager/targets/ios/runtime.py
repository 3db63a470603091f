"""Views of a package's providers for Swift, and its CoreML settings."""

from collections.abc import Sequence

from packager.core.contract import Contract, ImageInput
from packager.providers import PROVIDERS, Provider
from packager.render.templates import swift_string
from packager.targets.delivery import DeliveryView
from packager.targets.ios.files import case_of
from packager.targets.ios.view import CoremlView, ProviderView, RuntimeView
from packager.targets.signed_list import TrustView
from packager.targets.tuning import ChipView

COREML = "coreml"
MODEL_FORMATS = {"MLProgram": ".mlProgram", "NeuralNetwork": ".neuralNetwork"}
COMPUTE_UNITS = {
    "ALL": ".all",
    "CPUOnly": ".cpuOnly",
    "CPUAndGPU": ".cpuAndGPU",
    "CPUAndNeuralEngine": ".cpuAndNeuralEngine",
}
SPECIALIZATIONS = {"Default": ".default", "FastPrediction": ".fastPrediction"}
SWITCHES = {"0": "false", "1": "true"}
THREADS = '"\\(options.threads > 0 ? options.threads : Threads.usual)"'
"""Swift's string with the number of threads of a session"""


def runtime_view(
    module: str,
    package: str,
    providers: tuple[str, ...],
    contracts: Sequence[Contract] = (),
    class_names: Sequence[str] = (),
    trust: TrustView | None = None,
    delivery: DeliveryView | None = None,
    published_runtime: str = "",
    *,
    has_self_test: bool = False,
    is_encrypted: bool = False,
    tuned: tuple[ChipView, ...] = (),
    has_variants: bool = False,
) -> RuntimeView:
    """View of the files that all models of a package share."""
    return RuntimeView(
        module=module,
        c_module=f"C{module}",
        package=package,
        providers=tuple(map(_provider, providers)),
        coreml=_coreml() if COREML in providers else None,
        has_contract=bool(contracts),
        has_generation=any(contract.generated for contract in contracts),
        has_pictures=any(isinstance(each, ImageInput) for contract in contracts for each in contract.inputs),
        has_self_test=has_self_test or delivery is not None,
        has_proof=bool(providers) and (has_self_test or delivery is not None),
        class_names=tuple(class_names),
        trust=trust,
        is_encrypted=is_encrypted,
        delivery=delivery,
        published_runtime=published_runtime,
        tuned=tuned,
        has_variants=has_variants,
    )


def _provider(name: str) -> ProviderView:
    kind = PROVIDERS[name]
    return ProviderView(
        name=name,
        case=case_of(name),
        registered_name=kind.REGISTERED_NAME,
        summary=kind.SUMMARY,
        is_on_cores=kind.IS_ON_CORES,
        hides_nodes=kind.HIDES_NODES,
        has_threads=bool(kind.START.threads_option),
        entries=_entries(kind),
    )


def _entries(kind: type[Provider]) -> str:
    """Number of threads and options, as a dictionary."""
    threads = {kind.START.threads_option: THREADS} if kind.START.threads_option else {}
    options = {key: swift_string(value) for key, value in kind().options().items()}
    entries = ", ".join(f"{swift_string(key)}: {value}" for key, value in {**threads, **options}.items())
    return f"[{entries}]" if entries else "[:] as [String: String]"


def _coreml() -> CoremlView:
    options = PROVIDERS[COREML]().options()
    return CoremlView(
        model_format=MODEL_FORMATS[options["ModelFormat"]],
        compute_units=COMPUTE_UNITS[options["MLComputeUnits"]],
        requires_static_input_shapes=SWITCHES[options["RequireStaticInputShapes"]],
        enables_subgraphs=SWITCHES[options["EnableOnSubgraphs"]],
        specialization=SPECIALIZATIONS[options["SpecializationStrategy"]],
        profiles_compute_plan=SWITCHES[options["ProfileComputePlan"]],
        allows_low_precision=SWITCHES[options["AllowLowPrecisionAccumulationOnGPU"]],
    )
