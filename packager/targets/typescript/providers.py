"""The providers of a platform, as the TypeScript of a package starts them."""

from collections.abc import Iterable

from packager.providers import PROVIDERS
from packager.targets.typescript.view import OptionView, ProviderView

REGISTERED = {
    "qnn": "QNN",
    "nnapi": "NNAPI",
    "xnnpack": "XNNPACK",
    "webgpu": "WebGPU",
    "webnn": "WebNN",
    "coreml": "CoreML",
}
"""names under which ONNX Runtime's C API appends providers; NNAPI has a function of its own"""


def providers_view(names: Iterable[str]) -> tuple[ProviderView, ...]:
    return tuple(
        ProviderView(
            name=name,
            registered_name=REGISTERED[name],
            execution_provider=PROVIDERS[name].EXECUTION_PROVIDER,
            hides_nodes=PROVIDERS[name].HIDES_NODES,
            options=tuple(OptionView(key=key, value=value) for key, value in PROVIDERS[name]().options().items()),
        )
        for name in names
    )
